import type { CommandRequest, RunCommand } from '../contract/processes.js';
import { systemClock } from '../platform/clock.js';
import type { ProcessEnd, StartedProcess } from '../platform/spawn.js';
import { createCommandMark } from './command-mark.js';
import { type CommandTree, createCommandTree } from './command-tree.js';
import { drainOutput } from './drain-output.js';
import { createKeptBytes, type KeptBytes } from './kept-bytes.js';
import { killTree } from './kill-tree.js';
import { type OutputPump, pumpOutput } from './pump-output.js';
import { startCommand } from './start-command.js';
import { watchTree } from './watch-tree.js';
import { whenAborted } from './when-aborted.js';
import { within } from './within.js';

/**
 * Runs a command to its end, and ends what it leaves running (D059, D060, D107).
 * @throws ToolError spawn_failed when it cannot be started; what `onOutput` threw, once everything is dead.
 */
export const runCommand: RunCommand = async (request) => {
  const startedAt = systemClock.monotonic();
  const stdout = createKeptBytes(request.keepBytes);
  const stderr = createKeptBytes(request.keepBytes);
  const ending = request.signal.aborted ? NEVER_STARTED : await startAndSee(request, stdout, stderr);
  const durationMs = systemClock.monotonic() - startedAt;
  return { ...ending, stdout: stdout.end(), stderr: stderr.end(), durationMs };
};

interface Ending extends ProcessEnd {
  readonly aborted: boolean;
  readonly survivors: readonly number[];
}

const NEVER_STARTED: Ending = { exitCode: null, signal: null, aborted: true, survivors: [] };

async function startAndSee(request: CommandRequest, stdout: KeptBytes, stderr: KeptBytes): Promise<Ending> {
  const mark = createCommandMark();
  const command = await startCommand(request, mark).finally(mark.close);
  const tree = createCommandTree(command.pid, mark);
  const output = pumpOutput(
    { stdout: { source: command.stdout, kept: stdout }, stderr: { source: command.stderr, kept: stderr } },
    request.onOutput,
  );
  try {
    return await seeToItsEnd(command, tree, output, request.signal);
  } finally {
    command.release();
  }
}

async function seeToItsEnd(
  command: StartedProcess,
  tree: CommandTree,
  output: OutputPump,
  signal: AbortSignal,
): Promise<Ending> {
  const { end, aborted, failure } = await firstEnding(command, tree, output, signal);
  // What it left running may still be busy with its last output (`> >(tee log)`): read first, then kill.
  if (end !== undefined) await drainOutput(output);
  const survivors = end !== undefined && !tree.mayHaveOthers() ? [] : await killTree(tree);
  await drainOutput(output);
  if (failure !== undefined) throw failure.error;
  const last = end ?? (await within(100, command.ended)) ?? { exitCode: null, signal: null };
  return { ...last, aborted, survivors };
}

interface FirstEnding {
  readonly end?: ProcessEnd;
  readonly aborted: boolean;
  readonly failure?: { readonly error: unknown };
}

/** The one place where the ways to end race: by itself, by the caller's signal, by a listener that fails. */
async function firstEnding(
  command: StartedProcess,
  tree: CommandTree,
  output: OutputPump,
  signal: AbortSignal,
): Promise<FirstEnding> {
  const abort = whenAborted(signal);
  const stopWatching = watchTree(tree);
  try {
    return await Promise.race([
      command.ended.then((end) => ({ end, aborted: false })),
      abort.happened.then(() => ({ aborted: true })),
      output.failed.then((error) => ({ aborted: false, failure: { error } })),
    ]);
  } finally {
    stopWatching();
    abort.forget();
  }
}
