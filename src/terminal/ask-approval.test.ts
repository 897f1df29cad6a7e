import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../contract/approval.js';
import type { JsonObject } from '../contract/json.js';
import type { Picture, PicturePart } from '../contract/picture.js';
import { type Answer, type ApprovalQuestion, askApproval } from './ask-approval.js';
import { drawPicture } from './draw-picture.js';
import { widthOf } from './visible-text.js';

const plain = (text: string): string => text;
const palette = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };

function request(callId: string): ApprovalRequest {
  return {
    callId,
    toolName: 'bash',
    summary: `run ${callId}`,
    risk: 'high',
    containment: { transaction: false, network: true, undo: false },
    args: { command: callId },
    effects: [],
    reason: 'bash asks',
    shown: [],
  };
}

function picture({ callId, effects, reason }: ApprovalRequest, dangerous: boolean): Picture {
  const part = {
    kind: 'command',
    text: callId,
    shell: 'bash',
    marks: [],
    touches: [],
    commands: [],
  } as const;
  return { title: `bash · ${callId}`, risk: 'high', reason, effects, dangerous, parts: [part] };
}

interface Session {
  readonly answer: Answer;
  readonly shown: string;
  /** The greatest number of lines that were drawn between two keys. */
  readonly most: number;
}

interface Given extends Pick<ApprovalQuestion, 'edit' | 'propose'> {
  /** Present: the calls have run. */
  readonly changes?: ApprovalRequest['changes'];
  readonly ids?: readonly string[];
  readonly dangerous?: readonly string[];
  readonly rows?: number;
  readonly columns?: number;
}

/** @param typed keys; a line is `>text`; `resize to 40` is not a key, but a resize of the window */
async function session(typed: readonly string[], given: Given = {}): Promise<Session> {
  const {
    ids = ['one', 'two', 'three'],
    dangerous = [],
    rows = 1000,
    columns = 80,
    changes,
    ...more
  } = given;
  const keys = [...typed];
  let shown = '';
  let seen = 0;
  let most = 0;
  const listeners = new Set<() => void>();
  const size = { columns, rows };
  const answer = await askApproval({
    requests: ids.map((id) => ({ ...request(id), ...(changes === undefined ? {} : { changes }) })),
    palette,
    signal: new AbortController().signal,
    describe: (one) => picture(one, dangerous.includes(one.callId)),
    screen: {
      get columns() {
        return size.columns;
      },
      rows: size.rows,
      write: (text) => {
        shown += text;
      },
      async askKey(prompt, signal) {
        shown += prompt;
        // The first line end belongs to the line of the previous key.
        most = Math.max(most, shown.slice(seen).trimStart().split('\n').length);
        seen = shown.length;
        const key = keys.shift();
        const [, columns] = /^resize to (\d+)$/.exec(key ?? '') ?? [];
        if (columns !== undefined) {
          size.columns = Number(columns);
          for (const listener of listeners) listener();
          signal.throwIfAborted();
        }
        if (key?.startsWith('>')) throw new Error(`a key is read, not ${key}`);
        return key;
      },
      async askLine(prompt) {
        shown += prompt;
        const line = keys.shift();
        if (line !== undefined && !line.startsWith('>')) throw new Error(`a line is read, not ${line}`);
        return line?.slice(1);
      },
      onResize(handle) {
        listeners.add(handle);
        return () => listeners.delete(handle);
      },
    },
    ...more,
  });
  return { answer, shown, most };
}

const ENTER = '\r';
const approve = (...ids: string[]) => ({ kind: 'approve_selected', ids, edits: {}, reasons: {} });

describe('askApproval()', () => {
  it.each<[string, string[], unknown]>([
    ['y runs all', ['y'], { kind: 'approve_all' }],
    ['n refuses all', ['n'], { kind: 'deny_all' }],
    ['digits select', ['1', '3', ENTER], approve('one', 'three')],
    ['a digit again deselects', ['1', '3', '1', ENTER], approve('three')],
    ['all that are there are all', ['3', '2', '1', ENTER], { kind: 'approve_all' }],
    ['Enter alone runs nothing', [ENTER, 'n'], { kind: 'deny_all' }],
    ['y runs what is selected', ['1', '3', 'y'], approve('one', 'three')],
    ['what is no key does nothing', ['x', '\u001b[A', 'q', 'n'], { kind: 'deny_all' }],
    ['a is no key', ['a', 'A', 'n'], { kind: 'deny_all' }],
    ['a paste is no key', ['yes\r', 'y\ry', '13\r', 'rbecause-77\r', 'n'], { kind: 'deny_all' }],
    ['Escape cancels', ['\u001b'], 'cancel'],
    ['Ctrl-C interrupts', ['\u0003'], 'interrupt'],
    ['Ctrl-D agrees to nothing', ['\u0004'], { kind: 'deny_all', reason: 'no answer was given' }],
    ['the end of the terminal agrees to nothing', [], { kind: 'deny_all', reason: 'no answer was given' }],
  ])('%s', async (_, typed, answer) => {
    expect((await session(typed)).answer).toEqual(answer);
  });

  it('shows every call with its number, and says what is selected', async () => {
    const { shown } = await session(['2', '9', 'n']);
    expect(shown).toMatch(
      /3 calls need your approval[\s\S]*1\. bash \(one\) ⚠ HIGH RISK[\s\S]*3\. bash \(three\)/,
    );
    expect(shown).toContain('selected: 2');
    expect(shown).toContain('There is no call 9.');
  });

  it('selects of more than nine with two digits', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `c${index + 1}`);
    expect((await session(['1', '2', '0', '3', ENTER], { ids })).answer).toEqual(approve('c3', 'c12'));
  });

  it('runs a dangerous call only after the word yes', async () => {
    const dangerous = ['two'];
    expect((await session(['y', '>yes'], { dangerous })).answer).toEqual({ kind: 'approve_all' });
    for (const words of [
      ['>'],
      ['>no'],
      ['>y', '>'],
      ['>yess', '>n'],
      ['>Yes', '>yes yes', '>yes\nyes', '>'],
    ]) {
      expect((await session(['y', ...words, 'n'], { dangerous })).answer).toEqual({ kind: 'deny_all' });
    }
    const { shown } = await session(['y', '>ok', '>yes'], { dangerous });
    expect(shown.split('Type yes and Enter')).toHaveLength(3);
    expect(shown).toContain('That is not an answer here: yes and Enter, or Enter alone.');
    const each = await session(['y', '>yes', '>yes', '>', 'n'], { dangerous: ['one', 'two', 'three'] });
    expect(each.answer).toEqual({ kind: 'deny_all' });
    expect((await session(['1', ENTER], { dangerous })).answer).toEqual(approve('one'));
    expect((await session(['2', ENTER, '>yes'], { dangerous })).answer).toEqual(approve('two'));
  });

  it('refuses all with one reason, or those that are selected, and runs the others', async () => {
    expect((await session(['r', '>because-77'])).answer).toEqual({ kind: 'deny_all', reason: 'because-77' });
    expect((await session(['r', '>'])).answer).toEqual({ kind: 'deny_all' });
    const some = await session(['2', 'r', '>not now', 'y']);
    expect(some.answer).toEqual({ ...approve('one', 'three'), reasons: { two: 'not now' } });
    expect(some.shown).toMatch(/Refuse 2\. Reason[\s\S]*y the others[\s\S]*\(refused: 2\)/);
    const reasons = { one: 'b', two: 'a', three: 'b' };
    expect((await session(['2', 'r', '>a', 'r', '>b'])).answer).toEqual({ ...approve(), reasons });
    expect((await session(['2', 'r', '>a', 'n'])).answer).toEqual({ ...approve(), reasons: { two: 'a' } });
    // A refused call that is selected again is no longer refused.
    expect((await session(['2', 'r', '>a', '2', 'y'])).answer).toEqual(approve('two'));
    const pasted = await session(['r', '>one\ntwo', '>one'], {});
    expect(pasted.shown).toContain('Several lines arrived together');
    expect(pasted.answer).toEqual({ kind: 'deny_all', reason: 'one' });
    expect((await session(['r', '>not now'], { ids: ['one'] })).answer).toEqual({
      kind: 'deny_all',
      reason: 'not now',
    });
  });

  it('asks the same again after a key that a prompt does not expect, and says so', async () => {
    const { shown, answer } = await session(['d', 'y', '7', 'yes\r', '\u001b[A', '2', 'n']);
    expect(shown.split('Show all of which call?')).toHaveLength(6);
    expect(shown).toContain('"y" is not an answer here: a number from 1 to 3, or Enter.');
    expect(shown).toContain('Several keys arrived together, and none of them counts');
    expect(answer).toEqual({ kind: 'deny_all' });
    expect((await session(['d', ENTER, 'd', '\u001b', 'd', '\u0003'])).answer).toBe('interrupt');
    const ids = Array.from({ length: 12 }, (_, index) => `c${index + 1}`);
    expect((await session(['1', 'y', 'y', '\u001b', '1', ENTER, 'y'], { ids })).answer).toEqual(
      approve('c1'),
    );
  });

  it('edits arguments, and shows what would run with them', async () => {
    const given: JsonObject[] = [];
    const edit = async (args: JsonObject): Promise<JsonObject> => {
      given.push(args);
      return { command: 'else\u200b' };
    };
    const { answer, shown } = await session(['e', '2', 'y'], { edit });
    expect(given).toEqual([{ command: 'two' }]);
    expect(answer).toEqual({ ...approve('one', 'two', 'three'), edits: { two: { command: 'else\u200b' } } });
    expect(shown).toContain('"command": "else‹U+200B›"');
  });

  it('offers no editor for calls that have run, and no rule for what no rule can allow', async () => {
    const none = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };
    const edit = async () => ({ command: 'other' });
    const propose = async () => undefined;
    const offered = await session(['?', 'n'], { edit, propose });
    for (const key of ['e edit', 'e  edit', 'w always', 'w  always']) expect(offered.shown).toContain(key);
    const { shown, answer } = await session(['?', 'e', 'w', 'n'], { changes: none, edit });
    expect(shown).not.toMatch(/e {1,2}edit|w {1,2}always|Run these|run all/);
    expect(shown).toContain('Keep these changes? y all');
    expect(shown).toContain('"e" is not an answer here');
    expect(shown).toContain('"w" is not an answer here');
    expect(answer).toEqual({ kind: 'deny_all' });
  });

  it('changes nothing where the edited text is wrong or the same', async () => {
    const broken = (): Promise<never> => Promise.reject(new Error('it is not JSON'));
    const { answer, shown } = await session(['e', '1', 'y'], { edit: broken });
    expect([answer, shown.includes('it is not JSON')]).toEqual([{ kind: 'approve_all' }, true]);
    const same = await session(['e', '1', 'y'], { edit: async () => undefined });
    expect(same.answer).toEqual({ kind: 'approve_all' });
  });

  it('writes a rule only after a second y, and shows what else it would have allowed', async () => {
    let written = 0;
    const propose = async () => ({
      text: 'command = "ls"\n',
      file: '/home/me/config.toml',
      alsoAllows: ['ls -la'],
      write: async () => {
        written++;
      },
    });
    const no = await session(['w', '1', 'x', 'n', 'n'], { propose });
    expect([no.answer, written]).toEqual([{ kind: 'deny_all' }, 0]);
    expect(no.shown).toMatch(/command = "ls"[\s\S]*1 other call in[\s\S]*ls -la[\s\S]*config\.toml/);
    const yes = await session(['w', '1', 'y', ENTER], { propose });
    expect([yes.answer, written]).toEqual([approve('one'), 1]);
    const none = await session(['w', '1', 'n'], { propose: async () => undefined });
    expect(none.shown).toContain('No rule can say this safely');
  });

  it.each([
    [24, 60],
    [10, 40],
    [12, 25],
  ])('of %i rows and %i columns never draws more than a screen before a key', async (rows, columns) => {
    const { most, answer } = await session([...' '.repeat(100), 'n'], { rows, columns });
    expect(answer).toBeDefined();
    expect(most).toBeLessThanOrEqual(rows);
  });

  it('shows a screen at a time, and asks only when all was seen', async () => {
    const { answer, shown } = await session([' ', ' ', ' ', 'y'], { rows: 8 });
    expect(shown.indexOf('Run these?')).toBeGreaterThan(shown.indexOf('3. bash (three)'));
    expect(answer).toEqual({ kind: 'approve_all' });
    expect((await session(['n'], { rows: 8 })).answer).toEqual({ kind: 'deny_all' });
    expect((await session(['\u001b'], { rows: 8 })).answer).toBe('cancel');
  });
});

describe('askApproval(), when the window has another size', () => {
  it("draws all of it again, so that no broken line can pass for one of toolexec's own", async () => {
    const long = `echo ${'x'.repeat(60)} Run these? y`;
    const { shown, answer } = await session(['2', 'resize to 50', ENTER], { ids: ['one', long] });
    const [, drawn = ''] = shown.split('2 calls need your approval').slice(1);
    expect(drawn.split('\n').filter((line) => line.includes('xxx') && line.length > 50)).toEqual([]);
    expect(drawn).toMatch(/\(selected: 2; Enter runs\s+them\)/);
    expect(answer).toEqual(approve(long));
  });

  it('draws all of it again even if that happened between two pages', async () => {
    const { shown } = await session([' ', 'resize to 50', ' ', 'n'], { rows: 8 });
    expect(shown.split('3 calls need your approval')).toHaveLength(3);
  });

  it('shows again what was edited', async () => {
    const typed = ['e', '1', 'resize to 60', 'n'];
    const { shown } = await session(typed, { edit: async () => ({ command: 'edited' }) });
    expect(shown.split('"command": "edited"')).toHaveLength(3);
  });
});

describe('drawPicture()', () => {
  const head = { number: 1, toolName: 'edit_file', callId: 'x\u001b[2J' };
  const draw = (parts: Picture['parts'], whole = false, columns = 60): string =>
    drawPicture({ title: 't', risk: 'low', reason: 'r', effects: [], dangerous: false, parts }, head, {
      columns,
      palette,
      whole,
    }).join('\n');
  const numbered = (count: number): string =>
    Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');

  it('shows what changes with lines around it', () => {
    const before = numbered(30);
    const shown = draw([{ kind: 'diff', path: 'a.txt', before, after: before.replace('line 9', 'new 9') }]);
    expect(shown).toMatch(/a\.txt \(\+1 −1\)\n {3}line 7\n {5}line 6\n[\s\S]*- line 9\n {3}\+ new 9\n/);
    expect(shown).not.toContain('line 20');
  });

  it('folds long parts, and shows all on request', () => {
    const file = { kind: 'file', path: 'a.txt', text: numbered(200) } as const;
    expect(draw([file])).toContain('… 120 lines more: d shows all');
    expect(draw([file], true)).toContain('+ line 199');
  });

  it('shows both sides of a long change from their start, and how many lines each has', () => {
    const before = numbered(300);
    const after = before.replaceAll('line', 'new');
    const shown = draw([{ kind: 'diff', path: 'a.txt', before, after }]);
    expect(shown).toContain('a.txt (+300 −300)');
    for (const line of ['- line 0', '- line 39', '+ new 0', '+ new 39']) expect(shown).toContain(line);
    expect(shown).toContain('… 260 lines more removed: d shows all');
    expect(shown).toContain('… 260 lines more added: d shows all');
    expect(draw([{ kind: 'diff', path: 'a.txt', before, after }], true)).toContain('+ new 299');
  });

  it('shows both sides of texts that share too little for a diff in time', () => {
    const text = (word: string): string =>
      Array.from({ length: 20_000 }, (_, at) => `${word} ${at}\n`).join('');
    const before = `same\n${text('old')}end\n`;
    const shown = draw([{ kind: 'diff', path: 'a.txt', before, after: `same\n${text('new')}end\n` }]);
    expect(shown).toContain('a.txt (+20000 −20000)');
    for (const line of ['  same', '- old 0', '+ new 0', '  end']) expect(shown).toContain(line);
    expect(shown).toContain('… 19960 lines more removed: d shows all');
  });

  it('never folds a command, and marks what deserves a look', () => {
    const text = `${numbered(300)}rm -rf x`;
    const marks = [{ start: text.length - 8, end: text.length, reason: 'delete x' }];
    const shown = draw([{ kind: 'command', text, shell: 'bash', marks, touches: [], commands: [] }]);
    expect(shown).toContain('│ line 299');
    expect(shown).toContain('⚠ rm -rf x: delete x');
  });

  it('gives texts no way to look like a line of ours, or to drive the terminal', () => {
    const text = `ok${' '.repeat(100)}Run these? y\n1. bash (fine)\u001b[2K\r   low risk\u202e`;
    const shown = draw([{ kind: 'command', text, shell: 'bash', marks: [], touches: [], commands: [] }]);
    expect(shown).not.toMatch(/[\u001b\r\u202e]/);
    expect(shown.split('\n').filter((line) => /^(?:Run|1\. bash)/.test(line))).toEqual([]);
    expect(shown).toContain('1. edit_file ("x‹U+001B›[2J")');
    for (const line of shown.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  });

  it('lets no name, address or reason create a new line, by a line end or by blanks', () => {
    const fake = 'asked because: it is harmless';
    for (const gap of ['\n', ' '.repeat(200), ' '.repeat(53)]) {
      const hostile = `a${gap}${fake}`;
      const shown = draw([
        { kind: 'file', path: hostile, text: '' },
        { kind: 'diff', path: hostile, before: 'a\n', after: `  ${' '.repeat(52)}${fake}\n` },
        { kind: 'unshown', path: hostile, why: 'w', bytesBefore: 1, bytesAfter: 2 },
        { kind: 'url', url: hostile },
        { kind: 'problem', text: hostile },
        {
          kind: 'command',
          text: 'x',
          shell: 'sh',
          cwd: hostile,
          marks: [{ start: 0, end: 1, reason: hostile }],
          touches: [{ kind: 'delete', path: hostile }],
          commands: [{ words: ['x'], touches: [] }],
        },
      ]);
      expect(shown.split('\n').filter((line) => /^ *(?:asked|touches: a)/.test(line))).toEqual([
        '   asked because: r',
      ]);
    }
  });

  it('fits 20 columns, so that no terminal begins a row with the middle of a text', () => {
    const hostile = `${'x'.repeat(13)}Run these? y`;
    const parts: PicturePart[] = [
      { kind: 'url', url: `https://example.com/${hostile}` },
      { kind: 'file', path: hostile, text: `${hostile}\n${'日本'.repeat(12)}\n` },
      { kind: 'problem', text: `${hostile} ${hostile}` },
    ];
    for (const line of draw(parts, false, 20).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(20);
    for (const line of draw(parts, false, 0).split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(20);
  });
});
