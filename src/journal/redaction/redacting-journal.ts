import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Awaitable, ToolResult } from '../../contract/call.js';
import type {
  Acceptance,
  BatchEntry,
  CallEntry,
  CallKey,
  CallRecord,
  ConversationFact,
  Journal,
  QueuedPage,
} from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { PruneLimits } from '../../contract/pruning.js';
import { hasIdentity } from '../records/call-key.js';
import type { Digest } from './journal-secret.js';
import { hasLeftOut, isLeftOut } from './left-out.js';
import { type NamesOf, type RedactedBatch, Redaction } from './redaction.js';
import { mapValues, type RedactionRules, toSegment } from './redaction-rules.js';

const redactions = new WeakMap<Journal, Redaction>();

/**
 * A journal that omits arguments, and redacts texts that repeat their values, before anything reaches the
 * journal below.
 *
 * 1. An omitted argument is recorded as a keyed digest, so another delivery of the call is recognized.
 * 2. From then on its value is hidden in everything that this process records: results, notes, messages,
 *   facts.
 * 3. A call of this process without a result is returned with its original arguments; only then can it run.
 */
export function createRedactingJournal(journal: Journal, rules: RedactionRules, digest: Digest): Journal {
  const redaction = new Redaction(rules, digest);
  const { remember, recall, isAlone, waiting, queued, running, changes, prune } = journal;
  const order = new Order();
  const restored = async (records: Awaitable<readonly CallRecord[]>): Promise<readonly CallRecord[]> =>
    (await records).map((record) => redaction.restore(record));
  const accept = ({ entry, calls }: RedactedBatch): Awaitable<readonly Acceptance[]> => {
    const answers = journal.accept(entry);
    for (const [key, call] of calls) redaction.open.set(key, call);
    return answers instanceof Promise
      ? answers.then((given) => redaction.restoreAll(given))
      : redaction.restoreAll(answers);
  };
  const wrapped: Journal = {
    durable: journal.durable,
    ...(journal.file === undefined ? {} : { file: journal.file }),
    ...(journal.spansMachines === undefined ? {} : { spansMachines: journal.spansMachines }),
    ...(journal.tenant === undefined ? {} : { tenant: journal.tenant }),
    ...(journal.dispatcher === undefined ? {} : { dispatcher: journal.dispatcher }),
    ...(journal.signals === undefined ? {} : { signals: journal.signals }),
    accept(batch) {
      const redacted = redaction.redactBatch(batch);
      if (!batch.attach) return order.take(() => accept(redacted));
      return order.hold(() => asRecorded(batch, redacted, journal, digest), accept);
    },
    claim: (key, worker, at) => order.take(() => journal.claim(key, worker, at)),
    note(key, note) {
      const redacted = redaction.redactNote(key, note);
      return order.take(() => journal.note(key, redacted));
    },
    // A content that repeats a value is not stored; an undo then reports that it is missing.
    keep: (bytes) =>
      redaction.values.hideBytes(bytes) === bytes
        ? order.take(() => journal.keep(bytes))
        : hash('sha256', bytes),
    decide(batchId, decision) {
      const redacted = { ...decision, data: redaction.hide(decision.data) as JsonObject };
      return order.take(() => journal.decide(batchId, redacted));
    },
    message(conversation, message) {
      const redacted = { ...message, content: redaction.redactMessage(message.content) };
      return order.take(() => journal.message(conversation, redacted));
    },
    finish(key, result, at, claimant) {
      const redacted = redaction.redactResult(key, result);
      const written = order.take(() => journal.finish(key, redacted, at, claimant));
      const end = (): void => void redaction.open.delete(key);
      // The answer is the journal's own, so no later operation comes before it.
      if (written instanceof Promise) written.then(end, () => {});
      else end();
      return written;
    },
    ...(prune === undefined
      ? {}
      : { prune: (limits: PruneLimits, at: number) => order.take(() => prune.call(journal, limits, at)) }),
    sync: () => order.take(() => journal.sync()),
    call: async (key) => redaction.restoreIfAny(await order.take(() => journal.call(key))),
    find: async (conversation, callId, turn) =>
      redaction.restoreIfAny(await order.take(() => journal.find(conversation, callId, turn))),
    batch: (id) => restored(order.take(() => journal.batch(id))),
    unfinished: (conversation, page) => restored(order.take(() => journal.unfinished(conversation, page))),
    notes: (key) => order.take(() => journal.notes(key)),
    kept: (digested) => order.take(() => journal.kept(digested)),
    decisions: (batchId) => order.take(() => journal.decisions(batchId)),
    batches: (filter) => order.take(() => journal.batches(filter)),
    history: (conversation) => order.take(() => journal.history(conversation)),
    ...(waiting === undefined
      ? {}
      : { waiting: (batchId: string) => restored(order.take(() => waiting.call(journal, batchId))) }),
    ...(queued === undefined
      ? {}
      : { queued: (page: QueuedPage) => restored(order.take(() => queued.call(journal, page))) }),
    ...(changes === undefined
      ? {}
      : {
          async changes(since?: string) {
            const found = await order.take(() => changes.call(journal, since));
            return { ...found, calls: found.calls.map((record) => redaction.restore(record)) };
          },
        }),
    ...(running === undefined ? {} : { running: () => order.take(() => running.call(journal)) }),
    ...sessionOperations(journal, order, redaction),
    ...(remember === undefined
      ? {}
      : {
          remember(conversation: string, facts: readonly ConversationFact[]) {
            const redacted = redaction.redactFacts(facts);
            return order.take(() => remember.call(journal, conversation, redacted));
          },
        }),
    ...(recall === undefined
      ? {}
      : {
          recall: (conversation: string, since?: number) =>
            order.take(() => recall.call(journal, conversation, since)),
        }),
    ...(isAlone === undefined ? {} : { isAlone: isAlone.bind(journal) }),
    close: async () => order.take(() => journal.close()),
  };
  redactions.set(wrapped, redaction);
  return wrapped;
}

type SessionOperations = Pick<Journal, 'cancel' | 'renew' | 'reap' | 'sessions'>;

function sessionOperations(journal: Journal, order: Order, redaction: Redaction): SessionOperations {
  const { cancel, renew, reap, sessions } = journal;
  return {
    ...(cancel === undefined
      ? {}
      : {
          cancel(key: CallKey, result: ToolResult, at: number) {
            const redacted = redaction.redactResult(key, result);
            return order.take(() => cancel.call(journal, key, redacted, at));
          },
        }),
    ...(renew === undefined || reap === undefined || sessions === undefined
      ? {}
      : {
          renew: (...renewal: Parameters<typeof renew>) => order.take(() => renew.apply(journal, renewal)),
          reap: async (...asked: Parameters<typeof reap>) =>
            (await order.take(() => reap.apply(journal, asked)))?.map((record) => redaction.restore(record)),
          sessions: () => order.take(() => sessions.call(journal)),
        }),
  };
}

/** Operations take effect in the order of the calls, even after one that has to look something up first. */
class Order {
  #held: Promise<void> | undefined;

  take<T>(operation: () => Awaitable<T>): Awaitable<T> {
    return this.#held === undefined ? operation() : this.#held.then(operation);
  }

  /** @param begin issues the operation to the journal: later operations wait until it is issued, not for its answer. */
  async hold<S, T>(look: () => Promise<S>, begin: (seen: S) => Awaitable<T>): Promise<T> {
    const before = this.#held;
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#held = held;
    let begun: Awaitable<T>;
    try {
      await before;
      begun = begin(await look());
    } finally {
      if (this.#held === held) this.#held = undefined;
      release();
    }
    return begun;
  }
}

/**
 * A repeated delivery gets the arguments of its record if they are the same: the rules and the known values
 * may have changed since.
 */
async function asRecorded(
  batch: BatchEntry,
  { entry, calls }: RedactedBatch,
  journal: Journal,
  digest: Digest,
): Promise<RedactedBatch> {
  const asRecordedCall = async (call: CallEntry, index: number): Promise<CallEntry> => {
    const given = batch.calls[index];
    if (given === undefined || !hasIdentity(call)) return call;
    const earlier = await journal.find(batch.conversation, call.callId, call.turn);
    if (earlier === undefined || earlier.toolName !== call.toolName || !hasLeftOut(earlier.args)) return call;
    return hasArguments(earlier, given.args, digest) ? { ...call, args: earlier.args } : call;
  };
  return { entry: { ...entry, calls: await Promise.all(entry.calls.map(asRecordedCall)) }, calls };
}

/** Gives a journal the names of tools, so that rules also match a call by an alias. */
export function nameTools(journal: Journal | null, namesOf: NamesOf): void {
  if (journal !== null) redactions.get(journal)?.namesOf.add(namesOf);
}

/**
 * The values that this process has omitted from a journal. They must not appear in files next to the journal.
 */
export function leftOutValues(journal: Journal | null): Iterable<string> {
  return (journal === null ? undefined : redactions.get(journal)?.values.all()) ?? [];
}

/**
 * Whether arguments of a running call were omitted: then the content of files that it changes is not stored.
 */
export function leavesOut(journal: Journal, key: CallKey): boolean {
  return redactions.get(journal)?.open.get(key)?.own !== undefined;
}

/** Whether a recorded call had these arguments, even if they were omitted. */
export function hasArguments(
  record: Pick<CallRecord, 'toolName' | 'callId' | 'args'>,
  args: JsonObject,
  journal: Journal | Digest,
): boolean {
  const digest = typeof journal === 'function' ? journal : redactions.get(journal)?.digest;
  const asked = digest === undefined || !hasLeftOut(record.args) ? args : leaveOutAs(record, args, digest);
  return canonicalize(asked) === canonicalize(record.args);
}

/** The arguments without those that the record omits. */
function leaveOutAs(
  { toolName, callId, args: recorded }: Pick<CallRecord, 'toolName' | 'callId' | 'args'>,
  args: JsonObject,
  digest: Digest,
): JsonValue {
  const walk = (value: JsonValue, like: JsonValue | undefined, pointer: string): JsonValue => {
    if (isLeftOut(like)) return isLeftOut(value) ? value : digest({ toolName, callId, pointer }, value);
    if (typeof like !== 'object' || like === null) return value;
    return mapValues(value, (item, name) =>
      walk(item, (like as Readonly<Record<string, JsonValue>>)[name], `${pointer}${toSegment(name)}`),
    );
  };
  return walk(args, recorded, '');
}
