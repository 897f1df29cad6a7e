import packageJson from '../../package.json' with { type: 'json' };
import { reportError } from '../../src/cli/exit-code.js';
import { runProgram } from '../../src/cli/program.js';
import { decodeText } from '../../src/platform/fs/read-file.js';
import type { Stdio, TextOutput } from '../../src/platform/runtime/stdio.js';
import { onUnhandledError } from '../../src/platform/runtime/unhandled-errors.js';

export interface HostedRun {
  /** The shipped command, which the run treats as its own program. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly stdin: string;
}

/** The output of a run, in the form of `Ran`. */
export interface HostedEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

// Runs the command repeatedly in one process, which saves each run the start of Node and the loading of the program.
process.on('message', (run: HostedRun) => void answer(run));
process.on('disconnect', () => process.exit());

async function answer(run: HostedRun): Promise<void> {
  process.chdir(run.cwd);
  process.argv[1] = run.program;
  for (const name of Object.keys(process.env)) if (!(name in run.env)) delete process.env[name];
  Object.assign(process.env, run.env);
  const [stdout, stderr] = [collect(), collect()];
  const readText: Stdio['stdin']['readText'] = async (maxBytes, keepMark) => {
    if (Buffer.byteLength(run.stdin) > maxBytes) throw new Error('Give a long text to a process of its own.');
    return decodeText(Buffer.from(run.stdin), keepMark);
  };
  const stdio: Stdio = {
    args: run.args,
    stdin: { isTerminal: false, readText, readDocument: readText },
    stdout,
    stderr,
    onEndSignal: () => () => {},
    interrupt() {},
  };
  const context = { stdio, env: { ...run.env }, version: packageJson.version, exitNow: fail };
  const stop = onUnhandledError((error) => {
    end(reportError(error, context));
    return true;
  });
  let isEnded = false;
  const end = (code: number) => {
    if (isEnded) return;
    isEnded = true;
    stop();
    process.send?.({ code, stdout: stdout.text, stderr: stderr.text } satisfies HostedEnd);
  };
  end(await runProgram(context).catch((error: unknown) => reportError(error, context)));
}

function collect(): TextOutput & { text: string } {
  return {
    text: '',
    isTerminal: false,
    rows: 24,
    columns: 80,
    onResize: () => () => {},
    write(text) {
      this.text += text;
    },
    readerGone: new Promise(() => {}),
    flushed: async () => {},
  };
}

function fail(): never {
  throw new Error('Nothing interrupts a run that shares its process.');
}
