import type { CommandRequest } from '../contract/processes.js';
import { idleClock, systemClock } from '../platform/clock.js';
import type { ProcessEnd, StartedProcess } from '../platform/spawn.js';
import { createCommandMark } from './command-mark.js';
import { type CommandTree, createCommandTree } from './command-tree.js';
import { drainOutput } from './drain-output.js';
import { killTree } from './kill-tree.js';
import { type ByteSink, type OutputPump, pumpOutput } from './pump-output.js';
import { startCommand } from './start-command.js';
import { superviseCommand } from './supervise-command.js';
import { watchTree } from './watch-tree.js';
import { whenAborted } from './when-aborted.js';
import { within } from './within.js';

export interface CommandLaunch extends Pick<CommandRequest, 'shell' | 'command' | 'cwd' | 'env' | 'signal'> {
  readonly onOutput?: CommandRequest['onOutput'] | undefined;
  readonly stdout: ByteSink;
  readonly stderr: ByteSink;
  /** It does not keep this program alive: when the program ends, so does the command. */
  readonly inBackground?: boolean;
}

export interface LaunchedCommand {
  readonly pid: number;
  /** Resolves when it and everything it started has ended. Rejects with what `onOutput` threw, once all are dead. */
  readonly ended: Promise<CommandEnding>;
}

export interface CommandEnding extends ProcessEnd {
  /** It was ended by `signal`. */
  readonly aborted: boolean;
  readonly survivors: readonly number[];
}

/**
 * Starts a command and sees to its end: by itself, by `signal`, or with this program, however that ends (D059, D107).
 * @throws ToolError spawn_failed when it cannot be started.
 */
export async function launchCommand(launch: CommandLaunch): Promise<LaunchedCommand> {
  const mark = createCommandMark();
  const command = await startCommand(launch, mark).finally(mark.close);
  const tree = createCommandTree(command, mark);
  const endSupervision = superviseCommand(command, mark);
  const output = pumpOutput(
    {
      stdout: { source: command.stdout, sink: launch.stdout },
      stderr: { source: command.stderr, sink: launch.stderr },
    },
    launch.onOutput,
  );
  if (launch.inBackground === true) command.unref();
  const ended = seeToItsEnd(command, tree, output, launch).finally(() => {
    endSupervision();
    command.release();
  });
  return { pid: command.pid, ended };
}

async function seeToItsEnd(
  command: StartedProcess,
  tree: CommandTree,
  output: OutputPump,
  launch: CommandLaunch,
): Promise<CommandEnding> {
  const { end, aborted, failure } = await firstEnding(command, tree, output, launch);
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
  { signal, inBackground }: CommandLaunch,
): Promise<FirstEnding> {
  const abort = whenAborted(signal);
  const stopWatching = watchTree(tree, inBackground === true ? idleClock : systemClock);
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
