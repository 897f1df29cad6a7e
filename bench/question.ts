import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './clean-environment.js';
import type { Scale } from './contents.js';
import { median } from './measure.js';
import type { Row } from './row.js';
import { withDirectory } from './with-directory.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The waits of a person at a terminal: for the first line of `run`, and for the question about a call. */
export function measureQuestion(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const hasTerminal = spawnSync('python3', ['-c', 'import pty'], { stdio: 'ignore' }).status === 0;
    if (!hasTerminal) return [{ what: 'skipped: python3 has no pty', unit: 'ms' }];
    const root = join(directory, 'root');
    mkdirSync(root);
    writeFileSync(join(root, 'a.txt'), 'a\n');
    const calls = (name: string, args: object): string => {
      const file = join(directory, `${name}.json`);
      writeFileSync(file, JSON.stringify([{ id: 'a', name, args }]));
      return file;
    };
    const read = calls('read_file', { path: 'a.txt' });
    const ask = calls('bash', { command: 'git status && npm test' });
    const rounds: Round[] = [];
    for (let round = 0; round < (scale === 'quick' ? 1 : 16); round++) {
      const journal = ['--journal', join(directory, `${round}.db`)];
      const taken = {
        bare: bareMs(),
        line: sit(root, [read, ...journal], 'read_file (a)').shownMs,
        question: sit(root, [ask, '--json', ...journal], 'your approval').neededMs,
      };
      if (round > 0 || scale === 'quick') rounds.push(taken);
    }
    const of = (name: keyof Round): number => median(rounds.map((round) => round[name]));
    return [
      {
        what: 'toolexec run, until its first line',
        unit: 'ms',
        ours: of('line'),
        beside: {
          name: 'node -e 0',
          value: of('bare'),
          ratio: median(rounds.map(({ line, bare }) => line / bare)),
        },
      },
      {
        what: 'the question, from the moment it is needed',
        unit: 'ms',
        ours: of('question'),
        goal: { of: 'ours', atMost: 150 },
      },
    ];
  });
}

interface Round {
  readonly bare: number;
  readonly line: number;
  readonly question: number;
}

function bareMs(): number {
  const startedAt = performance.now();
  spawnSync(process.execPath, ['-e', '0'], { env: cleanEnvironment() });
  return performance.now() - startedAt;
}

/** Runs the command before a terminal until that shows a text. */
function sit(
  cwd: string,
  words: readonly string[],
  until: string,
): { readonly shownMs: number; readonly neededMs: number } {
  const { bin }: { bin: { toolexec: string } } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const argv = [process.execPath, join(ROOT, bin.toolexec), 'run', ...words];
  const { CI: _, ...env } = cleanEnvironment();
  const { status, stdout, stderr } = spawnSync(
    'python3',
    ['-c', PROGRAM, JSON.stringify({ argv, cwd, until })],
    {
      env,
      encoding: 'utf8',
    },
  );
  if (status !== 0) throw new Error(`Cannot measure "${words.join(' ')}": ${stderr}`);
  return JSON.parse(stdout);
}

/** The event that says that the person is asked has its time of day: both processes have the same clock. */
const PROGRAM = `
import json, os, pty, select, sys, time
order = json.loads(sys.argv[1])
began = time.time()
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(order["cwd"])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(order["argv"][0], order["argv"])
shown, at = "", None
while at is None and select.select([terminal], [], [], 30)[0]:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    shown += part.decode("utf8", "replace")
    if order["until"] in shown:
        at = time.time()
os.kill(pid, 9)
os.waitpid(pid, 0)
if at is None:
    sys.exit("it never showed " + order["until"] + ": " + shown)
needed = [json.loads(line)["at"] for line in shown.splitlines() if '"approval_requested"' in line]
json.dump({"shownMs": (at - began) * 1000, "neededMs": at * 1000 - needed[0] if needed else 0}, sys.stdout)
`;
