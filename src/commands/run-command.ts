import type {
  CommandOutcome,
  CommandRequest,
  KeptOutput,
  RunCommand,
  StartedCommand,
} from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { readProcess } from '../platform/process/proc-table.js';
import { explainEnd } from './explain-end.js';
import { createKeptBytes } from './kept-bytes.js';
import {
  type CommandEnding,
  type CommandLaunch,
  type LaunchedCommand,
  launchCommand,
} from './launch-command.js';

/**
 * Runs a command to its end, and ends what it leaves running (D059, D060, D107).
 * @throws ToolError spawn_failed when it cannot be started; what `onOutput` threw, once everything is dead.
 */
export const runCommand: RunCommand = async (request) => {
  const startedAt = systemClock.monotonic();
  const stdout = createKeptBytes(request.keepBytes);
  const stderr = createKeptBytes(request.keepBytes);
  try {
    const { neverStarted, ...ending } = request.signal.aborted
      ? NOT_WANTED
      : await toItsEnd(request, { ...request, onOutput: onOutputOf(request), stdout, stderr });
    const durationMs = systemClock.monotonic() - startedAt;
    const kept = { stdout: stdout.end(), stderr: stderr.end() };
    if (neverStarted) throw sandboxFailed(kept.stderr.head);
    if (kept.stdout.binary || kept.stderr.binary) request.whole?.keep();
    const outputRef = await request.whole?.end();
    const told = explainEnd(request, ending, lastWords(kept));
    return { ...ending, ...told, ...kept, durationMs, ...(outputRef === undefined ? {} : { outputRef }) };
  } catch (error) {
    await request.whole?.end();
    throw error;
  }
};

const NOT_WANTED: CommandEnding = {
  exitCode: null,
  signal: null,
  aborted: true,
  survivors: [],
  neverStarted: false,
};

async function toItsEnd(
  { onStarted }: CommandRequest,
  launch: CommandLaunch,
): Promise<CommandEnding & Pick<CommandOutcome, 'wall'>> {
  const launched = await launchCommand(launch);
  onStarted?.(identify(launched));
  return { ...(await launched.ended), wall: launched.wall };
}

/** Programs say on either stream what they could not do. */
function lastWords({ stdout, stderr }: Record<'stdout' | 'stderr', KeptOutput>): string {
  const end = ({ head, tail, binary }: KeptOutput): string => (binary ? '' : (head + tail).slice(-4096));
  return `${end(stdout)}\n${end(stderr)}`;
}

function sandboxFailed(said: string): ToolError {
  const why = said.trim().split('\n').at(-1) || 'it says nothing';
  return new ToolError('spawn_failed', `Cannot start a command in the OS sandbox: ${why}. Nothing was run.`, {
    details: { why },
  });
}
function identify({ pid, startTicks = readProcess(pid)?.startTicks }: LaunchedCommand): StartedCommand {
  return startTicks === undefined ? { pid } : { pid, startTicks };
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
