import type { CommandChanges } from '../contract/changes.js';
import type {
  CommandOutcome,
  CommandRequest,
  CommandSandbox,
  Confinement,
  StartedCommand,
} from '../contract/processes.js';
import type { ForbidsChange } from '../contract/programs.js';
import { systemClock } from '../platform/clock/clock.js';
import { describeErrno, errnoOf } from '../platform/fs/fs-entry.js';
import type { MachineLock } from '../platform/process/machine-lock.js';
import { readProcess } from '../platform/process/proc-table.js';
import {
  type CommandEnding,
  type CommandLaunch,
  type LaunchedCommand,
  type LeftOutside,
  launchCommand,
} from './launch-command.js';
import { takeCommitTurn } from './transaction/commit-turn.js';
import { NotCommitted } from './transaction/not-committed.js';
import { outermost } from './transaction/open-layers.js';
import type { Transaction } from './transaction/open-transaction.js';
import { TooMuch } from './transaction/scan-changes.js';

/** The owner of the changes, and the listeners for their result. */
export interface EndRequest
  extends Pick<
    CommandRequest,
    | 'onStarted'
    | 'onTransaction'
    | 'tool'
    | 'keepVersion'
    | 'agree'
    | 'deeds'
    | 'mayCreate'
    | 'needsTransaction'
    | 'keepsRest'
  > {
  readonly confinement?: Confinement | undefined;
  readonly forbids?: ForbidsChange | undefined;
  /** The text for the shell; left out for a program. */
  readonly command?: string;
  /** No other command may commit in the roots before this one has committed. */
  readonly hasTurn?: boolean;
}

/** The end of a command, and the result of its changes. */
export interface SettledEnd<E> {
  readonly ending: E;
  /** The sandbox could not be built; standard error says why. */
  readonly neverStarted: boolean;
  readonly settled: RecoveredChanges;
}

type RecoveredChanges = Pick<
  CommandOutcome,
  'changes' | 'discarded' | 'discardedBy' | 'reruns' | 'discardedWrites'
>;

/** The end of a command in a sandbox. */
export type SandboxedEnding = Omit<CommandEnding, 'neverStarted' | 'outside'> & {
  readonly sandbox: CommandSandbox;
};

/**
 * Runs a command or a program to its end, and commits its changes if they were kept apart. If other programs
 * changed the same paths meanwhile, the command has had no effect and runs again on the new state. It also
 * runs again if its git failed because another git was working.
 * @param open opens the parts of one run; called for each run
 * @throws ToolError `spawn_failed`, `sandbox_violation`; the error of `onOutput`, once everything is dead
 */
export async function runToItsEnd(
  request: EndRequest,
  open: () => Omit<CommandLaunch, 'isKeptApart'>,
): Promise<SettledEnd<SandboxedEnding>> {
  for (let reruns = 0, lastMs = 0; ; reruns++) {
    const launch = open();
    const isLast = reruns === MOST_RERUNS;
    const turn = isLast && lastMs < SHORT_MS ? await takeTurn(request) : undefined;
    try {
      const hasTurn = turn !== undefined;
      const { end, mayRunAgain, ranMs } = await runOnce({ ...request, hasTurn }, launch, isLast);
      lastMs = ranMs;
      if (!mayRunAgain || isLast || launch.signal.aborted)
        return reruns === 0 ? end : { ...end, settled: { ...end.settled, reruns } };
    } finally {
      turn?.release();
    }
  }
}

const MOST_RERUNS = 2;

/** For a command that takes less than this, others wait during its last run. */
const SHORT_MS = 5000;

/** Two conversations that constantly change the same paths then do not block each other forever. */
async function takeTurn({ confinement, agree }: EndRequest): Promise<MachineLock | undefined> {
  // Other commands must not wait while a person decides.
  if (confinement === undefined || agree !== undefined) return undefined;
  return takeCommitTurn(outermost(confinement.roots));
}

interface OneRun {
  readonly end: SettledEnd<SandboxedEnding>;
  /** Its changes were in conflict, and it had no other effect. */
  readonly mayRunAgain: boolean;
  /** From its start to its end, without the wait for other commits. */
  readonly ranMs: number;
}

async function runOnce(
  request: EndRequest,
  launch: Omit<CommandLaunch, 'isKeptApart'>,
  isLast: boolean,
): Promise<OneRun> {
  const isKeptApart = request.agree !== undefined || request.needsTransaction === true;
  const begunMs = systemClock.monotonic();
  const launched = await launchCommand({ ...launch, isKeptApart });
  const { transaction, sandbox } = launched;
  request.onStarted?.(identify(launched));
  if (transaction === undefined) {
    const { neverStarted, outside, ...ending } = await launched.ended;
    const settled = discardedWrites(outside);
    return { end: { ending: { sandbox, ...ending }, neverStarted, settled }, mayRunAgain: false, ranMs: 0 };
  }
  const { neverStarted, outside, ...ending } = await endOf(launched, transaction, request);
  const ranMs = systemClock.monotonic() - begunMs;
  const mayRerun = isRerunnable(request, launch);
  const mayBeGit = !ending.aborted && hasGitFailed(request, ending, ranMs);
  if (mayBeGit && mayRerun && !isLast && (await transaction.metAnotherGit?.()) === true) {
    const settled = drop(transaction, request, 'another git process was running at the same time');
    return { end: { ending: { sandbox, ...ending }, neverStarted, settled }, mayRunAgain: true, ranMs };
  }
  const { isLasting, ...outcome } = await endTransaction(transaction, request, {
    ...ending,
    outside,
    neverStarted,
  });
  // If nothing was kept, everything is reported as discarded.
  const settled = outcome.discarded === undefined ? { ...outcome, ...discardedWrites(outside) } : outcome;
  const mayRunAgain = mayRerun && settled.discardedBy === 'conflict' && !isLasting;
  return { end: { ending: { sandbox, ...ending }, neverStarted, settled }, mayRunAgain, ranMs };
}

/**
 * Whether its failure may be that of a git that could not work beside another one. A shell continues after a git that
 * failed, so the exit code may come from a later step. A long command is not run again for this reason.
 */
function hasGitFailed(
  { command }: EndRequest,
  { exitCode }: Pick<CommandEnding, 'exitCode'>,
  ranMs: number,
): boolean {
  if (exitCode === GIT_DIED) return true;
  return exitCode !== 0 && exitCode !== null && ranMs < SHORT_MS && /\bgit\b/.test(command ?? '');
}

/** Git's exit code for a fatal error. */
const GIT_DIED = 128;

function isRerunnable({ confinement }: EndRequest, { layers }: Pick<CommandLaunch, 'layers'>): boolean {
  const { network, transactions } = confinement ?? {};
  return layers === undefined && network === false && (transactions?.onConflict ?? 'rerun') === 'rerun';
}

function discardedWrites(outside: LeftOutside | undefined): Pick<CommandOutcome, 'discardedWrites'> {
  return outside?.writes === undefined ? {} : { discardedWrites: outside.writes };
}

async function endOf(
  { ended }: LaunchedCommand,
  transaction: Transaction,
  { onTransaction, confinement }: EndRequest,
): Promise<CommandEnding> {
  try {
    return await ended;
  } catch (error) {
    transaction.discard();
    const network = confinement?.network !== false;
    onTransaction?.({ state: 'discarded', directory: transaction.directory, network });
    throw error;
  }
}

export function identify({
  pid,
  startTicks = readProcess(pid)?.startTicks,
}: LaunchedCommand): StartedCommand {
  return startTicks === undefined ? { pid } : { pid, startTicks };
}

interface EndedInTransaction
  extends Pick<
    CommandEnding,
    'aborted' | 'survivors' | 'limit' | 'neverStarted' | 'exitCode' | 'signal' | 'sandbox'
  > {
  readonly outside: LeftOutside | undefined;
}

/** Commits the changes of a command that ended by itself, and discards those of a command that was ended. */
async function endTransaction(
  transaction: Transaction,
  request: EndRequest,
  ending: EndedInTransaction,
): Promise<RecoveredChanges & { readonly isLasting: boolean }> {
  const { directory } = transaction;
  const { exitCode } = ending;
  const network = request.confinement?.network !== false;
  const why = whyDiscarded(transaction, request, ending);
  const outsideBytes = ending.outside?.bytes ?? 0;
  const settled =
    why === undefined ? await commit(transaction, request, exitCode, outsideBytes) : { discarded: why };
  if (settled.discarded === undefined) {
    request.onTransaction?.({ state: 'committed', directory, network, exitCode });
    return { ...settled, isLasting: false };
  }
  return { isLasting: false, ...settled, ...drop(transaction, request, settled.discarded, settled.changes) };
}

function drop(
  transaction: Transaction,
  { onTransaction, confinement }: EndRequest,
  discarded: string,
  found?: CommandChanges,
): Pick<RecoveredChanges, 'discarded' | 'changes'> {
  const { directory } = transaction;
  const changes = found ?? (transaction.isUntouched() ? NO_CHANGES : undefined);
  transaction.discard();
  onTransaction?.({ state: 'discarded', directory, network: confinement?.network !== false });
  return { discarded, ...(changes === undefined ? {} : { changes }) };
}

/** Never rejects. */
async function commit(
  transaction: Transaction,
  { tool, keepVersion, agree, deeds, mayCreate, forbids, hasTurn, keepsRest }: EndRequest,
  exitCode: number | null,
  outsideBytes: number,
): Promise<RecoveredChanges & { readonly isLasting?: boolean }> {
  try {
    const changes = await transaction.commit({
      exitCode,
      outsideBytes,
      ...(tool === undefined ? {} : { tool }),
      ...(keepVersion === undefined ? {} : { keepVersion }),
      ...(agree === undefined ? {} : { agree }),
      ...(deeds === undefined ? {} : { deeds }),
      ...(mayCreate === undefined ? {} : { mayCreate }),
      ...(forbids === undefined ? {} : { forbids }),
      ...(keepsRest === true ? { keepsRest } : {}),
      ...(hasTurn === true ? { hasTurn } : {}),
    });
    return { changes };
  } catch (error) {
    if (error instanceof NotCommitted) {
      const { by, changes, message, isLasting } = error;
      return {
        discarded: message,
        discardedBy: by,
        isLasting,
        ...(changes === undefined ? {} : { changes }),
      };
    }
    if (error instanceof TooMuch) return { discarded: error.message };
    const errno = errnoOf(error);
    const said = error instanceof Error ? error.message : String(error);
    const why = errno === undefined ? said : `${describeErrno(errno)} (${errno})`;
    return { discarded: `its changes could not be committed: ${why}` };
  }
}

const NO_CHANGES: CommandChanges = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };

function whyDiscarded(
  transaction: Transaction,
  { confinement }: EndRequest,
  { aborted, survivors, limit, neverStarted, signal, outside, sandbox }: EndedInTransaction,
): string | undefined {
  if (neverStarted) return 'it was never started';
  if (survivors.length > 0) return 'some of its processes could not be ended';
  if (aborted && confinement?.transactions?.onTimeout !== 'keep') return 'it was stopped before its end';
  if (sandbox?.lost !== undefined) return 'a file that is hidden from it was moved while it ran';
  if (outside?.bytes === Number.POSITIVE_INFINITY) return 'it has created a path that is too long';
  if (limit?.limit === 'transactionMb') return `it has changed more than ${transaction.maxMb} MB`;
  if (signal === 'SIGKILL' && !aborted && limit === undefined) return KILLED;
  return undefined;
}

/**
 * The shell itself was killed. If a process inside it was killed, the shell exits with 137, which any program
 * may do.
 */
const KILLED = 'it was killed (SIGKILL), for lack of memory or from outside';
