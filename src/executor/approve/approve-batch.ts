import type { ShownFile } from '../../contract/approval.js';
import type { RunOptions } from '../../contract/executor.js';
import type { Acceptance, CallKey, CallRecord } from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { hashArguments } from '../../schema/freeze-arguments.js';
import { pending, refuseReady } from '../answer/refuse-ready.js';
import { reasonOf } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { EvaluatedCall, ReadyCall } from '../call/evaluated-call.js';
import type { CallScope } from '../call/unhandled-errors.js';
import { replanner } from '../plan/plan-batch.js';
import { attachToRecord } from '../record/attach.js';
import { recordShown } from '../record/conversation-memories.js';
import { withOrigins } from '../record/conversation-origins.js';
import type { Recorder } from '../record/recorder.js';
import { announce, announceNow, permissionNeeded } from './announce.js';
import { answerByHook, type HookQuestion } from './answer-by-hook.js';
import { type ApprovedCall, type AskedCall, askApproval, askedAgain, BY_HOST } from './ask-approval.js';
import { changedPaths, type Snapshot, takeSnapshot } from './shown-files.js';
import { askTicketAgain } from './ticket.js';

export interface ApprovalParts {
  readonly scope: BatchScope;
  readonly options: RunOptions;
  readonly recorder: Recorder | undefined;
  /** The planned calls, in order. */
  readonly evaluated: readonly EvaluatedCall[];
  /** Indexes of the calls that need approval. */
  readonly waiting: readonly number[];
  readonly signal: AbortSignal;
  readonly inner: CallScope;
}

/**
 * The approver to ask. Null is consent in advance: the host program has decided that no question is asked.
 */
export function approverOf(options: RunOptions, { settings }: BatchScope): RunOptions['approver'] {
  return options.approver === undefined ? settings.approver : options.approver;
}

/**
 * Asks once about a whole batch before any of its calls runs. With `defer`, the calls that need approval wait
 * and the other calls of the batch run.
 */
export async function approveBatch(parts: ApprovalParts): Promise<EvaluatedCall[]> {
  const { scope, options, recorder, evaluated, waiting } = parts;
  const after = [...evaluated];
  const approver = approverOf(options, scope);
  if (approver === null && scope.taken !== undefined && recorder !== undefined)
    return askChanged(parts, recorder);
  const isUnasked = options.defer === 'unasked' && approver === undefined;
  if ((options.defer === true || isUnasked) && recorder !== undefined) {
    const isAskedLater = isUnasked && typeof scope.settings.lateApprover === 'function';
    const putOff = isAskedLater ? await askedBefore(parts, after) : waiting;
    if (putOff.length > 0) await defer(putOff, parts, recorder);
    for (const index of putOff) after[index] = pending(ready(evaluated, index), scope.id);
    return after;
  }
  // A command that changes nothing needs no approval, and this is known only at its end: such calls are asked about
  // later.
  const open = approver === null ? waiting : await askedBefore(parts, after);
  const before = await answeredByHooks(open, parts, after);
  if (before.length === 0) return after;
  if (approver === undefined || approver === null) {
    for (const index of before) after[index] = unasked(ready(evaluated, index));
    return after;
  }
  // The calls have no process: if this one dies, they keep waiting for the person.
  const held = scope.placement === undefined ? undefined : recorder;
  if (held !== undefined) await defer(before, parts, held);
  const asked = await Promise.all(before.map((index) => withSnapshot(ready(evaluated, index), scope)));
  const answers = await announce(announcementOf(asked, scope), () => ask(asked, approver, parts));
  for (const [place, answer] of answers.entries()) after[before[place] as number] = answer.evaluated;
  const decision = held === undefined ? {} : { decision: scope.settings.createId() };
  noteAnswers(answers, before, recorder, decision);
  if (held !== undefined && !(await held.decide('resume', decision)))
    return decidedElsewhere(evaluated, parts);
  return after;
}

/**
 * A worker has consent to calls of another process. If a call's files have changed since they were shown, it waits for
 * the person again. Changed arguments were not shown with their files, so there is nothing to compare.
 */
async function askChanged(parts: ApprovalParts, recorder: Recorder): Promise<EvaluatedCall[]> {
  const { scope, evaluated, waiting } = parts;
  const after = [...evaluated];
  for (const index of waiting) {
    const call = ready(evaluated, index);
    const key = recorder.key(index);
    const notes = (await scope.settings.journal?.notes(key)) ?? [];
    const isEdited = hashArguments(call.call.args) !== hashArguments(scope.taken?.record.args ?? {});
    if (isEdited || !notes.some(({ kind }) => kind === 'asked')) continue;
    const { changed } = await snapshotSince(call, key, scope);
    if (changed.length === 0) continue;
    await defer([index], parts, recorder);
    after[index] = pending(call, scope.id, changed);
  }
  return after;
}

/**
 * Returns the waiting calls that must be asked about now. The other calls run first and are asked about when
 * their commands have ended.
 */
async function askedBefore(
  { waiting, evaluated, scope }: ApprovalParts,
  after: EvaluatedCall[],
): Promise<readonly number[]> {
  const isLate = (index: number): boolean =>
    ready(evaluated, index).mayAskAfter && scope.placement === undefined;
  if (!waiting.some(isLate) || !(await scope.settings.canKeepApart())) return waiting;
  for (const index of waiting) if (isLate(index)) after[index] = ready(evaluated, index).askingAfter();
  return waiting.filter((index) => !isLate(index));
}

/** Lets hooks answer in the person's place. @returns the calls that are still open */
async function answeredByHooks(
  open: readonly number[],
  parts: ApprovalParts,
  after: EvaluatedCall[],
): Promise<readonly number[]> {
  const { scope, recorder, evaluated, signal } = parts;
  if (scope.settings.hooks.permission === undefined) return open;
  const question: HookQuestion = {
    ...{ scope, signal },
    ask: async (asked, approver) => (await ask([asked], approver, parts))[0] as ApprovedCall,
  };
  const answered = await Promise.all(
    open.map(async (index) => {
      const asked = await withSnapshot(ready(evaluated, index), scope);
      const answer = await answerByHook(asked, question);
      return answer === undefined ? [] : [{ index, answer }];
    }),
  );
  const decided = answered.flat();
  for (const { index, answer } of decided) after[index] = answer.evaluated;
  noteAnswers(
    decided.map(({ answer }) => answer),
    decided.map(({ index }) => index),
    recorder,
  );
  return open.filter((index) => !decided.some((one) => one.index === index));
}

function announcementOf(asked: readonly AskedCall[], { settings, conversation }: BatchScope) {
  const message = permissionNeeded(asked.map(({ ready: { summary } }) => summary));
  return { settings, conversation, type: 'permission_prompt', message } as const;
}

/** Records the shown content before the batch waits, because later consent is bound to it. */
async function defer(
  indexes: readonly number[],
  { scope, evaluated }: ApprovalParts,
  recorder: Recorder,
): Promise<void> {
  const all = await Promise.all(indexes.map((index) => withSnapshot(ready(evaluated, index), scope)));
  for (const [place, asked] of all.entries())
    recorder.note(indexes[place] as number, asked.ready.call.id, 'asked', askedNote(asked));
  await recorder.decide('wait');
  announceNow(announcementOf(all, scope));
}

/** The shown content of a request, for the journal. Consent is bound to it. */
export function askedNote({ ready, snapshot }: AskedCall): JsonObject {
  const { risk, containment } = ready;
  const shown = snapshot.shown.map(({ path, hash }) => ({ path, hash }));
  return { risk, containment: { ...containment }, shown, places: [...snapshot.places] };
}

/**
 * Continues a deferred batch: plans its calls again, asks about them, and takes the batch over once they are
 * decided. A call that already has an answer keeps it. The batch keeps waiting if the question stays open,
 * or if a call differs from the shown one and there is no approver.
 */
export async function approveDeferred(
  parts: ApprovalParts & { readonly recorder: Recorder },
  records: readonly CallRecord[],
): Promise<EvaluatedCall[]> {
  const { scope, options, recorder, signal } = parts;
  recorder.adopt(records);
  const evaluated = parts.evaluated.map((call, index) => asRecorded(call, records[index], scope.id));
  const open = evaluated.flatMap((call, index) => (call.kind === 'ready' ? [index] : []));
  const asked = await Promise.all(open.map((index) => askedSince(ready(evaluated, index), index, parts)));
  const approver = approverOf(options, scope);
  const goOnWaiting = (method?: 'decide'): EvaluatedCall[] => {
    // A call that the current rules refuse keeps its record unchanged.
    const after: EvaluatedCall[] = evaluated.map((call) =>
      call.kind === 'resolved' ? { ...call, recorded: true } : call,
    );
    for (const [place, { changed }] of asked.entries()) {
      const index = open[place] as number;
      after[index] = pending(ready(evaluated, index), scope.id, changed, method);
    }
    return after;
  };
  const isChanged = asked.some(({ changed }) => changed.length > 0);
  if (approver === undefined || (approver === null && isChanged)) return goOnWaiting();
  const after = [...evaluated];
  for (const [place, { call }] of asked.entries()) after[open[place] as number] = call.ready;
  const needed = open.filter(
    (_, place) => approver !== null && asked[place]?.call.ready.needsApproval === true,
  );
  const questions = needed.map((index) => (asked[open.indexOf(index)] as (typeof asked)[number]).call);
  const answers = approver === null ? [] : await ask(questions, approver, parts);
  // If the person leaves the question open, there is no decision.
  if (signal.aborted || answers.some(isUnanswered)) {
    const [since] = asked;
    const hasChanged = since !== undefined && isChanged && !signal.aborted;
    const isTicket = hasChanged && (await askTicketAgain(scope, askedNote(since.call), since.changed));
    return goOnWaiting(isTicket ? 'decide' : undefined);
  }
  for (const [place, answer] of answers.entries()) after[needed[place] as number] = answer.evaluated;
  let isOurs: boolean;
  try {
    // Workers start no call without its approval, so that is recorded first.
    const isPlaced = scope.placement !== undefined;
    const decision = isPlaced ? { decision: scope.settings.createId() } : {};
    if (isPlaced) noteAnswers(answers, needed, recorder, decision);
    if (isPlaced && approver === null)
      for (const index of open)
        recorder.note(index, ready(after, index).call.id, 'approval', {
          approved: true,
          by: BY_HOST,
          ...decision,
        });
    const worker = isPlaced ? {} : { worker: { ...scope.settings.worker } };
    isOurs = await recorder.decide('resume', { ...worker, ...decision });
  } catch (error) {
    // It is unknown whether this process took the batch over. Record nothing for the batch here: the process that owns
    // it records its calls.
    scope.settings.logger.error({ batch: scope.id, why: reasonOf(error) }, 'a batch could not be taken over');
    return goOnWaiting();
  }
  if (!isOurs) return decidedElsewhere(evaluated, parts);
  if (scope.placement === undefined) noteAnswers(answers, needed, recorder);
  return after;
}

/** Another decision came first. The calls get their answers from that decision. */
async function decidedElsewhere(
  evaluated: readonly EvaluatedCall[],
  parts: ApprovalParts,
): Promise<EvaluatedCall[]> {
  const { scope, recorder } = parts;
  const records = (await scope.settings.journal?.batch(scope.id)) ?? [];
  const known = records.map((record) => ({ kind: 'known', key: record.key, record }) as const);
  const current: readonly Acceptance[] = (await recorder?.others.await(known)) ?? known;
  return evaluated.map((call, index) =>
    call.kind === 'ready' ? attachToRecord(call, current[index]) : call,
  );
}

function asRecorded(call: EvaluatedCall, record: CallRecord | undefined, batchId: string): EvaluatedCall {
  if (record === undefined) return call;
  // Either another batch delivered this call first, or the call runs right now while other calls of its batch
  // wait.
  if (record.batchId !== batchId || (record.result === undefined && !waits(record))) {
    return attachToRecord(call, { kind: 'known', key: record.key, record });
  }
  if (record.result === undefined) return call;
  const { result, reason } = record;
  return { kind: 'resolved', call: call.call, result, reason, effects: call.effects, recorded: true };
}

function waits({ state, disposition }: CallRecord): boolean {
  return state === 'queued' && disposition === 'requires_confirmation';
}

/** A call for a new question, and its files that differ from the shown ones. */
interface SinceShown {
  readonly call: AskedCall;
  readonly changed: readonly string[];
}

/**
 * Prepares a deferred call for a new question, and lists its files that have changed since they were shown.
 */
async function askedSince(
  planned: ReadyCall,
  index: number,
  { scope, recorder }: ApprovalParts,
): Promise<SinceShown> {
  if (recorder === undefined) return { call: await withSnapshot(planned, scope), changed: [] };
  const { asked: call, changed } = await snapshotSince(planned, recorder.key(index), scope);
  return { call, changed };
}

/** Prepares a recorded call for a new question, and lists the files that differ from the shown ones. */
export async function snapshotSince(
  planned: ReadyCall,
  key: CallKey,
  scope: Pick<BatchScope, 'settings' | 'deferred'>,
): Promise<{ readonly asked: AskedCall; readonly changed: readonly string[] }> {
  const { ready: call, snapshot } = await withSnapshot(planned, scope);
  const notes = await scope.settings.journal?.notes(key);
  const recorded = notes?.findLast(({ kind }) => kind === 'asked')?.data;
  const before = readSnapshot(recorded, scope.deferred?.shown);
  const changed = before === undefined ? [] : changedPaths(before, snapshot);
  return {
    asked: changed.length === 0 ? { ready: call, snapshot } : askedAgain(call, snapshot, changed),
    changed,
  };
}

/**
 * Reads the recorded snapshot. If the caller states which content the person saw, that content replaces the
 * recorded one. Undefined: there is no record.
 */
function readSnapshot(
  recorded: Readonly<Record<string, JsonValue>> | undefined,
  seen: readonly ShownFile[] | undefined,
): Snapshot | undefined {
  if (recorded === undefined) return undefined;
  const shown = new Map(readShown(recorded.shown).map(({ path, hash }) => [path, hash]));
  const places = readTexts(recorded.places);
  for (const { path, hash } of seen ?? []) if (places.includes(path)) shown.set(path, hash.toLowerCase());
  return { shown: [...shown].map(([path, hash]) => ({ path, hash })), places };
}

function readShown(value: JsonValue | undefined): readonly ShownFile[] {
  const files = Array.isArray(value) ? value : [];
  return files.flatMap((file) => {
    if (typeof file !== 'object' || file === null || Array.isArray(file)) return [];
    const { path, hash } = file as Readonly<Record<string, JsonValue>>;
    return typeof path === 'string' && typeof hash === 'string' ? [{ path, hash }] : [];
  });
}

function readTexts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

export async function withSnapshot(
  call: ReadyCall,
  { settings }: Pick<BatchScope, 'settings'>,
): Promise<AskedCall> {
  return { ready: call, snapshot: await takeSnapshot(call, settings) };
}

async function ask(
  asked: readonly AskedCall[],
  approver: NonNullable<RunOptions['approver']>,
  { scope, signal, inner }: ApprovalParts,
): Promise<readonly ApprovedCall[]> {
  const { settings, observer } = scope;
  for (const { ready: call } of asked) observer?.approvalRequested(call, scope.deferred?.decision);
  const replan = replanner(await withOrigins(settings, scope.memory));
  const question = { approver, replan, signal, settings, scope: inner };
  const answers = await askApproval(asked, question);
  for (const { evaluated, approved, reason, snapshot, changed } of answers) {
    // The person has seen the changed content, so the conversation counts it as read.
    if (approved && snapshot !== undefined && changed !== undefined) {
      recordShown(scope.memory, snapshot.shown, settings.clock.now());
    }
    observer?.approvalDecided(evaluated.call, approved, reason);
  }
  return answers;
}

/** Records the decision about each call, and the decider. @param more the decision about their batch */
function noteAnswers(
  answers: readonly ApprovedCall[],
  indexes: readonly number[],
  recorder: Recorder | undefined,
  more: JsonObject = {},
): void {
  for (const [place, { evaluated, approved, reason, argsHash, by }] of answers.entries()) {
    recorder?.note(indexes[place] as number, evaluated.call.id, 'approval', {
      approved,
      ...(by === undefined ? {} : { by }),
      ...(argsHash === undefined ? {} : { argsHash, args: evaluated.call.args }),
      ...(reason === undefined ? {} : { reason }),
      ...more,
    });
  }
}

/** If the question could not be asked, there is no decision. */
function isUnanswered({ evaluated }: ApprovedCall): boolean {
  return evaluated.kind === 'resolved' && evaluated.result.error?.code === 'approval_unavailable';
}

function unasked(call: ReadyCall): EvaluatedCall {
  const message = `${call.call.name} needs the person's approval, and the person cannot be asked now. Do without this call, or say in your answer what it was to do.`;
  const hint = `${call.reason.replace(/[.]+$/, '')}. Give an approver, or allow it by a rule.`;
  return refuseReady(call, 'approval_unavailable', message, hint);
}

function ready(evaluated: readonly EvaluatedCall[], index: number): ReadyCall {
  return evaluated[index] as ReadyCall;
}
