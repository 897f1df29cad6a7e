import type {
  CommandChanges,
  CommandOutcome,
  CommandRequest,
  CommandSandbox,
  Confinement,
  StartedCommand,
} from '../contract/processes.js';
import type { ForbidsChange } from '../contract/programs.js';
import { describeErrno, errnoOf } from '../platform/fs/fs-entry.js';
import { readProcess } from '../platform/process/proc-table.js';
import {
  type CommandEnding,
  type CommandLaunch,
  type LaunchedCommand,
  launchCommand,
} from './launch-command.js';
import { ChangesRefused } from './transaction/commit-transaction.js';
import type { Transaction } from './transaction/open-transaction.js';
import { mostBytes } from './transaction/watch-size.js';

/** Whose changes they are, and who is told what becomes of them. */
export interface EndRequest
  extends Pick<CommandRequest, 'onStarted' | 'onTransaction' | 'tool' | 'keepVersion' | 'agree'> {
  readonly confinement?: Confinement | undefined;
  readonly forbids?: ForbidsChange | undefined;
}

/** What came of a command, and of its changes. */
export interface SettledEnd<E> {
  readonly ending: E;
  /** What should have stood around it could not be built: standard error says why. */
  readonly neverStarted: boolean;
  readonly settled: Pick<CommandOutcome, 'changes' | 'discarded' | 'isRefused'>;
}

/** A command that has come to its end, with what stood around it. */
export type WalledEnding = Omit<CommandEnding, 'neverStarted'> & { readonly wall: CommandSandbox };

/**
 * Runs a command, or a program, to its end, and makes what it has changed real where that was kept apart and may be.
 * @throws ToolError spawn_failed, sandbox_violation; what `onOutput` threw, once everything is dead
 */
export async function runToItsEnd(
  request: EndRequest,
  launch: Omit<CommandLaunch, 'isKeptApart'>,
): Promise<SettledEnd<WalledEnding>> {
  const launched = await launchCommand({ ...launch, isKeptApart: request.agree !== undefined });
  const { transaction, wall } = launched;
  request.onStarted?.(identify(launched));
  if (transaction === undefined) {
    const { neverStarted, ...ending } = await launched.ended;
    return { ending: { wall, ...ending }, neverStarted, settled: {} };
  }
  const { neverStarted, ...ending } = await endOf(launched, transaction, request);
  const settled = await settleTransaction(transaction, request, { ...ending, neverStarted });
  return { ending: { wall, ...ending }, neverStarted, settled };
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

/** Makes the changes of a command real that has come to its end, and drops those of one that was ended. */
async function settleTransaction(
  transaction: Transaction,
  request: EndRequest,
  ending: Pick<CommandEnding, 'aborted' | 'survivors' | 'limit' | 'neverStarted' | 'exitCode'>,
): Promise<Pick<CommandOutcome, 'changes' | 'discarded' | 'isRefused'>> {
  const { directory } = transaction;
  const { exitCode } = ending;
  const { onTransaction, confinement } = request;
  const network = confinement?.network !== false;
  let discarded = whyDiscarded(transaction, request, ending);
  let changes: CommandChanges | undefined;
  let isRefused = false;
  if (discarded === undefined) {
    try {
      const { tool, keepVersion, agree, forbids } = request;
      changes = await transaction.commit({
        exitCode,
        ...(tool === undefined ? {} : { tool }),
        ...(keepVersion === undefined ? {} : { keepVersion }),
        ...(agree === undefined ? {} : { agree }),
        ...(forbids === undefined ? {} : { forbids }),
      });
    } catch (error) {
      isRefused = error instanceof ChangesRefused;
      const errno = errnoOf(error);
      const said = error instanceof Error ? error.message : String(error);
      const why = errno === undefined ? said : `${describeErrno(errno)} (${errno})`;
      discarded = isRefused ? why : `its changes could not be made: ${why}`;
    }
  }
  const isDiscarded = changes === undefined;
  if (isDiscarded) {
    if (transaction.isUntouched()) changes = NO_CHANGES;
    transaction.discard();
  }
  onTransaction?.(
    isDiscarded
      ? { state: 'discarded', directory, network }
      : { state: 'committed', directory, network, exitCode },
  );
  return {
    ...(changes === undefined ? {} : { changes }),
    ...(discarded === undefined ? {} : { discarded }),
    ...(isRefused ? { isRefused } : {}),
  };
}

const NO_CHANGES: CommandChanges = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };

function whyDiscarded(
  transaction: Transaction,
  { confinement }: EndRequest,
  {
    aborted,
    survivors,
    limit,
    neverStarted,
  }: Pick<CommandEnding, 'aborted' | 'survivors' | 'limit' | 'neverStarted'>,
): string | undefined {
  if (neverStarted) return 'it was never started';
  if (survivors.length > 0) return 'some of its processes could not be ended';
  if (aborted && confinement?.transactions?.onTimeout !== 'keep') return 'it was stopped before its end';
  const size = transaction.size('ended');
  if (size === Number.POSITIVE_INFINITY) return 'it has made a path that is too long';
  if (limit?.limit === 'transactionMb' || size > mostBytes(transaction)) {
    return `it has changed more than ${transaction.maxMb} MB`;
  }
  return undefined;
}
