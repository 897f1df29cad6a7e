import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlannedCall } from '../../contract/approval.js';
import type { Effect } from '../../contract/effect.js';
import type { Executor } from '../../contract/executor.js';
import type { CommandPart } from '../../contract/picture.js';
import { analyzeCommand } from '../../policy/shell/analyze-command.js';
import { createExecutor } from '../create-executor.js';
import { commandPart } from './command-part.js';

let root: string;
let executor: Executor;
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-command-')));
  mkdirSync(join(root, 'sub'));
  executor = createExecutor({ root, sandbox: { os: 'off' }, approver: () => ({ kind: 'deny_all' }) });
});
afterAll(async () => {
  await executor.close();
  rmSync(root, { recursive: true, force: true });
});

async function planned(command: string, more: { readonly working_dir?: string } = {}): Promise<PlannedCall> {
  const { calls } = await executor.plan([{ id: 'c', name: 'bash', args: { command, ...more } }]);
  const [call] = calls;
  if (call === undefined) throw new Error('nothing was planned');
  return call;
}

function partOf({ parts = [] }: PlannedCall): CommandPart {
  const part = parts.find((one) => one.kind === 'command');
  if (part?.kind !== 'command') throw new Error('there is no command in the picture');
  return part;
}

const write = (path: string): Effect => ({ kind: 'write', path });
const remove = (path: string): Effect => ({ kind: 'delete', path });
const read = (path: string): Effect => ({ kind: 'read', path });
const UNKNOWN: Effect = { kind: 'unknown' };

/** Everyday commands, with everything that their text shows. */
const TOLD: readonly (readonly [command: string, ...told: readonly Effect[]])[] = [
  ['echo v2 > n.txt; rm q', write('n.txt'), remove('q')],
  ['ls >out 2>&1', write('out')],
  ['ls 2>err', write('err')],
  ['echo x >| f', write('f')],
  ['echo x >> f', write('f')],
  ['ls &> all', write('all')],
  ['cat <> f', write('f'), read('f')],
  ['exec 3> fd3', write('fd3')],
  ['> empty', write('empty')],
  [': > empty', write('empty')],
  ['printf x > a > b', write('a'), write('b')],
  ['exec > log; echo a', write('log')],
  ['cat < in.txt', read('in.txt')],
  ['cat a > /dev/null', read('a')],
  ['cat > f <<< hi', write('f')],
  ['cat <<END > here.txt\nhello\nEND', write('here.txt')],
  ['sort a | tee b > c', read('a'), write('b'), write('c')],
  ['cat a | sort > b', read('a'), write('b')],
  ['cp a b', read('a'), write('b')],
  ['cp -r src dst', read('src'), write('dst')],
  ['mv a b', remove('a'), write('b')],
  ['rm -rf build', remove('build')],
  ['rmdir x', remove('x')],
  ['unlink x', remove('x')],
  ['mkdir -p x/y', write('x/y')],
  ['touch t', write('t')],
  ['ln -s a b', write('b')],
  ['install -m 755 a b', read('a'), write('b')],
  ['truncate -s 0 f', write('f')],
  ['dd if=a of=b', read('a'), write('b')],
  ['echo x | tee -a o1 o2', write('o1'), write('o2')],
  ['chmod +x run.sh', write('run.sh')],
  ['chmod -R 755 dir', write('dir')],
  ['sed -i s/a/b/ f', read('f'), write('f')],
  ['sed s/a/b/ f > g', read('f'), write('g')],
  ['sort -o out in', read('in'), write('out')],
  ['gzip f'],
  ['tar czf a.tgz dir', read('dir')],
  ['tar xf a.tar'],
  ['unzip a.zip'],
  ['curl -o f https://e.com/x', { kind: 'fetch', url: 'https://e.com/x' }, write('f')],
  ['cd sub && rm q', remove('sub/q')],
  ['cd sub && echo x > y', write('sub/y')],
  ['(cd sub; rm q); touch z', remove('sub/q'), write('z')],
  ['{ echo a; rm b; } > log.txt', write('log.txt'), remove('b')],
  ['for i in 1 2 3; do touch f$i; done', write('f1'), write('f2'), write('f3')],
  ['if true; then rm a; else rm b; fi', remove('a'), remove('b')],
  ['while read -r l; do echo "$l" >> out; done < in.txt', read('in.txt'), write('out')],
  ['f=x.txt; echo hi > "$f"; rm "$f"', write('x.txt'), remove('x.txt')],
  ['find . -name "*.o" -delete', read('.'), remove('.')],
  ['ls | xargs rm', UNKNOWN],
  ['rm $(cat list)', read('list'), UNKNOWN],
  ['make &> log', write('log')],
  ['npm install'],
  ['sh script.sh', read('script.sh'), UNKNOWN],
  ["bash -c 'echo x > y; rm z'", write('y'), remove('z')],
  ["eval 'rm z'", remove('z')],
  ['env A=1 rm q', remove('q')],
  ['timeout 5 touch q', write('q')],
  ['git apply p.patch'],
  ['git status'],
  ['echo hi'],
];

const sorted = (effects: readonly Effect[]): readonly string[] =>
  effects.map((effect) => JSON.stringify(effect)).sort();

describe('the picture of a command line', () => {
  const cases = TOLD.map(([command, ...told]) => ({ command, told }));
  it.each(cases)('knows of $command what the analysis and the plan know', async ({ command, told }) => {
    const call = await planned(command);
    const { touches, commands } = partOf(call);
    expect(sorted(touches)).toEqual(sorted(told));
    expect(sorted(analyzeCommand(command, 'bash').effects)).toEqual(sorted(told));
    expect(sorted(call.effects.filter(({ kind }) => kind !== 'run'))).toEqual(sorted(told));
    const line = new Set(sorted(touches));
    for (const own of commands) for (const effect of sorted(own.touches)) expect(line).toContain(effect);
  });

  it('says which command of the line writes and which one deletes', async () => {
    expect(partOf(await planned('echo v2 > n.txt; rm q'))).toMatchObject({
      marks: [{ start: 17, end: 21, reason: expect.stringContaining('q') }],
      commands: [
        { words: ['echo', 'v2'], touches: [write('n.txt')] },
        { words: ['rm', 'q'], touches: [remove('q')] },
      ],
    });
  });

  it('counts what a command starts as its own', async () => {
    expect(partOf(await planned('sudo rm q > log')).commands).toEqual([
      { words: ['sudo', 'rm', 'q'], touches: [write('log'), remove('q')] },
      { words: ['rm', 'q'], touches: [remove('q')] },
    ]);
  });

  it('names paths from where the call starts, as the plan does', async () => {
    const call = await planned('echo x > y; rm ../z; cat /etc/hosts', { working_dir: 'sub' });
    const told = [write('sub/y'), remove('z'), read('/etc/hosts')];
    expect(sorted(partOf(call).touches)).toEqual(sorted(told));
    expect(sorted(call.effects.filter(({ kind }) => kind !== 'run'))).toEqual(sorted(told));
  });

  it.each([
    ['frobnicate --all', ['frobnicate --all']],
    ['npm install; make &> log; tar xf a.tar; gzip f', ['npm install', 'make', 'tar xf a.tar', 'gzip f']],
    ['git checkout main && ls', ['git checkout main']],
    ['git -C sub add . ; git -c a.b=c log -3', ['git -C sub add .']],
    ['f() { cat a; }; f; patch < p.diff', ['patch']],
    ['echo a | sort; git status; git diff --stat; sleep 1; basename a', []],
  ])('says of %s that it may touch more', async (command, untold) => {
    const { commands } = partOf(await planned(command));
    expect(commands.filter(({ isUntold }) => isUntold).map(({ words }) => words.join(' '))).toEqual(untold);
  });

  it('marks the command that a reason belongs to', async () => {
    const part = await commandPart({
      kind: 'run',
      shell: 'bash',
      command: 'ls -l && python3 -c "x" && echo a',
    });
    expect(part.marks).toEqual([{ start: 9, end: 22, reason: expect.stringContaining('python3') }]);
  });
});
