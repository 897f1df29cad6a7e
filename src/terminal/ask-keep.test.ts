import { describe, expect, it } from 'vitest';
import type { ChangedEntry } from '../contract/changes.js';
import { askKeep, type KeepAnswer } from './ask-keep.js';
import { drawChangeTree } from './change-tree.js';

const plain = (text: string): string => text;
const palette = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };

const file = (path: string, change: ChangedEntry['change'], size = 10): ChangedEntry => ({
  path,
  change,
  ...(change === 'create' ? {} : { before: { kind: 'file', mode: '644', size } }),
  ...(change === 'delete' ? {} : { after: { kind: 'file', mode: '644', size } }),
});
const directory = (path: string, change: 'create' | 'delete'): ChangedEntry => ({
  path,
  change,
  [change === 'create' ? 'after' : 'before']: { kind: 'dir', mode: '755' },
});

const ENTRIES = [file('a', 'create'), file('b', 'delete'), directory('d/', 'create'), file('d/e', 'create')];

async function session(
  typed: readonly string[],
  entries: readonly ChangedEntry[] = ENTRIES,
  rows = 100,
): Promise<{ readonly answer: KeepAnswer; readonly shown: string }> {
  const keys = [...typed];
  let shown = '';
  const ask = async (prompt: string): Promise<string | undefined> => {
    shown += prompt;
    return keys.shift();
  };
  const answer = await askKeep({
    palette,
    signal: new AbortController().signal,
    matches: (pattern, path) => pattern === path,
    parts: [
      { kind: 'changes', entries, notKept: [{ path: '.env', reason: 'it is hidden' }] },
      { kind: 'file', path: 'a', text: 'text of a\n' },
      { kind: 'file', path: 'd/e', text: 'text of e\n' },
    ],
    screen: {
      columns: 80,
      rows,
      write: (text) => {
        shown += text;
      },
      askKey: ask,
      askLine: ask,
      onResize: () => () => {},
    },
  });
  return { answer, shown };
}

const DISCARDED = { kind: 'discard', isInterrupted: false };
const LEFT = { kind: 'discard', isInterrupted: true };

describe('askKeep()', () => {
  it.each<[string, string[], unknown]>([
    ['k keeps all', ['k'], { kind: 'keep' }],
    ['d discards', ['d'], DISCARDED],
    ['y is no answer', ['y', 'd'], DISCARDED],
    ['a paste is no answer', ['kd', 'd'], DISCARDED],
    ['Ctrl-C asks once more', ['\u0003', 'n', 'k'], { kind: 'keep' }],
    ['Ctrl-C twice discards', ['\u0003', '\u0003'], LEFT],
    ['the end of the terminal discards', [], LEFT],
    ['a path is kept alone', ['p', 'a', 'k'], { kind: 'keep', paths: ['a'] }],
    ['a directory is all in it', ['p', 'd', 'k'], { kind: 'keep', paths: ['d/', 'd/e'] }],
    ['! leaves out of all', ['p', '!b', 'k'], { kind: 'keep', paths: ['a', 'd/', 'd/e'] }],
    ['! leaves out of what was named', ['p', 'a b !b', 'k'], { kind: 'keep', paths: ['a'] }],
    ['nothing that matches changes nothing', ['p', 'zzz', 'k'], { kind: 'keep' }],
    ['Enter alone goes back', ['p', '', 'k'], { kind: 'keep' }],
  ])('%s', async (_, typed, answer) => {
    expect((await session(typed)).answer).toEqual(answer);
  });

  it('shows the texts of what would be kept', async () => {
    const { shown } = await session(['p', 'a', ' ', 'k']);
    expect(shown).toContain('+ text of a');
    expect(shown).not.toContain('text of e');
    expect(shown).toMatch(/d\/ .*\(left out\)/);
  });

  it('shows a long list a screen at a time', async () => {
    const many = Array.from({ length: 30 }, (_, at) => file(`f${String(at).padStart(2, '0')}`, 'create'));
    const { shown, answer } = await session([' ', 'q', 'k'], many, 12);
    expect(shown.match(/— \d+ lines more: space continues, q ends the list —/g)).toHaveLength(2);
    expect(answer).toEqual({ kind: 'keep' });
  });
});

describe('drawChangeTree()', () => {
  const draw = (entries: readonly ChangedEntry[]): readonly string[] =>
    drawChangeTree({ kind: 'changes', entries, notKept: [] }, { columns: 80, palette });

  it('shows counts, then what is gone, then the rest as a tree', () => {
    expect(draw(ENTRIES)).toEqual([
      '4 changes, not kept yet: 1 deleted (1 file), 3 created (2 files, 1 directory)',
      '  - b  644, 10 bytes',
      '  + a  644, 10 bytes',
      '  + d/  755',
      '    + e  644, 10 bytes',
    ]);
  });

  it('makes one line of a large new directory, and of directories that only lead to one another', () => {
    const inner = Array.from({ length: 50 }, (_, at) => file(`node_modules/p/${at}`, 'create', 1000));
    expect(draw([directory('node_modules/', 'create'), ...inner]).slice(1)).toEqual([
      '  + node_modules/  755  50 entries, 50 kB',
    ]);
    expect(draw([file('src/deep/er/x', 'modify')]).slice(1)).toEqual([
      '    src/deep/er/',
      '    ~ x  10 bytes',
    ]);
  });

  it('shows every deletion in a directory of which something stays', () => {
    const gone = Array.from({ length: 300 }, (_, at) => file(`d/${at}`, 'delete'));
    expect(draw(gone).filter((line) => line.includes('- '))).toHaveLength(300);
  });

  it('lets no name drive the terminal or create a new line', () => {
    const lines = draw([file('a\u001b[2J\n+ fake', 'create')]);
    expect(lines.join('\n')).not.toMatch(/\u001b|^\+ fake/m);
  });
});
