import type { ToolCall, ToolFailure, ToolResult } from '../contract/call.js';
import type { EndedTurn, Transcript, TranscriptEntry } from '../contract/conversation.js';
import type { Executor } from '../contract/executor.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { answerMessage } from '../providers/http/messages.js';
import type { AssistantMessage, ModelMessage, ToolMessage } from '../providers/model.js';

/**
 * The messages of a conversation, in memory and in the journal.
 *
 * 1. A message is recorded before the next step: the assistant's message, with the id of its batch, before
 *   any of its calls runs.
 * 2. The executor records results call by call; the message with the results is built from them. Only results
 *   without a batch (mode `parse_only`, `disabled`) are recorded as a message.
 */
export class Conversation {
  readonly #messages: ModelMessage[] = [];
  readonly #ids = new Set<string>();
  readonly #transcript: Transcript;
  readonly #name: string;
  readonly #executor: Executor;
  readonly #areRecorded: boolean;
  #resumed: Promise<void> | undefined;

  /** @param given says whether the journal is still empty, and whether the executor records the results */
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

  /** Runs once, unless it fails. @throws ToolError `journal_unavailable` */
  resume(): Promise<void> {
    this.#resumed ??= this.#read().catch((error: unknown) => {
      this.#resumed = undefined;
      throw error;
    });
    return this.#resumed;
  }

  /** Whether an earlier response had a call with this id. It is taken from now on. */
  takeId(id: string): boolean {
    const isKnown = this.#ids.has(id);
    this.#ids.add(id);
    return isKnown;
  }

  /** @returns the remaining task; undefined: the turn is over */
  endTurn(turn: EndedTurn, signal: AbortSignal): Promise<string | undefined> {
    return this.#transcript.endTurn(turn, signal);
  }

  async addUser(text: string): Promise<void> {
    await this.#transcript.add('user', text);
    this.#messages.push({ role: 'user', content: text });
  }

  /** @param batch the batch of its calls; left out if it has none */
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
    // After this, calls that a dead process left unfinished have answers.
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

  /** The calls of this conversation that wait for approval. */
  async #waiting(): Promise<ReadonlySet<string>> {
    const batches = await this.#executor.waiting({ conversation: this.#name });
    return new Set(batches.flatMap(({ requests }) => requests.map(({ callId }) => callId)));
  }
}

/** A model's message is JSON already; undefined members are left out. */
function toJson(message: AssistantMessage | ToolMessage): JsonValue {
  return JSON.parse(JSON.stringify(message));
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// This class wrote the entries in the journal; a message of another program is skipped.
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
  const message = 'The record does not give the outcome of this call. Look before you repeat it.';
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
