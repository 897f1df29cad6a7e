import type { Clock } from '../contract/context.js';
import type {
  Acceptance,
  BatchRecord,
  CallEntry,
  CallRecord,
  Journal,
  RunningQuotas,
  Worker,
} from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { ToolError } from '../errors/tool-error.js';
import { notRun } from '../executor/answer/results.js';
import { cancelled, stoppedBefore } from '../executor/answer/stopped.js';
import { decidePlaced, type PlacedDecision, placedQuestions } from '../executor/approve/decide-placed.js';
import { usedBefore } from '../executor/record/attach.js';
import { hint } from '../executor/record/hint.js';
import { findOutput, parseOutputRef } from './kept-output.js';
import type { GivenBatch } from './read-batch.js';
import { findBlob, parseBlobRef, type ShownResult, shownResult } from './shown-result.js';

export interface DeskParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly createId: () => string;
  /** The server as a worker, for the calls that it answers itself. */
  readonly worker: Worker;
  /** How long a call may wait for a worker if its sender does not say. */
  readonly startDeadlineMs: number;
  readonly openQuota: number | undefined;
  readonly quotas: RunningQuotas | undefined;
}

/** A batch as the server shows it. */
export interface ShownBatch {
  readonly id: string;
  readonly conversation: string;
  /** `waiting`: for a person. */
  readonly state: 'queued' | 'running' | 'waiting' | 'done';
  readonly calls: readonly ShownCall[];
  /** In call order; present exactly if the state is `done`. */
  readonly results?: readonly ShownResult[];
}

export interface ShownCall {
  readonly callId: string;
  readonly toolName: string;
  readonly state: CallRecord['state'];
  readonly result?: ShownResult;
}

/** The prefix of conversations of other tenants than the journal's; no name in a request may begin with it. */
const OTHER_TENANT = 'tenant:';

/** The tenant of this call or batch. */
export function tenantOf(record: Pick<CallRecord, 'placement'>, journal: Pick<Journal, 'tenant'>): string {
  return record.placement?.tenant ?? journal.tenant ?? 'default';
}

/** The name of a conversation as its tenant knows it. */
export function conversationName(stored: string): string {
  return stored.startsWith(OTHER_TENANT)
    ? stored.slice(stored.indexOf(':', OTHER_TENANT.length) + 1)
    : stored;
}

/**
 * The batches of one tenant in a journal that several tenants share.
 *
 * 1. A tenant sees its own batches only. Requests about other tenants' batches are answered as if the batch were
 *    unknown.
 * 2. The conversations of tenants have separate names in the journal, so no call attaches to another tenant's.
 * 3. The server has no tools: a worker evaluates each call, and defers it if it needs approval.
 */
export class TenantDesk {
  readonly #parts: DeskParts;
  readonly #tenant: string;

  constructor(tenant: string, parts: DeskParts) {
    this.#tenant = tenant;
    this.#parts = parts;
  }

  /**
   * Records a batch for workers. A call that was submitted before, with the same arguments, keeps its first answer.
   * @returns the id of the batch
   * @throws ToolError `quota_exceeded`; `conflict` if its conversation waits for a decision after a crash; `journal_unavailable`
   */
  async submit({ calls, conversation, placement }: GivenBatch): Promise<string> {
    const { journal, clock, createId, startDeadlineMs, openQuota, quotas } = this.#parts;
    const id = createId();
    const name = this.#toStored(conversation ?? `http:${id}`);
    const entries: CallEntry[] = [];
    for (const call of calls) {
      const isTwin = entries.some(({ callId }) => callId === call.id);
      // A worker evaluates the call. Until then it may have any effect, so the calls of a conversation run one after
      // another.
      entries.push({
        ...{ callId: call.id, toolName: call.name, args: call.args, effects: [{ kind: 'unknown' }] },
        disposition: isTwin ? 'pre_resolved' : 'requires_confirmation',
        reason: 'its worker decides',
      });
    }
    const limits = quotas === undefined ? {} : { quotas };
    const placed = { startDeadlineMs, ...placement, ...limits, unplanned: true as const };
    const acceptances = await journal.accept({
      ...{ id, conversation: name, attach: conversation !== undefined, at: clock.now(), calls: entries },
      ...(openQuota === undefined ? {} : { openQuota }),
      placement: this.#isOwn ? placed : { ...placed, tenant: this.#tenant },
    });
    for (const [index, acceptance] of acceptances.entries())
      await this.#receive(acceptance, entries[index] as CallEntry);
    hint(
      journal,
      acceptances.flatMap(({ kind, key }) => (kind === 'fresh' ? [key] : [])),
    );
    return id;
  }

  /** @throws ToolError `unknown_batch` */
  async show(id: string): Promise<ShownBatch> {
    const calls = await this.#calls(id);
    const isDone = calls.every(({ result }) => result !== undefined);
    const shown = calls.map(toShownCall);
    return {
      id,
      conversation: conversationName(calls[0]?.conversation ?? ''),
      state: isDone ? 'done' : stateOf(calls),
      calls: shown,
      ...(isDone ? { results: shown.flatMap(({ result }) => result ?? []) } : {}),
    };
  }

  /** The batches of this tenant that wait for approval or for a worker, oldest first. */
  async waiting(): Promise<readonly JsonObject[]> {
    const { journal } = this.#parts;
    const found: JsonObject[] = [];
    const batches = await journal.batches({ waiting: true });
    for (const batch of batches.toReversed()) {
      if (batch.placement === undefined || !this.#owns(batch)) continue;
      const calls = await journal.batch(batch.id);
      const requests = (await placedQuestions(journal, { id: batch.id, calls })).map(
        ({ record, argsHash, asked }) => ({
          ...{ callId: record.callId, toolName: record.toolName, args: record.args, argsHash },
          reason: record.reason,
          ...(asked === undefined ? {} : pick(asked, ['risk', 'containment', 'shown'])),
        }),
      );
      if (requests.length === 0) continue;
      const since = new Date((await journal.decisions(batch.id)).at(-1)?.at ?? batch.at).toISOString();
      found.push({ id: batch.id, conversation: conversationName(batch.conversation), since, requests });
    }
    return found;
  }

  /** @throws ToolError `unknown_batch`, and as `decidePlaced` */
  async decide(id: string, decision: PlacedDecision, by: string): Promise<void> {
    const { journal, clock, createId } = this.#parts;
    await this.#calls(id);
    await decidePlaced(id, decision, { journal, now: () => clock.now(), id: createId(), by });
  }

  /**
   * Cancels calls of a batch: queued calls are answered immediately, running ones are asked to stop.
   * @param only call ids; left out: all
   * @throws ToolError `unknown_batch`, `bad_args` for a call that is not part of it
   */
  async cancel(id: string, only: readonly string[] | undefined, reason: string | undefined): Promise<void> {
    const { journal, clock } = this.#parts;
    const calls = await this.#calls(id);
    const unknown = only?.find((callId) => !calls.some((call) => call.callId === callId));
    if (unknown !== undefined)
      throw new ToolError(
        'bad_args',
        `Cannot cancel the call ${JSON.stringify(unknown)}: the batch has no such call.`,
      );
    for (const { key, callId, toolName, result } of calls) {
      if (result !== undefined || only?.includes(callId) === false) continue;
      const answer = stoppedBefore({ id: callId, name: toolName }, cancelled(reason));
      await journal.cancel?.(key, answer, clock.now());
    }
    await this.#endWait(id);
  }

  /** If all calls of a batch have answers, it does not wait for a person. */
  async #endWait(id: string): Promise<void> {
    const { journal, clock } = this.#parts;
    const calls = await journal.batch(id);
    if (calls.some(({ result }) => result === undefined)) return;
    if (!calls.some(({ batchId, decision }) => batchId === id && decision === 'wait')) return;
    await journal.decide(id, { kind: 'resume', at: clock.now(), data: { why: 'approval', by: 'cancelled' } });
  }

  /** Answers a call that no worker may run. */
  async #receive(acceptance: Acceptance, { callId, toolName, disposition }: CallEntry): Promise<void> {
    const { journal, clock } = this.#parts;
    if (acceptance.kind === 'over_quota') {
      const { open, quota } = acceptance;
      const message = `Not accepted: the tenant has ${open} open calls, its quota is ${quota}, and these calls would exceed it.`;
      throw new ToolError('quota_exceeded', message, { details: { retry_after_ms: 1_000, open, quota } });
    }
    if (acceptance.kind === 'waits') {
      const message = `The conversation waits for a decision about batch ${acceptance.batchId}, which was left half done.`;
      throw new ToolError('conflict', message, { details: { batchId: acceptance.batchId } });
    }
    if (acceptance.kind === 'known' || (acceptance.kind === 'fresh' && disposition !== 'pre_resolved'))
      return;
    const result = notRun({ id: callId, name: toolName }, 'duplicate_tool_call_id', usedBefore(callId));
    await journal.finish(acceptance.key, result, clock.now(), 'queued');
  }

  /**
   * The content of a block to which a result refers, or the whole output of a truncated result.
   * @throws ToolError `unknown_batch`, also for a blob of another tenant
   */
  async blob(ref: string): Promise<Uint8Array> {
    const block = parseBlobRef(ref);
    const place = block ?? parseOutputRef(ref);
    const calls = place === undefined ? [] : await this.#calls(place.batchId);
    const call = calls.find(({ batchId, index }) => batchId === place?.batchId && index === place.index);
    const { journal } = this.#parts;
    const bytes =
      call && (block === undefined ? await findOutput(call, ref, journal) : findBlob(call, block.hash));
    if (bytes !== undefined) return bytes;
    throw new ToolError('unknown_batch', 'There is no such content, or its batch is not there any more.');
  }

  /** @throws ToolError `unknown_batch`, also for a batch of another tenant */
  async #calls(id: string): Promise<readonly CallRecord[]> {
    const calls = await this.#parts.journal.batch(id);
    if (calls.length > 0 && calls.every((call) => this.#owns(call))) return calls;
    throw new ToolError('unknown_batch', 'There is no such batch.');
  }

  #owns(record: Pick<CallRecord | BatchRecord, 'placement'>): boolean {
    return tenantOf(record, this.#parts.journal) === this.#tenant;
  }

  get #isOwn(): boolean {
    return this.#tenant === (this.#parts.journal.tenant ?? 'default');
  }

  #toStored(conversation: string): string {
    if (conversation.startsWith(OTHER_TENANT) || conversation.startsWith('toolexec:'))
      throw new ToolError(
        'bad_args',
        `Cannot use the conversation ${JSON.stringify(conversation)}: its name is reserved.`,
      );
    return this.#isOwn ? conversation : `${OTHER_TENANT}${this.#tenant}:${conversation}`;
  }
}

export function toShownCall(record: CallRecord): ShownCall {
  const { callId, toolName, state, result } = record;
  return {
    callId,
    toolName,
    state,
    ...(result === undefined ? {} : { result: shownResult(record, result) }),
  };
}

/** The state of an unfinished batch. */
export function stateOf(calls: readonly CallRecord[]): Exclude<ShownBatch['state'], 'done'> {
  const open = calls.filter(({ result }) => result === undefined);
  if (open.some(({ worker }) => worker !== undefined)) return 'running';
  return open.some(({ decision }) => decision === 'wait') ? 'waiting' : 'queued';
}

function pick(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
}
