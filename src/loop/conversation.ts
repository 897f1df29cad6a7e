import type { ToolCall, ToolFailure, ToolResult } from '../contract/call.js';
import type { Transcript, TranscriptEntry } from '../contract/conversation.js';
import type { Executor } from '../contract/executor.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import type { AssistantMessage, ModelMessage, ToolMessage } from '../contract/model.js';
import { answerMessage } from '../models/messages.js';

/**
 * The messages of a conversation, here and in the journal.
 *
 * 1. A message is recorded before the next step: the assistant's with the id of the batch of its calls, before any of
 *    them runs.
 * 2. Results are recorded by the executor, call by call; the message that holds them is written from there. Only
 *    results that no batch has (mode `parse_only`, `disabled`) are recorded as a message.
 */
export class Conversation {
  readonly #messages: ModelMessage[] = [];
  readonly #ids = new Set<string>();
  readonly #transcript: Transcript;
  readonly #name: string;
  readonly #executor: Executor;
  readonly #areRecorded: boolean;
  #resumed: Promise<void> | undefined;

  /** @param given whether it has nothing in the journal yet; whether the executor records the results of its calls */
  constructor(
    name: string,
    executor: Executor,
    given: { readonly isNew: boolean; readonly areRecorded: boolean },
  ) {
    this.#name = name;
    this.#transcript = executor.transcript(name);
    this.#executor = executor;
    this.#areRecorded = given.areRecorded;
    if (given.isNew) this.#resumed = Promise.resolve();
  }

  get messages(): readonly ModelMessage[] {
    return this.#messages;
  }

  /** Once, unless it fails. @throws ToolError `journal_unavailable` */
  resume(): Promise<void> {
    this.#resumed ??= this.#read().catch((error: unknown) => {
      this.#resumed = undefined;
      throw error;
    });
    return this.#resumed;
  }

  /** Whether an earlier response had a call of this id. From now on one has. */
  takeId(id: string): boolean {
    const isKnown = this.#ids.has(id);
    this.#ids.add(id);
    return isKnown;
  }

  async addUser(text: string): Promise<void> {
    await this.#transcript.add('user', text);
    this.#messages.push({ role: 'user', content: text });
  }

  /** @param batch of its calls; left out: it has none */
  async addAssistant(message: AssistantMessage, batch?: string): Promise<void> {
    const kept = { message: toJson(message), ...(batch === undefined ? {} : { batch }) };
    await this.#transcript.add('assistant', kept);
    this.#messages.push(message);
  }

  async addAnswer(message: ToolMessage): Promise<void> {
    this.#messages.push(message);
    if (!this.#areRecorded) await this.#transcript.add('tool', toJson(message));
  }

  async #read(): Promise<void> {
    const entries = await this.#transcript.read();
    if (entries.length === 0) return;
    // What a dead process left unfinished has its answers from here on.
    await this.#executor.recover();
    const messages: ModelMessage[] = [];
    for (const [index, entry] of entries.entries()) {
      messages.push(...(await this.#restore(entry, entries[index + 1])));
    }
    this.#messages.splice(0, 0, ...messages);
    for (const message of messages) {
      if (message.role === 'assistant') for (const { id } of message.calls) this.#ids.add(id);
    }
    for (const id of await this.#transcript.callIds()) this.#ids.add(id);
  }

  async #restore(
    { role, content }: TranscriptEntry,
    next?: TranscriptEntry,
  ): Promise<readonly ModelMessage[]> {
    if (role === 'user' && typeof content === 'string') return [{ role, content }];
    if (role === 'tool' && isToolMessage(content)) return [content];
    if (role !== 'assistant' || !isObject(content) || !isAssistantMessage(content.message)) return [];
    const { message, batch } = content;
    const hasCalls = message.calls.length > 0 || message.errors.length > 0;
    if (!hasCalls || next?.role === 'tool') return [message];
    const found = typeof batch === 'string' ? await this.#transcript.answers(batch, message.calls) : [];
    const waiting =
      found.length === message.calls.length && !found.includes(undefined) ? NONE : await this.#waiting();
    const results = message.calls.map(
      (call, index) => found[index] ?? (waiting.has(call.id) ? stillWaits(call) : notOnRecord(call)),
    );
    return [message, answerMessage(message, results)];
  }

  /** The calls of this conversation whose approval was deferred. */
  async #waiting(): Promise<ReadonlySet<string>> {
    const batches = await this.#executor.waiting({ conversation: this.#name });
    return new Set(batches.flatMap(({ requests }) => requests.map(({ callId }) => callId)));
  }
}

/** What came from a model is JSON already; what is undefined in it is left out. */
function toJson(message: AssistantMessage | ToolMessage): JsonValue {
  return JSON.parse(JSON.stringify(message));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// What the journal gives back was written by this class; a message of another program is left out.
function isAssistantMessage(value: unknown): value is AssistantMessage & JsonValue {
  if (!isObject(value)) return false;
  const { role, text, calls, errors, native } = value;
  return (
    role === 'assistant' &&
    typeof text === 'string' &&
    Array.isArray(calls) &&
    Array.isArray(errors) &&
    isObject(native)
  );
}

function isToolMessage(value: unknown): value is ToolMessage & JsonValue {
  return isObject(value) && value.role === 'tool' && Array.isArray(value.results) && isObject(value.native);
}

const NONE: ReadonlySet<string> = new Set();

function notOnRecord(call: ToolCall): ToolResult {
  const message = 'The record does not say what became of this call. Look before you repeat it.';
  return failed(call, { code: 'outcome_unknown', message, details: { executed: 'maybe' } });
}

function stillWaits(call: ToolCall): ToolResult {
  const message = "Not run yet: it still waits for the person's approval. Do not repeat it.";
  return failed(call, { code: 'approval_unavailable', message, details: { executed: 'no' } });
}

function failed({ id, name }: ToolCall, error: ToolFailure['error']): ToolResult {
  return {
    callId: id,
    toolName: name,
    success: false,
    output: '',
    error,
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  };
}
