import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real pseudo terminal, which Node cannot open by itself. */
export const hasTerminal =
  spawnSync('python3', ['-c', 'import pty, select'], { stdio: 'ignore' }).status === 0;

export interface Sitting {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** The keys typed when the terminal shows new output that contains the text; `null` closes the terminal. */
  readonly types: readonly (readonly [after: string, keys: string | null])[];
}

export interface Sat {
  readonly code: number;
  /** Standard output, which is a file: only the person's side is the terminal. */
  readonly stdout: string;
  /** Everything that the terminal has shown, including the typed text. */
  readonly shown: string;
}

/** Runs a program with a person in front: standard input and standard error are a terminal, and it controls them. */
export async function sitBefore(argv: readonly string[], { env, cwd, types }: Sitting): Promise<Sat> {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-terminal-'));
  const out = join(folder, 'stdout');
  const order = JSON.stringify({ argv, cwd, out, types });
  try {
    const { code, shown } = await new Promise<Pick<Sat, 'code' | 'shown'>>((resolve, reject) => {
      execFile('python3', ['-c', PROGRAM, order], { env: { ...env } }, (error, shown, complaint) => {
        if (complaint !== '') reject(new Error(complaint));
        else resolve({ code: typeof error?.code === 'number' ? error.code : 0, shown });
      });
    });
    return { code, shown, stdout: readFileSync(out, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const PROGRAM = `
import json, os, pty, select, sys, time
order = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(order["cwd"])
    os.dup2(os.open(order["out"], os.O_WRONLY | os.O_CREAT, 0o600), 1)
    os.execvp(order["argv"][0], order["argv"])
shown, fresh, types, end = "", "", list(order["types"]), time.time() + 60
while time.time() < end:
    if types and types[0][0] in fresh:
        keys = types.pop(0)[1]
        if keys is None:
            os.close(terminal)
            break
        os.write(terminal, keys.encode())
        fresh = ""
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        part = os.read(terminal, 65536).decode("utf8", "replace")
    except OSError:
        break
    if part == "":
        break
    shown += part
    fresh += part
else:
    os.kill(pid, 9)
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.write(shown)
sys.exit(code if code >= 0 else 128 - code)
`;
