import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../../src/contract/approval.js';
import type { Executor, Preview } from '../../src/contract/executor.js';
import type { ChangesPart } from '../../src/contract/picture.js';
import { describeRequest } from '../../src/executor/approve/describe-request.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { drawPicture } from '../../src/terminal/draw-picture.js';
import { whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const place = usePlace();
const { outside } = place;

const bash = (command: string, id = 'c1') => ({ id, name: 'bash', args: { command } });

function open(asked: ApprovalRequest[], approval: 'before' | 'after' = 'after'): Executor {
  return createExecutor({
    root: place.root,
    tools: builtinTools({ bash: { approval } }),
    journal: place.journal,
    approver(requests) {
      asked.push(...requests);
      return { kind: 'approve_all' };
    },
    sandbox: { os: 'required' },
  });
}

function changesIn({ parts = [] }: Pick<ApprovalRequest, 'parts'> | Pick<Preview, 'parts'>): ChangesPart {
  const part = parts.find(({ kind }) => kind === 'changes');
  if (part?.kind !== 'changes') throw new Error('nothing that changes is shown');
  return part;
}

const PLAIN = {
  bold: (text: string) => text,
  dim: (text: string) => text,
  red: (text: string) => text,
  green: (text: string) => text,
  yellow: (text: string) => text,
};

function draw(request: ApprovalRequest, columns = 200): string {
  const head = { number: 1, toolName: 'bash', callId: 'c1' };
  return drawPicture(describeRequest(request), head, { columns, palette: PLAIN }).join('\n');
}

async function askedAbout(command: string): Promise<ApprovalRequest> {
  const asked: ApprovalRequest[] = [];
  await using executor = open(asked);
  const [result] = await executor.run([bash(command)]);
  expect(result?.error).toBeUndefined();
  const [request] = asked;
  if (request === undefined) throw new Error('nothing was asked');
  return request;
}

/** A deletion is asked about before it runs: a preview shows what it would change. */
async function committed(command: string): Promise<ApprovalRequest> {
  const asked: ApprovalRequest[] = [];
  await using executor = open(asked, 'before');
  await (await executor.preview([bash(command)])).commit();
  return asked[0] as ApprovalRequest;
}

describe.skipIf(WHY_NOT !== '')(`the question shows exactly the committed changes${WHY_NOT}`, () => {
  it('every path of 302, with their number and kinds in the first lines', async () => {
    const request = await askedAbout('for i in $(seq 1 300); do echo $i >f$i; done; mkdir d; ln -s f1 l');
    const { entries } = changesIn(request);
    expect(entries.map(({ path }) => path).sort()).toEqual(
      outside('ls -p')
        .trim()
        .split('\n')
        .map((name) => name.replace('@', ''))
        .sort(),
    );
    expect(entries).toHaveLength(302);
    expect(request.parts?.filter(({ kind }) => kind === 'file')).toHaveLength(300);
    expect(request.changes).toMatchObject({ more: 102 });
    const lines = draw(request).split('\n');
    expect(lines[2]).toContain('302 changes, not kept yet: 302 created (1 directory, 300 files, 1 link)');
    for (const { path } of entries)
      expect(
        lines.some((line) => line.includes(`+ ${path}  `) || line.includes(`+ ${path} →`)),
        path,
      ).toBe(true);
    expect(lines.at(-2)).toMatch(/… the texts of \d+ more: d shows all/);
  });

  it('each mode, link, and change of kind', async () => {
    outside(
      'echo x >run.sh; echo y >other.sh; ln -s old l; mkdir dir tree; echo t >tree/t; echo f >file; ln -s a k; chmod 755 dir',
    );
    const request = await committed(
      'chmod 755 run.sh; chmod 600 other.sh; echo z >>other.sh; ln -sfn new l; chmod 700 dir; ' +
        'rm -r tree; echo now >tree; rm file; mkdir file; rm k; echo k >k; echo b | tr b "\\0" >bin; touch empty',
    );
    expect(changesIn(request).entries).toEqual([
      {
        path: 'bin',
        change: 'create',
        after: { kind: 'file', mode: '644', size: 2 },
        unshown: 'it is not text',
      },
      {
        path: 'dir/',
        change: 'modify',
        before: { kind: 'dir', mode: '755' },
        after: { kind: 'dir', mode: '700' },
      },
      { path: 'empty', change: 'create', after: { kind: 'file', mode: '644', size: 0 } },
      {
        path: 'file/',
        change: 'modify',
        before: { kind: 'file', mode: '644', size: 2 },
        after: { kind: 'dir', mode: '755' },
      },
      {
        path: 'k',
        change: 'modify',
        before: { kind: 'link', target: 'a' },
        after: { kind: 'file', mode: '644', size: 2 },
      },
      {
        path: 'l',
        change: 'modify',
        before: { kind: 'link', target: 'old' },
        after: { kind: 'link', target: 'new' },
      },
      {
        path: 'other.sh',
        change: 'modify',
        before: { kind: 'file', mode: '644', size: 2 },
        after: { kind: 'file', mode: '600', size: 4 },
      },
      {
        path: 'run.sh',
        change: 'modify',
        before: { kind: 'file', mode: '644', size: 2 },
        after: { kind: 'file', mode: '755', size: 2 },
        isSameContent: true,
      },
      {
        path: 'tree',
        change: 'modify',
        before: { kind: 'dir', mode: '755' },
        after: { kind: 'file', mode: '644', size: 4 },
      },
      { path: 'tree/t', change: 'delete', before: { kind: 'file', mode: '644', size: 2 } },
    ]);
    const lines = draw(request)
      .split('\n')
      .map((line) => line.trim());
    expect(lines).toEqual(
      expect.arrayContaining([
        '- tree/t  644, 2 bytes',
        '~ dir/  755 → 700',
        '~ run.sh  644 → 755',
        '~ other.sh  644 → 600, 2 → 4 bytes',
        '~ l → new  was → old',
        '~ tree  directory 755 → file 644 4 bytes',
        '~ file/  file 644 2 bytes → directory 755',
        '~ k  link → a → file 644 2 bytes',
        '+ bin  644, 2 bytes, it is not text',
        '+ empty  644, 0 bytes',
      ]),
    );
    expect(outside('cat tree; stat -c %a run.sh; readlink l')).toBe('now\n755\nnew\n');
  });

  it('every character of a name, in the question, in its data, and in the result', async () => {
    const asked: ApprovalRequest[] = [];
    await using executor = open(asked);
    const [result] = await executor.run([
      bash(
        `touch $'a\\nb' $'evil\\u202egpj.sh' $'zero\\u200bwidth' $'bad\\xff' '\\u{200B}' $'\\u0430.txt'; ln -s $'to\\u200b' ln`,
      ),
    ]);
    const names = [
      '\\u{5C}u{200B}',
      'a\\u{A}b',
      'bad\\xff',
      'evil\\u{202E}gpj.sh',
      'ln',
      'zero\\u{200B}width',
      'а.txt',
    ];
    expect(result?.metadata.changes).toMatchObject({ created: names });
    const { entries } = changesIn(asked[0] as ApprovalRequest);
    expect(entries.map(({ path }) => path)).toEqual(names);
    expect(entries.find(({ path }) => path === 'ln')?.after).toEqual({ kind: 'link', target: 'to\\u{200B}' });
    const text = draw(asked[0] as ApprovalRequest);
    for (const name of names.slice(0, -1)) expect(text).toContain(`+ ${name} `);
    expect(text).toContain('+ ‹U+0430›.txt');
    // Long parts are not cut, even if the terminal is narrow.
    const narrow = draw(asked[0] as ApprovalRequest, 40);
    for (const line of narrow.split('\n')) expect(line.length).toBeLessThanOrEqual(40);
  });

  it('in the question of a preview, and in the data of its host', { tags: ['soak'] }, async () => {
    writeFileSync(join(place.root, 'a.txt'), 'one\n');
    const asked: ApprovalRequest[] = [];
    await using executor = open(asked, 'before');
    const calls = [
      bash('for i in $(seq 1 300); do echo $i >f$i; done; chmod 600 a.txt', '1'),
      { id: '2', name: 'write_file', args: { path: 'by-tool', content: 'x\n' } },
    ];
    const preview = await executor.preview(calls);
    expect(changesIn(preview).entries).toHaveLength(302);
    expect(preview.changes).toMatchObject({ more: 101 });
    await preview.commit();
    expect(asked.map(({ callId }) => callId)).toEqual(['1', '2']);
    expect(asked.map(({ parts }) => parts)).toEqual(preview.requests.map(({ parts }) => parts));
    expect(changesIn(asked[0] as ApprovalRequest)).toEqual(changesIn(preview));
    expect(readFileSync(join(place.root, 'f300'), 'utf8')).toBe('300\n');
  });

  it('the texts of files within limits, and a note about the others', {
    tags: ['soak'],
  }, async () => {
    const request = await askedAbout(
      'head -c 1200000 /dev/zero | tr "\\0" a >large; for i in $(seq 1 20); do head -c 1000000 large >m$i; done',
    );
    const { entries } = changesIn(request);
    expect(entries.find(({ path }) => path === 'large')?.unshown).toBe('it is too large to be shown');
    const unshown = entries.filter(({ unshown }) => unshown?.startsWith('not shown'));
    expect(unshown.length).toBeGreaterThan(0);
    const texts = request.parts?.filter(({ kind }) => kind === 'file') ?? [];
    expect(texts.length + unshown.length + 1).toBe(21);
  });
});
