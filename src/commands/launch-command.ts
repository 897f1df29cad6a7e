import type { Clock } from '../contract/context.js';
import type {
  CommandRequest,
  CommandSandbox,
  DiscardedWrites,
  LimitHit,
  SandboxRefusal,
} from '../contract/processes.js';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { onTerminalResize } from '../platform/process/attached-terminal.js';
import type { ProcessEntry } from '../platform/process/proc-table.js';
import type { ProcessEnd } from '../platform/process/spawn.js';
import { type CommandMark, createCommandMark } from './command-mark.js';
import { type CommandTree, createCommandTree } from './command-tree.js';
import { takePrewarmed } from './prewarmed-sandbox.js';
import { type ByteSink, drainOutput, type OutputPump, pumpOutput } from './pump-output.js';
import { doubtTrials } from './sandbox/remembered-trials.js';
import { refusedAlone } from './sandbox/room-ledger.js';
import { type CommandStart, type StartedCommand, startCommand } from './start-command.js';
import { type Supervision, superviseCommand } from './supervise-command.js';
import type { Transaction } from './transaction/open-transaction.js';
import { watchBegun } from './transaction/watch-begun.js';
import { watchSize } from './transaction/watch-size.js';
import { type WatchedGuards, watchGuards } from './watch-guards.js';

export interface CommandLaunch extends CommandStart, Launch {}

/** How a process is run, whatever its program. */
export interface Launch extends Pick<CommandRequest, 'signal' | 'limits' | 'attached'> {
  readonly onOutput?: CommandRequest['onOutput'] | undefined;
  readonly stdout: ByteSink;
  readonly stderr: ByteSink;
  /** It does not keep this program alive, and ends with it. */
  readonly inBackground?: boolean;
}

export interface LaunchedCommand {
  readonly pid: number;
  readonly sandbox: CommandSandbox;
  /** The start of the process; undefined if it has not been looked up. */
  readonly startTicks: number | undefined;
  /** Its changes. If absent: it writes through. */
  readonly transaction?: Transaction;
  /**
   * Resolves when the process and everything it started have ended. Rejects with the error of `onOutput`,
   * once all are dead.
   */
  readonly ended: Promise<CommandEnding>;
}

export interface CommandEnding extends ProcessEnd {
  /** `signal` ended it. */
  readonly aborted: boolean;
  readonly survivors: readonly number[];
  readonly limit?: LimitHit;
  /** The sandbox could not be built; standard error says why. */
  readonly neverStarted: boolean;
  /** The sandbox's refusals, as far as the kernel reports them. */
  readonly refused: readonly SandboxRefusal[];
  /** If absent: unchanged since the start. */
  readonly sandbox?: CommandSandbox;
  /** Files that it left outside the roots. If absent: such files last, or they were not examined. */
  readonly outside?: LeftOutside;
}

export interface LeftOutside {
  /** The size on the disk; Infinity if a path is too long to be examined. */
  readonly bytes: number;
  readonly writes?: DiscardedWrites;
  /** It looked up a path that is neither there nor in the roots. */
  readonly isBeyond: boolean;
}

const BEYOND = ['hidden_file'] as const;

/**
 * Starts a command and supervises it until it ends, is ended by `signal`, or ends together with this program,
 * however that ends (D059, D107).
 * @throws ToolError `spawn_failed` if it cannot be started
 */
export function launchCommand(launch: CommandLaunch): Promise<LaunchedCommand> {
  const { confinement, inBackground, layers, writesThrough } = launch;
  const isTransaction = inBackground !== true;
  const isOwn =
    confinement !== undefined &&
    isTransaction &&
    layers === undefined &&
    writesThrough !== true &&
    launch.attached === undefined;
  const prewarmed = isOwn ? takePrewarmed(confinement, launch) : undefined;
  return launchProcess(
    launch,
    (mark) => startCommand({ ...launch, isTransaction }, mark, prewarmed).finally(() => prewarmed?.leave()),
    prewarmed?.mark,
  );
}

/**
 * The same for any process. @param start starts it, with the mark by which it and its descendants are found
 */
export async function launchProcess(
  launch: Launch,
  start: StartMarked,
  mark: CommandMark = createCommandMark(),
): Promise<LaunchedCommand> {
  const supervision = superviseCommand(mark);
  const started = await startMarked(start, mark, supervision);
  const { process: command, sandbox } = started;
  supervision.started(command);
  const tree = createCommandTree(command, mark, sandbox.kind !== 'none');
  const output = pumpOutput(
    {
      stdout: { source: command.stdout, sink: launch.stdout },
      stderr: { source: command.stderr, sink: launch.stderr },
    },
    launch.onOutput,
  );
  if (launch.inBackground === true) command.unref();
  const guards = watchGuards(started.watch, launch.inBackground === true);
  const resizing = launch.attached?.kind === 'terminal' ? onTerminalResize(tree.resized) : undefined;
  const ended = seeToItsEnd(started, tree, output, launch, guards).finally(() => {
    guards.end();
    resizing?.();
    supervision.end();
    command.release();
    started.leave();
    started.close();
    started.transaction?.release();
    mark.close();
  });
  const { transaction } = started;
  const startTicks = command.seen?.startTicks;
  return {
    pid: command.pid,
    startTicks,
    sandbox,
    ended,
    ...(transaction === undefined ? {} : { transaction }),
  };
}

type StartMarked = (mark: CommandMark) => Promise<StartedCommand>;

async function startMarked(
  start: StartMarked,
  mark: CommandMark,
  supervision: Supervision,
): Promise<StartedCommand> {
  try {
    return await start(mark);
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
  launch: Launch,
  guards: WatchedGuards,
): Promise<CommandEnding> {
  const { process: command, read, sandbox } = started;
  const { end, aborted, isAtOnce, failure, limit } = await firstEnding(started, tree, output, launch, guards);
  if (isAtOnce === true) tree.signal(tree.find(), 'SIGKILL');
  // Processes that the command left running may still write its last output (`> >(tee log)`): read first,
  // then kill.
  if (end !== undefined && !output.isEnded()) await drainOutput(output);
  const isAlone = end !== undefined && (read(end).tidied || !tree.mayHaveOthers());
  const survivors = isAlone ? [] : await killTree(tree);
  if (!output.isEnded()) await drainOutput(output);
  if (failure !== undefined) throw failure.error;
  const last = end ?? (await within(100, command.ended)) ?? { exitCode: null, signal: null };
  const { exitCode, signal, neverStarted, counts } = read(last);
  const hasFailed = neverStarted && end !== undefined;
  if (hasFailed) doubtTrials();
  const report = guards.report();
  const outside = survivors.length > 0 ? undefined : await leftOutside(started);
  const ending = {
    refused: [...started.leave(), ...refusedAlone(counts), ...(outside?.isBeyond === true ? BEYOND : [])],
    ...{ exitCode, signal, aborted, survivors, neverStarted: hasFailed },
    ...(outside === undefined ? {} : { outside }),
    ...(Object.keys(report).length === 0 ? {} : { sandbox: { ...sandbox, ...report } }),
  };
  return limit === undefined ? ending : { ...ending, limit };
}

async function leftOutside({ outside }: StartedCommand): Promise<LeftOutside | undefined> {
  if (outside === undefined) return undefined;
  const [bytes, writes] = [outside.bytes('ended'), await outside.list()];
  const isBeyond = outside.isLookedBeyond();
  return writes === undefined ? { bytes, isBeyond } : { bytes, writes, isBeyond };
}

interface FirstEnding {
  readonly end?: ProcessEnd;
  readonly aborted: boolean;
  /** Without a grace period, during which the command could continue to read protected content. */
  readonly isAtOnce?: boolean;
  readonly limit?: LimitHit;
  readonly failure?: { readonly error: unknown };
}

/**
 * The only place where the possible endings compete: the command itself, the caller, too many processes, a
 * lost guard, and a failing listener.
 */
async function firstEnding(
  { process: command, sandbox, exitStatus, transaction, outside }: StartedCommand,
  tree: CommandTree,
  output: OutputPump,
  { signal, inBackground, limits }: Launch,
  guards: WatchedGuards,
): Promise<FirstEnding> {
  const abort = whenAborted(signal);
  const max = limits?.processes ?? Number.POSITIVE_INFINITY;
  const most = max + (sandbox.kind === 'none' ? Number(sandbox.unheld !== true) : PROCESSES_OF_THE_SANDBOX);
  const watch = watchTree(tree, inBackground === true ? idleClock : systemClock, most);
  const size = watchSize(transaction, outside);
  const begun = watchBegun(transaction?.watched);
  try {
    return await Promise.race([
      Promise.race([command.ended, endOfOutput(output, exitStatus)]).then((end) => ({ end, aborted: false })),
      abort.happened.then(() => ({ aborted: true })),
      watch.tooMany.then(() => ({ aborted: false, limit: { limit: 'processes', max } as const })),
      size.tooLarge.then((maxMb) => ({
        aborted: false,
        limit: { limit: 'transactionMb', max: maxMb } as const,
      })),
      guards.lost.then(() => ({ aborted: false, isAtOnce: true })),
      output.failed.then((error) => ({ aborted: false, failure: { error } })),
    ]);
  } finally {
    watch.end();
    size.end();
    begun.end();
    abort.forget();
  }
}

/** Resolves when the output has ended, with the end of the process, which is known before the process exits. */
function endOfOutput(output: OutputPump, exitStatus: StartedCommand['exitStatus']): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    void output.ended.then(() => {
      const end = exitStatus();
      if (end !== undefined) resolve(end);
    });
  });
}

/** bubblewrap, and the shell that reports. */
const PROCESSES_OF_THE_SANDBOX = 2;

/** The value of `promise`, or undefined if it takes longer than `limitMs`. */
function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  let stop = () => {};
  const late = new Promise<undefined>((resolve) => {
    stop = systemClock.after(limitMs, () => resolve(undefined));
  });
  return Promise.race([promise, late]).finally(() => stop());
}

/** `happened` resolves when the signal aborts; `forget` removes the listener. */
function whenAborted(signal: AbortSignal): { happened: Promise<void>; forget(): void } {
  let forget = () => {};
  const happened = new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    const listener = () => resolve();
    signal.addEventListener('abort', listener, { once: true });
    forget = () => signal.removeEventListener('abort', listener);
  });
  return { happened, forget };
}

interface TreeWatch {
  /** Resolves when there are more processes than allowed. */
  readonly tooMany: Promise<void>;
  end(): void;
}

/**
 * Remembers the command's descendants at growing intervals, and at shorter ones if their number is limited.
 */
function watchTree(tree: CommandTree, clock: Clock, most = Number.POSITIVE_INFINITY): TreeWatch {
  const longestPauseMs = Number.isFinite(most) ? 200 : 500;
  let pauseMs = 10;
  let stop = clock.after(pauseMs, look);
  let tell: () => void = () => {};
  const tooMany = new Promise<void>((resolve) => {
    tell = resolve;
  });
  function look(): void {
    tree.remember();
    if (tree.count() > most) {
      tell();
      return;
    }
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    stop = clock.after(pauseMs, look);
  }
  return { tooMany, end: () => stop() };
}

interface KillTimes {
  /** The time for cleaning up after TERM. */
  readonly graceMs: number;
  /** After this time, KILL included, the remaining processes are given up. */
  readonly limitMs: number;
}

/**
 * Ends everything that a command started: TERM, a grace period, then KILL until a search finds nothing
 * (D059). Resolves with the process ids that could not be killed, usually none. Never rejects.
 */
async function killTree(
  tree: CommandTree,
  { graceMs, limitMs }: KillTimes = { graceMs: 200, limitMs: 700 },
): Promise<number[]> {
  const start = systemClock.monotonic();
  let members = tree.find();
  tree.signal(members, 'SIGTERM');
  // A stopped process handles TERM only after it was continued.
  tree.signal(members, 'SIGCONT');
  let kills = 0;
  for (let pauseMs = 5; members.length > 0; pauseMs = Math.min(2 * pauseMs, 40)) {
    await sleep(kills > 0 ? AFTER_KILL_MS : pauseMs);
    members = tree.recheck(members);
    // A search of all processes confirms that none is left.
    if (members.length === 0) members = tree.find();
    const elapsedMs = systemClock.monotonic() - start;
    // On a very busy machine, no process is given up before KILL had time to work.
    if (kills >= FEWEST_KILLS && elapsedMs > limitMs) break;
    if (elapsedMs > graceMs) {
      killFaster(tree, members);
      kills++;
    }
  }
  return members.map(({ pid }) => pid);
}

const AFTER_KILL_MS = 5;
const FEWEST_KILLS = 10;

/** KILL for all, and without a pause for newly started ones: a tree that flees forks once a millisecond. */
function killFaster(tree: CommandTree, members: readonly ProcessEntry[]): void {
  const start = systemClock.monotonic();
  let found = members;
  for (let quietLooks = 0; quietLooks < 3; quietLooks = found.length > 0 ? 0 : quietLooks + 1) {
    tree.signal(found, 'SIGKILL');
    if (systemClock.monotonic() - start > BURST_MS) break;
    found = tree.findNew();
  }
}

/** The maximum time for which the event loop is blocked. */
const BURST_MS = 30;

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => systemClock.after(delayMs, resolve));
}
