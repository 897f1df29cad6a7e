import type { ToolCall } from '../../contract/call.js';
import type { ApproveOptions, ExecutorMode, RunOptions } from '../../contract/executor.js';
import type { BatchDecision, CallRecord, Journal } from '../../contract/journal.js';
import { ToolError } from '../../errors/tool-error.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../../journal/redaction/left-out.js';
import { recordedCall } from '../call/calls.js';
import { requireApprovable } from '../call/run-options.js';
import { readAsked } from './ticket.js';

export interface DeferredBatch {
  readonly id: string;
  readonly conversation: string;
  /** Whether its deliveries attach: else its calls are calls of their own, as they were when it was put off. */
  readonly attach: boolean;
  /** In order; one that was delivered before is another batch's. */
  readonly calls: readonly CallRecord[];
}

export const LEFT_OUT_REMEDY =
  'Only the process that deferred it can run it, as long as that lives. To give it up: toolexec journal recover --discard, or decide().';

/**
 * A batch that waits for approval.
 * @param given its id, or a unique beginning of it
 * @throws ToolError `unknown_batch`, `already_decided`, `bad_args` when it waits for something else or for nothing,
 *   `journal_unavailable`.
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
  const attach = waiting.find((batch) => batch.id === id)?.attach ?? true;
  return { id, conversation, attach, calls };
}

/** A deferred batch as it is delivered once more. */
interface Resumed {
  readonly calls: readonly ToolCall[];
  readonly how: RunOptions;
  readonly known: DeferredBatch & Pick<ApproveOptions, 'shown'>;
}

/** @throws ToolError as `findDeferred`; `bad_args` or `tools_disabled` where an approval could run nothing */
export async function resumeDeferred(
  batchId: string,
  options: ApproveOptions,
  { journal, mode }: { readonly journal: Journal | null; readonly mode: ExecutorMode },
): Promise<Resumed> {
  requireApprovable(batchId, options, mode);
  const deferred = await findDeferred(journal, batchId);
  const { conversation, attach } = deferred;
  // A rerun has its own keys, even if it is approved. A call keeps the turn with which it was recorded.
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
 * A batch that waits for the person.
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
  // What waits has calls of its own.
  const own = calls.find((call) => call.batchId === id);
  if (last === undefined || own === undefined) {
    throw new ToolError('bad_args', `Cannot ${action} batch "${id}": it does not wait for the person.`);
  }
  if (last.kind !== 'wait') throw alreadyDecided(id, action, last);
  return { journal, id, conversation: own.conversation, calls, waitsFor: reasonToWait(last) };
}

/** Shorter beginnings name a batch only by chance. */
const LEAST_CHARACTERS = 8;
const MOST_NAMED = 5;

/**
 * The whole id of the batch with this id or, from 8 characters on, of the only one that begins so.
 * @throws ToolError `unknown_batch`: there is none, or there are several, which the message and `details.batches` name.
 */
export async function findBatchId(journal: Journal, given: string, action: string): Promise<string> {
  if (typeof given !== 'string') throw unknownBatch(String(given), action, 'an id is a text.');
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
  // A journal of the program's own may not know the filter.
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

/** For one who comes too late: the batch does not wait any more. */
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

/** What a batch waits for; undefined where it does not. */
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
