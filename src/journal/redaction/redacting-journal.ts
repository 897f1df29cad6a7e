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
  JournalNote,
} from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { callKey, hasIdentity } from '../records/call-key.js';
import type { Digest } from './journal-secret.js';
import { KnownValues } from './known-values.js';
import { hasLeftOut, isLeftOut } from './left-out.js';
import { type Hide, hideIn, hideInEffects, hideInResult, isObject, redactCallsIn } from './redact-record.js';
import { mapValues, type RedactionRules, toSegment } from './redaction-rules.js';

/** The names of the tool that is called so: its own and its aliases. */
type NamesOf = (called: string) => readonly string[];

/** A call that has no result yet, as far as this process knows it. */
interface OpenCall {
  readonly toolName: string;
  readonly callId: string;
  /** As they came. */
  readonly args: JsonObject;
  /** What was left out of them; undefined: nothing. */
  own: KnownValues | undefined;
}

const redactions = new WeakMap<Journal, Redaction>();

/**
 * A journal that leaves out arguments, and whatever repeats their values, before anything reaches the journal below it.
 *
 * 1. An argument that is left out is recorded as its keyed digest, so that the same call delivered again is recognised.
 * 2. Its value is hidden in everything that this process records from then on: results, notes, messages, facts.
 * 3. What is read of a call of this process that has no result yet has its arguments as they came; only then can it run.
 */
export function createRedactingJournal(journal: Journal, rules: RedactionRules, digest: Digest): Journal {
  const redaction = new Redaction(rules, digest);
  const { remember, recall, isAlone } = journal;
  const restored = async (records: Awaited<ReturnType<Journal['batch']>>): Promise<readonly CallRecord[]> =>
    records.map((record) => redaction.restore(record));
  const wrapped: Journal = {
    durable: journal.durable,
    accept(batch) {
      const redacted = redaction.redactBatch(batch);
      const accept = ({ entry, calls }: RedactedBatch): Awaitable<readonly Acceptance[]> => {
        const answers = journal.accept(entry);
        for (const [key, call] of calls) redaction.open.set(key, call);
        return answers instanceof Promise
          ? answers.then((given) => redaction.restoreAll(given))
          : redaction.restoreAll(answers);
      };
      return batch.attach
        ? asRecorded(batch, redacted, journal, redaction.digest).then(accept)
        : accept(redacted);
    },
    claim: (key, worker, at) => journal.claim(key, worker, at),
    note: (key, note) => journal.note(key, redaction.redactNote(key, note)),
    // A content that repeats a value is not kept: an undo finds that it is missing, and says so.
    keep: (bytes) =>
      redaction.values.hideBytes(bytes) === bytes ? journal.keep(bytes) : hash('sha256', bytes),
    decide: (batchId, decision) =>
      journal.decide(batchId, { ...decision, data: redaction.hide(decision.data) as JsonObject }),
    message: (conversation, message) =>
      journal.message(conversation, { ...message, content: redaction.redactMessage(message.content) }),
    finish(key, result, at) {
      const written = journal.finish(key, redaction.redactResult(key, result), at);
      const end = <T>(answer: T): T => {
        redaction.open.delete(key);
        return answer;
      };
      return written instanceof Promise ? written.then(end) : end(written);
    },
    sync: () => journal.sync(),
    call: async (key) => redaction.restoreIfAny(await journal.call(key)),
    find: async (conversation, callId, turn) =>
      redaction.restoreIfAny(await journal.find(conversation, callId, turn)),
    batch: async (id) => restored(await journal.batch(id)),
    unfinished: async (conversation, page) => restored(await journal.unfinished(conversation, page)),
    notes: (key) => journal.notes(key),
    kept: (digested) => journal.kept(digested),
    decisions: (batchId) => journal.decisions(batchId),
    batches: (filter) => journal.batches(filter),
    history: (conversation) => journal.history(conversation),
    ...(remember === undefined
      ? {}
      : {
          remember: (conversation: string, facts: readonly ConversationFact[]) =>
            remember.call(journal, conversation, redaction.redactFacts(facts)),
        }),
    ...(recall === undefined ? {} : { recall: recall.bind(journal) }),
    ...(isAlone === undefined ? {} : { isAlone: isAlone.bind(journal) }),
    close: () => journal.close(),
  };
  redactions.set(wrapped, redaction);
  return wrapped;
}

interface RedactedBatch {
  readonly entry: BatchEntry;
  readonly calls: ReadonlyMap<CallKey, OpenCall>;
}

/**
 * A call that was delivered before has the arguments of its record, where they are the same: what is left out may have
 * changed since, and which values are known.
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

/** Tells a journal the names of tools, so that one that is called by an alias is the tool that is meant. */
export function nameTools(journal: Journal | null, namesOf: NamesOf): void {
  if (journal !== null) redactions.get(journal)?.namesOf.add(namesOf);
}

/** What this process has left out of a journal so far: it is in nothing that lies beside the journal. */
export function leftOutValues(journal: Journal | null): Iterable<string> {
  return (journal === null ? undefined : redactions.get(journal)?.values.all()) ?? [];
}

/** Whether arguments of a call that is under way were left out: then nothing of the files that it changes is kept. */
export function leavesOut(journal: Journal, key: CallKey): boolean {
  return redactions.get(journal)?.open.get(key)?.own !== undefined;
}

/** Whether a recorded call was made with these arguments, also where they were left out. */
export function hasArguments(
  record: Pick<CallRecord, 'toolName' | 'callId' | 'args'>,
  args: JsonObject,
  journal: Journal | Digest,
): boolean {
  const digest = typeof journal === 'function' ? journal : redactions.get(journal)?.digest;
  const asked = digest === undefined || !hasLeftOut(record.args) ? args : leaveOutAs(record, args, digest);
  return canonicalize(asked) === canonicalize(record.args);
}

/** The arguments without what the record has left out. */
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

class Redaction {
  readonly values = new KnownValues();
  readonly open = new Map<CallKey, OpenCall>();
  readonly namesOf = new Set<NamesOf>();

  constructor(
    readonly rules: RedactionRules,
    readonly digest: Digest,
  ) {}

  hide(value: JsonValue, own?: KnownValues): JsonValue {
    return hideIn(value, this.#hider(own));
  }

  #hider(own: KnownValues | undefined): Hide {
    return own === undefined ? (text) => this.values.hide(text) : (text) => this.values.hide(own.hide(text));
  }

  redactBatch(batch: BatchEntry): RedactedBatch {
    const calls = new Map<CallKey, OpenCall>();
    // All values are known before any text is looked at.
    const ruled = batch.calls.map((call) =>
      // Records of our own, such as that of an undo, are no calls of a model.
      call.callId === `${call.toolName}_${batch.id}` ? undefined : this.#leaveOut(call),
    );
    const entries = batch.calls.map((call, index): CallEntry => {
      const named = ruled[index];
      const { args, values } =
        named === undefined ? ours(this.redactMessage(call.args)) : this.#repeated(call, named);
      const own = ownValues(values);
      calls.set(callKey(batch.id, index), { ...call, own });
      const hide = this.#hider(own);
      return { ...call, args, effects: hideInEffects(call.effects, values, hide), reason: hide(call.reason) };
    });
    const { message, origin } = batch;
    const entry: BatchEntry = {
      ...batch,
      calls: entries,
      ...(message === undefined ? {} : { message: { ...message, text: this.values.hide(message.text) } }),
      ...(origin === undefined ? {} : { origin: this.redactMessage(origin) as JsonObject }),
    };
    return { entry, calls };
  }

  redactNote(key: CallKey, note: JournalNote): JournalNote {
    const call = this.open.get(key);
    const data = this.#withoutHashes(this.#redactData(note, call), call);
    const hide = this.#hider(call?.own);
    return { ...note, data: hideIn(data, (text) => (isLeftOut(text) ? text : hide(text))) as JsonObject };
  }

  /** A hash without a key would let anyone try values. */
  #withoutHashes(data: JsonObject, call: OpenCall | undefined): JsonObject {
    if (call?.own === undefined) return data;
    const place = { toolName: call.toolName, callId: call.callId };
    return mapValues(data, (value, name) =>
      HASHES.has(name) && typeof value === 'string' ? this.digest({ ...place, pointer: name }, value) : value,
    ) as JsonObject;
  }

  #redactData({ kind, data }: JournalNote, call: OpenCall | undefined): JsonObject {
    if (kind === 'received') return this.redactMessage(data) as JsonObject;
    if (kind !== 'approval' || call === undefined || !isObject(data.args)) return data;
    // A person may have put in others.
    const given = { ...call, args: data.args };
    const { args, values } = this.#repeated(given, this.#leaveOut(given));
    call.own = ownValues(values) ?? call.own;
    return { ...data, args };
  }

  /** They say what calls under way have read and written. */
  redactFacts(facts: readonly ConversationFact[]): readonly ConversationFact[] {
    const running = [...this.open.values()].flatMap(({ own }) => own ?? []);
    const hide: Hide = (text) => running.reduce((left, own) => own.hide(left), this.values.hide(text));
    return facts.map(({ key, value, at }) => ({ key: hide(key), value: hideIn(value, hide), at }));
  }

  redactResult(key: CallKey, result: ToolResult): ToolResult {
    const own = this.open.get(key)?.own;
    return hideInResult(result, this.#hider(own), (bytes) => {
      const hidden = this.values.hideBytes(bytes);
      return own === undefined ? hidden : own.hideBytes(hidden);
    });
  }

  /** Calls in it, in whatever shape, then every text. */
  redactMessage(content: JsonValue): JsonValue {
    const redact = (toolName: string, callId: string, args: JsonObject): JsonObject =>
      this.#leaveOut({ toolName, callId, args }).args;
    const without = redactCallsIn(content, redact, (name) => this.#concerns(name));
    return hideIn(without, (text) => (isLeftOut(text) ? text : this.values.hide(text)));
  }

  restoreAll(answers: readonly Acceptance[]): readonly Acceptance[] {
    return answers.map((answer) =>
      answer.kind === 'known' || answer.kind === 'conflict'
        ? { ...answer, record: this.restore(answer.record) }
        : answer,
    );
  }

  restoreIfAny(record: CallRecord | undefined): CallRecord | undefined {
    return record === undefined ? undefined : this.restore(record);
  }

  restore(record: CallRecord): CallRecord {
    if (record.state === 'done') return record;
    const { key, toolName, callId, args } = record;
    const known = this.open.get(key);
    if (known !== undefined) return known.own === undefined ? record : { ...record, args: known.args };
    // Of another process: its name is needed where a person changes its arguments.
    this.open.set(key, { toolName, callId, args, own: undefined });
    return record;
  }

  #concerns(called: string): boolean {
    return this.#names(called).some((name) => this.rules.concerns(name));
  }

  #names(called: string): readonly string[] {
    return [...new Set([called, ...[...this.namesOf].flatMap((namesOf) => namesOf(called))])];
  }

  /** What the rules name. */
  #leaveOut({ toolName, callId, args }: NamedArgs): LeftOutArgs {
    const values: JsonValue[] = [];
    const replace = (value: JsonValue, pointer: string): JsonValue => {
      if (isLeftOut(value)) return value;
      values.push(value);
      this.values.add(value);
      return this.digest({ toolName, callId, pointer }, value);
    };
    const left = this.#names(toolName).reduce((each, name) => this.rules.apply(name, each, replace), args);
    return { args: left, values };
  }

  /** Texts that repeat a value, too: a call whose arguments are not all there is never run from its record. */
  #repeated({ toolName, callId }: NamedArgs, { args, values }: LeftOutArgs): LeftOutArgs {
    const found = [...values];
    const walk = (value: JsonValue, pointer: string): JsonValue => {
      if (typeof value !== 'string') {
        return mapValues(value, (item, name) => walk(item, `${pointer}${toSegment(name)}`));
      }
      if (isLeftOut(value) || this.values.hide(value) === value) return value;
      found.push(value);
      return this.digest({ toolName, callId, pointer }, value);
    };
    return { args: walk(args, '') as JsonObject, values: found };
  }
}

/** In notes: of the arguments that were approved, and of a command. */
const HASHES: ReadonlySet<string> = new Set(['argsHash', 'command']);

type NamedArgs = Pick<CallEntry, 'toolName' | 'callId' | 'args'>;

interface LeftOutArgs {
  readonly args: JsonObject;
  /** What was left out of them. */
  readonly values: readonly JsonValue[];
}

function ours(args: JsonValue): LeftOutArgs {
  return { args: args as JsonObject, values: [] };
}

function ownValues(values: readonly JsonValue[]): KnownValues | undefined {
  if (values.length === 0) return undefined;
  const own = new KnownValues();
  for (const value of values) {
    own.add(value);
    own.addWords(value);
  }
  return own;
}
