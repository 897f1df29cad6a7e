import type {
  CommandChanges,
  CommandOutcome,
  CommandRequest,
  KeptOutput,
  RunCommand,
  StartedCommand,
} from '../contract/processes.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { describeErrno, errnoOf } from '../platform/fs/fs-entry.js';
import { readProcess } from '../platform/process/proc-table.js';
import { explainEnd } from './explain-end.js';
import { createKeptBytes } from './kept-bytes.js';
import {
  type CommandEnding,
  type CommandLaunch,
  type LaunchedCommand,
  launchCommand,
} from './launch-command.js';
import { ChangesRefused } from './transaction/commit-transaction.js';
import type { Transaction } from './transaction/open-transaction.js';
import { mostBytes } from './transaction/watch-size.js';

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
    const { neverStarted, ...ended } = request.signal.aborted
      ? NOT_WANTED
      : await toItsEnd(request, {
          ...request,
          layers,
          isKeptApart: request.agree !== undefined,
          onOutput: onOutputOf(request),
          stdout,
          stderr,
        });
    const { transaction, ...ending } = ended;
    const settled =
      transaction === undefined
        ? {}
        : await settleTransaction(transaction, request, { ...ending, neverStarted });
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

const NOT_WANTED: CommandEnding & { readonly transaction?: Transaction } = {
  exitCode: null,
  signal: null,
  aborted: true,
  survivors: [],
  neverStarted: false,
};

async function toItsEnd(
  { onStarted, onTransaction, confinement }: CommandRequest,
  launch: CommandLaunch,
): Promise<CommandEnding & Pick<CommandOutcome, 'wall'> & { readonly transaction?: Transaction }> {
  const launched = await launchCommand(launch);
  const { transaction, wall } = launched;
  onStarted?.(identify(launched));
  if (transaction === undefined) return { wall, ...(await launched.ended) };
  const { directory } = transaction;
  const network = confinement?.network !== false;
  try {
    return { wall, ...(await launched.ended), transaction };
  } catch (error) {
    transaction.discard();
    onTransaction?.({ state: 'discarded', directory, network });
    throw error;
  }
}

/** Makes the changes of a command real that has come to its end, and drops those of one that was ended. */
async function settleTransaction(
  transaction: Transaction,
  request: CommandRequest,
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
      const { tool, keepVersion, agree } = request;
      changes = await transaction.commit({
        exitCode,
        ...(tool === undefined ? {} : { tool }),
        ...(keepVersion === undefined ? {} : { keepVersion }),
        ...(agree === undefined ? {} : { agree }),
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
  { confinement }: CommandRequest,
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
