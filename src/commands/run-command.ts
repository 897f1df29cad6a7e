import type { CommandOutcome, CommandRequest, RunCommand } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { explainEnd, lastWords } from './explain-end.js';
import { createKeptBytes } from './kept-bytes.js';
import type { CommandEnding } from './launch-command.js';
import { runToItsEnd, type SettledEnd } from './run-to-its-end.js';
import type { Transaction } from './transaction/open-transaction.js';

/**
 * Runs a command to its end, and ends what it leaves running (D059, D060, D107).
 * @throws ToolError spawn_failed when it cannot be started; what `onOutput` threw, once everything is dead.
 */
export const runCommand: RunCommand = (request) => runCommandIn(request);

/** @param layers that its changes are kept apart in, and stay. Left out: it gets its own where its sandbox says so. */
export async function runCommandIn(request: CommandRequest, layers?: Transaction): Promise<CommandOutcome> {
  const startedAt = systemClock.monotonic();
  const stdout = createKeptBytes(request.keepBytes);
  const stderr = createKeptBytes(request.keepBytes);
  try {
    const { ending, neverStarted, settled } = request.signal.aborted
      ? NOT_WANTED
      : await runToItsEnd(request, {
          ...request,
          layers,
          onOutput: onOutputOf(request),
          stdout,
          stderr,
        });
    const durationMs = systemClock.monotonic() - startedAt;
    const kept = { stdout: stdout.end(), stderr: stderr.end() };
    if (neverStarted) throw sandboxFailed(kept.stderr.head);
    if (kept.stdout.binary || kept.stderr.binary) request.whole?.keep();
    const outputRef = await request.whole?.end();
    const told = explainEnd(request, ending, lastWords(kept));
    const reference = outputRef === undefined ? {} : { outputRef };
    return { ...ending, ...told, ...kept, durationMs, ...reference, ...settled };
  } catch (error) {
    await request.whole?.end();
    throw error;
  }
}

const NOT_WANTED: SettledEnd<Omit<CommandEnding, 'neverStarted'>> = {
  ending: { exitCode: null, signal: null, aborted: true, survivors: [] },
  neverStarted: false,
  settled: {},
};

function sandboxFailed(said: string): ToolError {
  const why = said.trim().split('\n').at(-1) || 'it says nothing';
  return new ToolError('spawn_failed', `Cannot start a command in the OS sandbox: ${why}. Nothing was run.`, {
    details: { why },
  });
}
/** Both are waited for, where they ask for it: the disk as well as the reader may be slow. */
function onOutputOf({ whole, onOutput }: CommandRequest): CommandRequest['onOutput'] {
  if (whole === undefined) return onOutput;
  return (stream, chunk) => {
    const stored = whole.push(chunk);
    const shown = onOutput?.(stream, chunk);
    if (!(stored instanceof Promise)) return shown;
    return shown instanceof Promise ? Promise.all([stored, shown]).then(() => undefined) : stored;
  };
}
