import type { ToolResult } from '../contract/call.js';
import type { CallRecord, ConversationFact } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import type { CallOrigins, Origin } from '../contract/origin.js';
import type { Policy } from '../contract/policy.js';
import type { JournalArchive } from '../journal/open-archive.js';
import { isOrigin } from '../patterns/origin.js';
import { CLEAN_MARK, ConversationOrigins } from '../provenance/conversation-origins.js';
import { ConversationLights } from '../provenance/lights.js';
import { originOfCall } from '../provenance/origin-of-call.js';
import { outputInWords } from '../providers/content-words.js';

/** The recorded origins of a result. */
export function originsOf(result: Pick<ToolResult, 'metadata'> | undefined): readonly Origin[] {
  const origin = result?.metadata.origin;
  return Array.isArray(origin) ? origin.filter(isOrigin) : [];
}

/** A result as a conversation has seen it. */
export interface SeenResult {
  readonly callId: string;
  readonly origin: readonly Origin[];
  readonly text: string;
}

/** Undefined: the call has no result. An older record names no origin; the effects of its call then show it. */
export function seenResult(
  record: Pick<CallRecord, 'callId' | 'toolName' | 'effects' | 'result'>,
): SeenResult | undefined {
  const { callId, toolName, effects, result } = record;
  if (result === undefined) return undefined;
  const { error, metadata } = result;
  const output = outputInWords(result);
  const text = error === undefined ? output : `${error.message}\n${output}`;
  const said = originsOf(result);
  // A call that never ran has read nothing.
  if (said.length > 0 || metadata.origin !== undefined || error?.details?.executed === 'no')
    return { callId, origin: said, text };
  const containment = { network: reachedNetwork(result) };
  return { callId, origin: originOfCall({ toolName, isProgram: false, effects, containment }), text };
}

function reachedNetwork({ metadata }: ToolResult): boolean {
  return (metadata.sandbox as { readonly network?: unknown } | undefined)?.network === true;
}

/** The origins that conversations of a journal have seen, while their calls are read in order. */
export class RecordedOrigins {
  readonly #conversations = new Map<string, ConversationOrigins>();

  saw(conversation: string, result: SeenResult | undefined): void {
    if (result === undefined || result.origin.length === 0) return;
    let known = this.#conversations.get(conversation);
    if (known === undefined) {
      known = new ConversationOrigins();
      this.#conversations.set(conversation, known);
    }
    known.add(result.callId, result.origin, result.text);
  }

  /** Forgets what a conversation has seen, because it was marked clean. */
  clear(conversation: string): void {
    this.#conversations.delete(conversation);
  }

  /** Undefined: nothing relevant was seen. */
  of(conversation: string, args: JsonObject): CallOrigins | undefined {
    const known = this.#conversations.get(conversation);
    return known === undefined || known.isEmpty ? undefined : known.of(args);
  }
}

/** Everything that a recorded conversation has seen since it was last marked clean. */
export function readSeen(archive: JournalArchive, conversation: string): RecordedOrigins {
  const seen = new RecordedOrigins();
  for (const record of callsSinceClean(archive, conversation)) seen.saw(conversation, seenResult(record));
  return seen;
}

/** The lights of a recorded conversation since it was last marked clean. */
export function readLights(archive: JournalArchive, conversation: string): ConversationLights {
  const lights = new ConversationLights();
  for (const record of callsSinceClean(archive, conversation)) {
    const seen = seenResult(record);
    // A call that never ran has lit nothing.
    if (record.result === undefined || seen === undefined || seen.origin.length === 0) continue;
    lights.ran(seen.origin, record.effects, reachedNetwork(record.result));
  }
  return lights;
}

function* callsSinceClean(archive: JournalArchive, conversation: string): Generator<CallRecord> {
  const cleanAt = markedCleanAt(archive.facts(conversation));
  // A deferred call may have been accepted before.
  for (const { id } of archive.batches({ conversation }).toReversed())
    for (const record of archive.calls(id)) if ((record.finishedAt ?? 0) >= cleanAt) yield record;
}

/** The time when a conversation was last marked clean, in milliseconds since the epoch; 0: never. */
export function markedCleanAt(facts: readonly Pick<ConversationFact, 'key' | 'value'>[]): number {
  const value = facts.findLast(({ key }) => key === CLEAN_MARK)?.value;
  return Array.isArray(value) && typeof value[1] === 'number' ? value[1] : 0;
}

/** A policy that gets the origins from a journal, as if its model had seen them. */
export function informedPolicy<P extends Policy>(
  policy: P,
  originsFor: (args: JsonObject) => CallOrigins | undefined,
): Policy {
  return {
    decide(question) {
      const origins = originsFor(question.args ?? {});
      return policy.decide(origins === undefined ? question : { ...question, origins });
    },
    ...(policy.screen === undefined ? {} : { screen: policy.screen.bind(policy) }),
    ...(policy.refuses === undefined ? {} : { refuses: policy.refuses.bind(policy) }),
  };
}
