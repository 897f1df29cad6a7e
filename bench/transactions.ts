import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type RoundOptions } from './measure.js';
import { type Goal, type Row, toMs, toRow } from './row.js';

type Executor = ReturnType<typeof toolexec.createExecutor>;

/** Flags of bubblewrap that a command's own sandbox has, and no more mounts than it needs. */
const BARE = [
  ...['--die-with-parent', '--new-session', '--unshare-user', '--unshare-pid', '--as-pid-1', '--unshare-ipc'],
  ...['--unshare-uts', '--unshare-cgroup-try', '--unshare-net', '--cap-drop', 'ALL', '--disable-userns'],
  ...['--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc', '--symlink', 'usr/bin', '/bin'],
  ...['--symlink', 'usr/lib', '/lib', '--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev'],
  ...['--tmpfs', '/tmp'],
];

/** Commands whose changes are kept apart until their end. Nothing where this machine cannot do that. */
export async function measureTransactions(scale: Scale): Promise<readonly Row[]> {
  const quick = scale === 'quick';
  const rounds: RoundOptions = { rounds: quick ? 3 : 40, warmUps: quick ? 1 : 5 };
  const few: RoundOptions = { rounds: quick ? 1 : 7, warmUps: 1 };
  const rows: Row[] = [];
  for (const hidden of [0, quick ? 50 : 5_000]) {
    rows.push(
      ...(await withRoot(async (root, executor) => {
        for (let index = 0; index < hidden; index++) {
          const directory = join(root, `d${index % 50}`);
          mkdirSync(directory, { recursive: true });
          writeFileSync(join(directory, `${index}.pem`), 'x');
        }
        const bare = [...BARE, '--bind', root, root, '--chdir', root, '--', '/bin/bash', '-c', 'true'];
        const contenders = { ours: command(executor, 'true'), beside: program('bwrap', bare, root) };
        const timings = await interleave(contenders, rounds);
        return [row(`true, ${hidden} files hidden`, timings, 'bare bwrap', { of: 'ratio', atMost: 1.6 })];
      })),
    );
  }
  const tracked = quick ? 500 : 50_000;
  rows.push(
    ...(await withRoot(async (root, executor) => {
      makeFiles(root, tracked);
      const git = (...args: string[]): Buffer => execFileSync('git', ['-C', root, ...args]);
      git('init', '-q');
      // Its housekeeping would go on in the background.
      git('config', 'gc.auto', '0');
      git('config', 'maintenance.auto', 'false');
      git('add', '-A');
      git('-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '-qm', 'b');
      const contenders = {
        ours: command(executor, 'git status --porcelain'),
        beside: program('git', ['status', '--porcelain'], root),
      };
      const timings = await interleave(contenders, few);
      // An overlay looks up every file again: no goal.
      return [row(`git status in ${tracked} files`, timings, 'outside')];
    })),
  );
  const made = quick ? 200 : 10_000;
  rows.push(
    ...(await withRoot(async (root, executor) => {
      const make = (name: string): string => `mkdir ${name}; cd ${name}; seq ${made} | xargs touch`;
      let round = 0;
      // Each in a directory of its own: what it costs to remove the last one differs from run to run.
      const contenders = {
        ours: { units: 1, run: () => command(executor, make(`made${round++}`)).run() },
        beside: {
          units: 1,
          async run() {
            const name = `bare${round++}`;
            await program('/bin/sh', ['-c', make(name)], root).run();
            for (const file of readdirSync(join(root, name)))
              renameSync(join(root, name, file), join(root, name, `${file}.renamed`));
          },
        },
      };
      const timings = await interleave(contenders, few);
      const name = 'outside, and bare renames';
      return [row(`${made} files made`, timings, name, { of: 'ratio', atMost: 1.5 })];
    })),
  );
  const packages = quick ? 2 : 20;
  rows.push(
    ...(await withRoot(async (root, executor) => {
      makeProject(root, packages, quick ? 5 : 100);
      const install = `rm -rf node_modules package-lock.json
npm install --offline --no-audit --no-fund --no-update-notifier --loglevel=error --cache=/tmp/npm-cache`;
      const contenders = {
        ours: command(executor, install),
        beside: program(
          '/bin/sh',
          ['-c', install.replace('/tmp/npm-cache', join(root, '..', 'cache'))],
          root,
        ),
      };
      const timings = await interleave(contenders, few);
      return [row(`npm install of ${packages} packages`, timings, 'outside', { of: 'ratio', atMost: 1.3 })];
    })),
  );
  return rows;
}

/** A project whose dependencies are archives beside it: nothing of them comes from a registry. */
function makeProject(root: string, packages: number, files: number): void {
  const dependencies: Record<string, string> = {};
  for (let index = 0; index < packages; index++) {
    const name = `part-${index}`;
    const made = join(root, '..', 'made', 'package');
    mkdirSync(join(made, 'lib'), { recursive: true });
    writeFileSync(join(made, 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
    for (let file = 0; file < files; file++)
      writeFileSync(join(made, 'lib', `${file}.js`), `module.exports = ${file};\n`.repeat(50));
    execFileSync('tar', ['-czf', join(root, `${name}.tgz`), '-C', join(made, '..'), 'package']);
    dependencies[name] = `file:${name}.tgz`;
  }
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'bench', private: true, dependencies }));
}

async function withRoot(
  measure: (root: string, executor: Executor) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const around = mkdtempSync(join(tmpdir(), 'bench-transactions-'));
  const root = join(around, 'root');
  mkdirSync(root);
  const executor = toolexec.createExecutor({
    root,
    approver: null,
    journal: join(around, 'journal.db'),
    sandbox: { transactions: 'auto' },
  });
  try {
    const { metadata } = await executor.execute('bash', { command: 'true' });
    return Object(metadata.sandbox).transaction === true ? await measure(root, executor) : [];
  } finally {
    await executor.close();
    rmSync(around, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function makeFiles(root: string, count: number): void {
  for (let index = 0; index < count; index++) {
    const directory = join(root, `d${index % 500}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `f${index}`), `${index}\n`);
  }
}

function command(executor: Executor, line: string): Contender {
  return {
    units: 1,
    async run() {
      const { error } = await executor.execute('bash', { command: line });
      // A failing command would count as a fast one.
      if (error !== undefined) throw new Error(`Cannot measure "${line}": ${error.message}`);
    },
  };
}

function program(file: string, args: readonly string[], cwd: string): Contender {
  return {
    units: 1,
    async run() {
      const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
      child.stdout.resume();
      child.stderr.resume();
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`Cannot measure ${file}: it ended with ${code}.`);
    },
  };
}

type Timings = Awaited<ReturnType<typeof interleave<'ours' | 'beside'>>>;

function row(what: string, { ours, beside }: Timings, name: string, goal?: Goal): Row {
  const options = { unit: 'ms', computing: false } as const;
  return toRow(what, toMs(ours), [name, toMs(beside)], goal === undefined ? options : { ...options, goal });
}
