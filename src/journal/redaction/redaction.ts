import type { ToolResult } from '../../contract/call.js';
import type {
  Acceptance,
  BatchEntry,
  CallEntry,
  CallKey,
  CallRecord,
  ConversationFact,
  JournalNote,
} from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { callKey } from '../records/call-key.js';
import type { Digest } from './journal-secret.js';
import { KnownValues } from './known-values.js';
import { isLeftOut } from './left-out.js';
import { type Hide, hideIn, hideInEffects, hideInResult, isObject, redactCallsIn } from './redact-record.js';
import { mapValues, type RedactionRules, toSegment } from './redaction-rules.js';

/** The names of the tool with this name or alias. */
export type NamesOf = (called: string) => readonly string[];

/** A call without a result, as this process knows it. */
export interface OpenCall {
  readonly toolName: string;
  readonly callId: string;
  /** The original arguments. */
  readonly args: JsonObject;
  /** The omitted values; undefined if there are none. */
  own: KnownValues | undefined;
}

export interface RedactedBatch {
  readonly entry: BatchEntry;
  readonly calls: ReadonlyMap<CallKey, OpenCall>;
}

/** The omitted values and everything derived from them. */
export class Redaction {
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
    return this.#hiderOf(own === undefined ? [] : [own]);
  }

  #hiderOf(own: readonly KnownValues[]): Hide {
    return (text) =>
      isLeftOut(text) ? text : own.reduce((left, values) => values.hide(left), this.values.hide(text));
  }

  redactBatch(batch: BatchEntry): RedactedBatch {
    const calls = new Map<CallKey, OpenCall>();
    // All values are collected before any text is searched.
    const ruled = batch.calls.map((call) =>
      // Our own records, such as that of an undo, are not calls of a model.
      call.callId === `${call.toolName}_${batch.id}` ? undefined : this.#leaveOut(call),
    );
    const entries = batch.calls.map((call, index): CallEntry => {
      const named = ruled[index];
      const { args, values } =
        named === undefined ? ours(this.redactMessage(call.args)) : this.#repeated(call, named);
      const own = ownValues(values);
      calls.set(callKey(batch.id, index), { ...call, own });
      const hide = this.#hider(own);
      const effects = hideInEffects(call.effects, values, hide);
      return { ...withoutChanged(call, effects, hide), args, effects, reason: hide(call.reason) };
    });
    const { message, origin } = batch;
    // The model's text next to its calls may quote them.
    const hide = this.#hiderOf([...calls.values()].flatMap(({ own }) => own ?? []));
    const entry: BatchEntry = {
      ...batch,
      calls: entries,
      ...(message === undefined ? {} : { message: { ...message, text: hide(message.text) } }),
      // Its directories are compared later, so single words are not removed.
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

  /** A hash without a key would allow guessing values. */
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
    // A person may have edited them.
    const given = { ...call, args: data.args };
    const { args, values } = this.#repeated(given, this.#leaveOut(given));
    call.own = ownValues(values) ?? call.own;
    return { ...data, args };
  }

  /** They describe what running calls have read and written. */
  redactFacts(facts: readonly ConversationFact[]): readonly ConversationFact[] {
    const hide = this.#hiderOf([...this.open.values()].flatMap(({ own }) => own ?? []));
    return facts.map(({ key, value, at }) => ({ key: hide(key), value: hideIn(value, hide), at }));
  }

  redactResult(key: CallKey, result: ToolResult): ToolResult {
    const own = this.open.get(key)?.own;
    return hideInResult(result, this.#hider(own), (bytes) => {
      const hidden = this.values.hideBytes(bytes);
      return own === undefined ? hidden : own.hideBytes(hidden);
    });
  }

  /** Redacts calls in any format, then every text. */
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
    // A call of another process: its tool name is needed if a person edits its arguments.
    this.open.set(key, { toolName, callId, args, own: undefined });
    return record;
  }

  #concerns(called: string): boolean {
    return this.#names(called).some((name) => this.rules.concerns(name));
  }

  #names(called: string): readonly string[] {
    return [...new Set([called, ...[...this.namesOf].flatMap((namesOf) => namesOf(called))])];
  }

  /** Applies the rules. */
  #leaveOut({ toolName, callId, args }: NamedArgs): LeftOutArgs {
    const values: JsonValue[] = [];
    const replace = (value: JsonValue, pointer: string): JsonValue => {
      if (isLeftOut(value)) return value;
      values.push(value);
      this.values.add(value);
      this.values.addKeys(value);
      return this.digest({ toolName, callId, pointer }, value);
    };
    const left = this.#names(toolName).reduce((each, name) => this.rules.apply(name, each, replace), args);
    return { args: left, values };
  }

  /** Omits texts that repeat a value too: a call with incomplete arguments is never run from its record. */
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

/** Places that repeat a value are left out: other processes then take the call as one that touches everything. */
function withoutChanged(
  { places, ...call }: CallEntry,
  effects: CallEntry['effects'],
  hide: (text: string) => string,
): CallEntry {
  if (places === undefined) return call;
  const isSame = JSON.stringify(effects) === JSON.stringify(call.effects);
  const isPlain = isSame && places.every((place) => place === null || hide(place) === place);
  return isPlain ? { ...call, places } : call;
}

/** In notes: hashes of the approved arguments and of a command. */
const HASHES: ReadonlySet<string> = new Set(['argsHash', 'command']);

type NamedArgs = Pick<CallEntry, 'toolName' | 'callId' | 'args'>;

interface LeftOutArgs {
  readonly args: JsonObject;
  /** The omitted values. */
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
