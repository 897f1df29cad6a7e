import packageJson from '../../package.json' with { type: 'json' };
import { readEnvironment } from '../platform/runtime/environment.js';
import { endWithTerminal, openStdio } from '../platform/runtime/stdio.js';
import { onUnhandledError } from '../platform/runtime/unhandled-errors.js';
import { type ExitCode, flushOutput } from './cli-context.js';
import { startCommand } from './start-command.js';

const stdio = openStdio();
const env = readEnvironment();
const { version } = packageJson;

/** Runs the command line of this process, and ends the process with its exit code. */
export function main(): void {
  // The last resort: an unhandled error would print a stack trace. The executor handles those of tools.
  onUnhandledError((error) => {
    void report(error).then(leave);
    return true;
  });
  void run().then(leave);
}

async function run(): Promise<number> {
  try {
    const code = await startCommand({ stdio, env, version, exitNow });
    await flushOutput(stdio);
    return code;
  } catch (error) {
    return report(error);
  }
}

async function report(error: unknown): Promise<ExitCode> {
  const { reportError } = await import('./exit-code.js');
  return reportError(error, { stdio, env });
}

async function leave(code: number): Promise<never> {
  // If standard error fails, there is no other place to report it.
  await stdio.stderr.flushed().catch(() => {});
  return exitNow(code);
}

function exitNow(code: number): never {
  endWithTerminal(stdio);
  return process.exit(code);
}
