import type { OutputSink } from '../contract/outputs.js';
import type { CommandOutcome, CommandRequest, RunCommand } from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { explainEnd, lastWords } from './explain-end.js';
import { createKeptBytes } from './kept-bytes.js';
import type { CommandEnding } from './launch-command.js';
import { runToItsEnd, type SettledEnd } from './run-to-its-end.js';
import type { Transaction } from './transaction/open-transaction.js';

/**
 * Runs a command to its end, and ends its remaining processes (D059, D060, D107).
 * @throws ToolError spawn_failed if it cannot be started; an error of `onOutput`, after everything is dead.
 */
export const runCommand: RunCommand = (request) => runCommandIn(request);

/**
 * @param layers of an existing transaction, which stay. If absent: the command gets its own if its sandbox
 * says so.
 */
export async function runCommandIn(request: CommandRequest, layers?: Transaction): Promise<CommandOutcome> {
  const startedAt = systemClock.monotonic();
  let output = openOutput(request);
  let runs = 0;
  const open = () => {
    // The output of an earlier run does not count, because that run changed nothing.
    if (runs++ > 0) {
      void output.whole?.end();
      output = openOutput(request);
    }
    const { stdout, stderr, whole } = output;
    return { ...request, layers, onOutput: onOutputOf(request, whole), stdout, stderr };
  };
  try {
    const { ending, neverStarted, settled } = request.signal.aborted
      ? NOT_WANTED
      : await runToItsEnd(request, open);
    const durationMs = systemClock.monotonic() - startedAt;
    const kept = { stdout: output.stdout.end(), stderr: output.stderr.end() };
    if (neverStarted) throw sandboxFailed(kept.stderr.head);
    if (kept.stdout.binary || kept.stderr.binary) output.whole?.keep();
    const outputRef = await output.whole?.end();
    const { refused: _, ...end } = ending;
    const told = explainEnd(request, ending, lastWords(kept));
    const reference = outputRef === undefined ? {} : { outputRef };
    return { ...end, ...told, ...kept, durationMs, ...reference, ...settled };
  } catch (error) {
    await output.whole?.end();
    throw error;
  }
}

/** The sinks for the output of one run. */
function openOutput({ keepBytes, openWhole }: CommandRequest) {
  return { stdout: createKeptBytes(keepBytes), stderr: createKeptBytes(keepBytes), whole: openWhole?.() };
}

const NOT_WANTED: SettledEnd<Omit<CommandEnding, 'neverStarted'>> = {
  ending: { exitCode: null, signal: null, aborted: true, survivors: [], refused: [] },
  neverStarted: false,
  settled: {},
};

function sandboxFailed(said: string): ToolError {
  const why = said.trim().split('\n').at(-1) || 'it says nothing';
  return new ToolError('spawn_failed', `Cannot start a command in the OS sandbox: ${why}. Nothing was run.`, {
    details: { why },
  });
}

/** Waits for both, because the disk as well as the reader may be slow. */
function onOutputOf({ onOutput }: CommandRequest, whole: OutputSink | undefined): CommandRequest['onOutput'] {
  if (whole === undefined) return onOutput;
  return (stream, chunk) => {
    const stored = whole.push(chunk);
    const shown = onOutput?.(stream, chunk);
    if (!(stored instanceof Promise)) return shown;
    return shown instanceof Promise ? Promise.all([stored, shown]).then(() => undefined) : stored;
  };
}
