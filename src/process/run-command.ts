import type { CommandRequest, RunCommand } from '../contract/processes.js';
import { systemClock } from '../platform/clock.js';
import { createKeptBytes } from './kept-bytes.js';
import { type CommandEnding, launchCommand } from './launch-command.js';

/**
 * Runs a command to its end, and ends what it leaves running (D059, D060, D107).
 * @throws ToolError spawn_failed when it cannot be started; what `onOutput` threw, once everything is dead.
 */
export const runCommand: RunCommand = async (request) => {
  const startedAt = systemClock.monotonic();
  const stdout = createKeptBytes(request.keepBytes);
  const stderr = createKeptBytes(request.keepBytes);
  try {
    const ending = request.signal.aborted
      ? NEVER_STARTED
      : await launchCommand({ ...request, onOutput: onOutputOf(request), stdout, stderr }).then(
          ({ ended }) => ended,
        );
    const durationMs = systemClock.monotonic() - startedAt;
    const kept = { stdout: stdout.end(), stderr: stderr.end() };
    if (kept.stdout.binary || kept.stderr.binary) request.whole?.keep();
    const outputRef = await request.whole?.end();
    return { ...ending, ...kept, durationMs, ...(outputRef === undefined ? {} : { outputRef }) };
  } catch (error) {
    await request.whole?.end();
    throw error;
  }
};

const NEVER_STARTED: CommandEnding = { exitCode: null, signal: null, aborted: true, survivors: [] };

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
