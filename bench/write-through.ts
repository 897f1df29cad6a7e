import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { toolexec } from './built.js';
import { type Contender, interleave, type Timing } from './measure.js';
import { type Goal, type Row, toRow } from './row.js';

type Executor = ReturnType<typeof toolexec.createExecutor>;

/** The numbers of entries that the deny patterns hide, each in its own directory. */
const GUARDED = [10, 100, 500] as const;

/**
 * `bash` in the OS sandbox without a transaction, beside bubblewrap with exactly the same arguments; and the
 * cost of more guarded entries.
 */
export async function measureWriteThrough(quick: boolean): Promise<readonly Row[]> {
  const made = GUARDED.map(makeRoot);
  try {
    const [few] = made;
    if (few === undefined) return [];
    const { metadata } = await few.executor.execute('bash', { command: 'true' });
    if (Object(metadata.sandbox).kind !== 'bubblewrap') return [];
    const args = await argumentsOf(few.executor);
    const bare = latencyOf(() => spawnBare('bwrap', [...args, '--', '/bin/bash', '-c', 'true'], few.root));
    const contenders = Object.fromEntries(
      made.map(({ count, executor }) => [
        `${count}`,
        latencyOf(() => executor.execute('bash', { command: 'true' })),
      ]),
    );
    const rounds = { rounds: quick ? 3 : 40, warmUps: quick ? 1 : 5 };
    const { bare: beside, ...ours }: Record<'bare', Timing> & Record<string, Timing> = {
      ...(await interleave({ ...contenders, bare }, rounds)),
    };
    const goal: Goal = { of: 'ratio', atMost: 1.2 };
    return Object.entries(ours).map(([count, timing]) =>
      toRow(
        `true, in the OS sandbox, ${count} guarded`,
        inMs(timing),
        ['bare bwrap, 10 guarded', inMs(beside)],
        {
          unit: 'ms',
          computing: false,
          ...(count === '10' ? { goal } : {}),
        },
      ),
    );
  } finally {
    for (const { root, executor } of made) {
      await executor.close();
      rmSync(root, { recursive: true, force: true });
    }
  }
}

function makeRoot(count: number): {
  readonly count: number;
  readonly root: string;
  readonly executor: Executor;
} {
  const root = mkdtempSync(join(tmpdir(), 'bench-sandbox-'));
  for (let index = 0; index < count; index++) {
    mkdirSync(join(root, `d${index}`));
    writeFileSync(join(root, `d${index}`, '.env'), 'SECRET=1\n');
  }
  const sandbox = { transactions: 'off' } as const;
  return { count, root, executor: toolexec.createExecutor({ root, approver: null, sandbox }) };
}

/** Read from the process that runs, up to the program. */
async function argumentsOf(executor: Executor): Promise<readonly string[]> {
  const marker = `sleep 1.${process.pid}`;
  const running = executor.execute('bash', { command: marker });
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const [name, ...args] = commandLineOf(pid);
      if (basename(name ?? '') !== 'bwrap' || !args.includes(marker)) continue;
      await running;
      return withoutDescriptors(args.slice(0, args.indexOf('--')));
    }
  }
}

/** Mounts by descriptor become mounts by path. The placeholder of a repository does not exist any more. */
function withoutDescriptors(flags: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < flags.length; at++) {
    const [flag = '', , path = ''] = flags.slice(at, at + 3);
    if (flag === '--seccomp') at += 1;
    else if (flag === '--perms') at += 4;
    else if (!/^--(?:ro-)?bind-fd$/.test(flag)) kept.push(flag);
    else {
      at += 2;
      if (!path.endsWith('/.git')) kept.push(flag.replace('-fd', ''), path, path);
    }
  }
  return kept;
}

function commandLineOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  } catch {
    return [];
  }
}

function latencyOf(run: () => Promise<unknown>): Contender {
  return { units: 1, run };
}

async function spawnBare(file: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  const [code] = await once(child, 'close');
  // A failing run would count as a fast one.
  if (code !== 0) throw new Error(`Cannot measure ${file}: it ended with ${code}.`);
}

function inMs({ wallUs, cpuUs, rounds }: Timing): Timing {
  return { wallUs: wallUs / 1000, cpuUs: cpuUs / 1000, rounds };
}
