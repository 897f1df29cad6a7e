import { showGiven } from '../../base/normalize-options.js';
import type { ToolCall } from '../../contract/call.js';
import type { ApproveOptions, ExecutorMode, RunOptions } from '../../contract/executor.js';
import type { BatchDecision, CallRecord, Journal, Placement } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../../journal/redaction/left-out.js';
import { recordedCall } from '../call/calls.js';
import { requireApprovable } from '../call/run-options.js';
import { readAsked } from './ticket.js';

export interface DeferredBatch {
  readonly id: string;
  readonly conversation: string;
  /**
   * Whether a repeated delivery of the batch attaches to its record. False: its calls are new calls, as they
   * were when the batch was deferred.
   */
  readonly attach: boolean;
  /** In order. A call that was delivered before belongs to the earlier batch. */
  readonly calls: readonly CallRecord[];
  /** Workers run its calls. */
  readonly placement?: Placement;
}

export const LEFT_OUT_REMEDY =
  'Only the process that deferred it can run it, while that process lives. To discard it: toolexec journal recover --discard, or decide().';

/**
 * Finds a batch that waits for approval.
 * @param given its id, or a unique beginning of it
 * @throws ToolError `unknown_batch`, `already_decided`, `bad_args` when the batch does not wait for approval,
 * `journal_unavailable`.
 */
export async function findDeferred(journal: Journal | null, given: string): Promise<DeferredBatch> {
  const found = await findWaiting(journal, given, 'approve');
  const { id, calls, conversation } = found;
  if (found.waitsFor === 'recovery') {
    const message = `Cannot approve batch "${id}": it was left half done. decide() resumes or discards it.`;
    throw new ToolError('bad_args', message);
  }
  if ((await readAsked(found.journal, id)) !== undefined) {
    const message = `Cannot approve batch "${id}": a program has asked about its call, and runs it. decide() takes the ticket that waiting() shows.`;
    throw new ToolError('bad_args', message);
  }
  const leftOut = calls.find((call) => call.result === undefined && hasLeftOut(call.args));
  if (leftOut !== undefined) {
    const message = `Cannot approve batch "${id}": of call "${leftOut.callId}" (${leftOut.toolName}) ${LEFT_OUT_OF_JOURNAL}. ${LEFT_OUT_REMEDY}`;
    throw new ToolError('bad_args', message, { details: { batchId: id, callId: leftOut.callId } });
  }
  const waiting = await found.journal.batches({ conversation, waiting: true });
  const { attach = true, placement } = waiting.find((batch) => batch.id === id) ?? {};
  return { id, conversation, attach, calls, ...(placement === undefined ? {} : { placement }) };
}

/** A deferred batch that is delivered again. */
interface Resumed {
  readonly calls: readonly ToolCall[];
  readonly how: RunOptions;
  readonly known: DeferredBatch & Pick<ApproveOptions, 'shown'>;
}

/**
 * @throws ToolError as `findDeferred`; `bad_args` or `tools_disabled` if an approval could not run anything
 */
export async function resumeDeferred(
  batchId: string,
  options: ApproveOptions,
  { journal, mode }: { readonly journal: Journal | null; readonly mode: ExecutorMode },
): Promise<Resumed> {
  requireApprovable(batchId, options, mode);
  const deferred = await findDeferred(journal, batchId);
  const { conversation, attach } = deferred;
  // A rerun keeps its own keys when it is approved. Each call keeps the turn with which it was recorded.
  const { shown, turn: _, ...rest } = options;
  return {
    calls: deferred.calls.map(recordedCall),
    how: { ...rest, conversation, again: !attach },
    known: shown === undefined ? deferred : { ...deferred, shown },
  };
}

export interface FoundBatch extends Omit<DeferredBatch, 'attach'> {
  readonly journal: Journal;
  readonly waitsFor: 'approval' | 'recovery';
}

/**
 * Finds a batch that waits for the person.
 * @param action for the message: `approve`, `resume`, `discard`
 * @throws ToolError `unknown_batch`, `already_decided`, `bad_args` when it never waited.
 */
export async function findWaiting(
  journal: Journal | null,
  given: string,
  action: string,
): Promise<FoundBatch> {
  if (journal === null) throw unknownBatch(given, action, 'nothing is recorded (journal: false).');
  const id = await findBatchId(journal, given, action);
  const decisions = await journal.decisions(id);
  const last = decisions.at(-1);
  const calls = await journal.batch(id);
  // A batch that waits has at least one call that belongs to it.
  const own = calls.find((call) => call.batchId === id);
  if (last === undefined || own === undefined) {
    throw new ToolError('bad_args', `Cannot ${action} batch "${id}": it does not wait for the person.`);
  }
  if (last.kind !== 'wait') throw alreadyDecided(id, action, last);
  return { journal, id, conversation: own.conversation, calls, waitsFor: reasonToWait(last) };
}

/** A shorter prefix would match a batch only by chance. */
const LEAST_CHARACTERS = 8;
const MOST_NAMED = 5;

/**
 * Returns the full id of the batch with this id, or of the only batch whose id begins with `given` (at least 8
 * characters).
 * @throws ToolError `unknown_batch` if there is no such batch, or several; the message and `details.batches`
 * name them.
 */
export async function findBatchId(journal: Journal, given: string, action: string): Promise<string> {
  if (typeof given !== 'string') throw unknownBatch(showGiven(given), action, 'an id is a text.');
  if ((await journal.batch(given)).length > 0) return given;
  const found = given.length < LEAST_CHARACTERS ? [] : await idsBeginningWith(journal, given);
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined) {
    const remedy = `the journal has no such batch. Give its id, or ${LEAST_CHARACTERS} characters or more of its beginning.`;
    throw unknownBatch(given, action, remedy);
  }
  const batches = found.slice(0, MOST_NAMED);
  const more = found.length > MOST_NAMED ? ', and more' : '';
  const why = `several batches begin with it: ${batches.join(', ')}${more}. Give more of the id.`;
  throw unknownBatch(given, action, why, batches);
}

async function idsBeginningWith(journal: Journal, prefix: string): Promise<readonly string[]> {
  const begins = ({ id }: { readonly id: string }): boolean => id.startsWith(prefix);
  const found = await journal.batches({ prefix, limit: MOST_NAMED + 1 });
  // A host program's journal may not support the filter.
  const matching = found.every(begins) ? found : (await journal.batches()).filter(begins);
  return matching.map(({ id }) => id);
}

function unknownBatch(
  given: string,
  action: string,
  why: string,
  batches: readonly string[] = [],
): ToolError {
  const shown = given.length > 80 ? `${given.slice(0, 80)}…` : given;
  return new ToolError('unknown_batch', `Cannot ${action} batch "${shown}": ${why}`, {
    details: { given: shown, batches: [...batches] },
  });
}

/** The error for a decision about a batch that no longer waits. */
export function alreadyDecided(batchId: string, action: string, decided?: BatchDecision): ToolError {
  const at = decided === undefined ? undefined : new Date(decided.at).toISOString();
  const since = at === undefined ? '' : `, on ${at}`;
  return new ToolError(
    'already_decided',
    `Cannot ${action} batch "${batchId}": it was decided already${since}.`,
    {
      details: { batchId, ...(decided === undefined ? {} : { decision: decided.kind, at }) },
    },
  );
}

/** The reason why a batch waits; undefined if it does not wait. */
export async function waitsFor(
  journal: Journal,
  batchId: string,
): Promise<FoundBatch['waitsFor'] | undefined> {
  const last = (await journal.decisions(batchId)).at(-1);
  return last?.kind === 'wait' ? reasonToWait(last) : undefined;
}

function reasonToWait({ data }: BatchDecision): FoundBatch['waitsFor'] {
  return data.why === 'approval' ? 'approval' : 'recovery';
}
