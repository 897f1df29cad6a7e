import type { CommandRequest, CommandWall, LimitHit } from '../contract/processes.js';
import { idleClock, systemClock } from '../platform/clock.js';
import type { ProcessEnd } from '../platform/spawn.js';
import { type CommandMark, createCommandMark } from './command-mark.js';
import { type CommandTree, createCommandTree } from './command-tree.js';
import { drainOutput } from './drain-output.js';
import { killTree } from './kill-tree.js';
import { type ByteSink, type OutputPump, pumpOutput } from './pump-output.js';
import { type CommandStart, type StartedCommand, startCommand } from './start-command.js';
import { type Supervision, superviseCommand } from './supervise-command.js';
import { watchTree } from './watch-tree.js';
import { whenAborted } from './when-aborted.js';
import { within } from './within.js';

export interface CommandLaunch extends CommandStart, Pick<CommandRequest, 'signal'> {
  readonly onOutput?: CommandRequest['onOutput'] | undefined;
  readonly stdout: ByteSink;
  readonly stderr: ByteSink;
  /** It does not keep this program alive: when the program ends, so does the command. */
  readonly inBackground?: boolean;
}

export interface LaunchedCommand {
  readonly pid: number;
  readonly wall: CommandWall;
  /** When it started; undefined where nobody has looked yet. */
  readonly startTicks: number | undefined;
  /** Resolves when it and everything it started has ended. Rejects with what `onOutput` threw, once all are dead. */
  readonly ended: Promise<CommandEnding>;
}

export interface CommandEnding extends ProcessEnd {
  /** It was ended by `signal`. */
  readonly aborted: boolean;
  readonly survivors: readonly number[];
  readonly limit?: LimitHit;
  /** What should have stood around it could not be built: standard error says why. */
  readonly neverStarted: boolean;
}

/**
 * Starts a command and sees to its end: by itself, by `signal`, or with this program, however that ends (D059, D107).
 * @throws ToolError spawn_failed when it cannot be started.
 */
export async function launchCommand(launch: CommandLaunch): Promise<LaunchedCommand> {
  const mark = createCommandMark();
  const supervision = superviseCommand(mark);
  const started = await startMarked(launch, mark, supervision);
  const { process: command, wall } = started;
  supervision.started(command);
  const tree = createCommandTree(command, mark, wall.kind !== 'none');
  const output = pumpOutput(
    {
      stdout: { source: command.stdout, sink: launch.stdout },
      stderr: { source: command.stderr, sink: launch.stderr },
    },
    launch.onOutput,
  );
  if (launch.inBackground === true) command.unref();
  const ended = seeToItsEnd(started, tree, output, launch).finally(() => {
    supervision.end();
    command.release();
    started.close();
    mark.close();
  });
  return { pid: command.pid, startTicks: command.seen?.startTicks, wall, ended };
}

async function startMarked(
  launch: CommandLaunch,
  mark: CommandMark,
  supervision: Supervision,
): Promise<StartedCommand> {
  try {
    return await startCommand(launch, mark);
  } catch (error) {
    supervision.end();
    mark.close();
    throw error;
  }
}

async function seeToItsEnd(
  started: StartedCommand,
  tree: CommandTree,
  output: OutputPump,
  launch: CommandLaunch,
): Promise<CommandEnding> {
  const { process: command, read } = started;
  const { end, aborted, failure, limit } = await firstEnding(started, tree, output, launch);
  // What it left running may still be busy with its last output (`> >(tee log)`): read first, then kill.
  if (end !== undefined && !output.isEnded()) await drainOutput(output);
  const isAlone = end !== undefined && (read(end).tidied || !tree.mayHaveOthers());
  const survivors = isAlone ? [] : await killTree(tree);
  if (!output.isEnded()) await drainOutput(output);
  if (failure !== undefined) throw failure.error;
  const last = end ?? (await within(100, command.ended)) ?? { exitCode: null, signal: null };
  const { exitCode, signal, neverStarted } = read(last);
  const ending = { exitCode, signal, aborted, survivors, neverStarted: neverStarted && end !== undefined };
  return limit === undefined ? ending : { ...ending, limit };
}

interface FirstEnding {
  readonly end?: ProcessEnd;
  readonly aborted: boolean;
  readonly limit?: LimitHit;
  readonly failure?: { readonly error: unknown };
}

/** The one place where the ways to end race: by itself, by the caller, by too many processes, by a failing listener. */
async function firstEnding(
  { process: command, wall, told }: StartedCommand,
  tree: CommandTree,
  output: OutputPump,
  { signal, inBackground, limits }: CommandLaunch,
): Promise<FirstEnding> {
  const abort = whenAborted(signal);
  const max = limits?.processes ?? Number.POSITIVE_INFINITY;
  const most = max + (wall.kind === 'none' ? 0 : PROCESSES_OF_THE_WALL);
  const watch = watchTree(tree, inBackground === true ? idleClock : systemClock, most);
  try {
    return await Promise.race([
      Promise.race([command.ended, endOfOutput(output, told)]).then((end) => ({ end, aborted: false })),
      abort.happened.then(() => ({ aborted: true })),
      watch.tooMany.then(() => ({ aborted: false, limit: { limit: 'processes', max } as const })),
      output.failed.then((error) => ({ aborted: false, failure: { error } })),
    ]);
  } finally {
    watch.end();
    abort.forget();
  }
}

/** Where that tells how the process has ended: sooner than who has started it does. */
function endOfOutput(output: OutputPump, told: StartedCommand['told']): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    void output.ended.then(() => {
      const end = told();
      if (end !== undefined) resolve(end);
    });
  });
}

/** bubblewrap, and the shell that reports. */
const PROCESSES_OF_THE_WALL = 2;
