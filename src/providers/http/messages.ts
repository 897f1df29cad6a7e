import type { ToolCall, ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { CallOrigin } from '../call-origin.js';
import { asJsonObjects } from '../json-fields.js';
import type { AssistantMessage, ModelFormat, ModelMessage, ToolMessage } from '../model.js';
import { turnsOf } from '../registry.js';
import { restoreCalls } from '../response-calls.js';

/**
 * A conversation in a provider's format. Messages from the same format are unchanged; others are rebuilt from
 * their text, calls and results.
 * @param model its name, because some accept less than others
 */
export function toNativeMessages(
  format: ModelFormat,
  messages: readonly ModelMessage[],
  model = '',
): readonly JsonObject[] {
  return messages.flatMap((message, at) => {
    if (message.role === 'user') return [turnsOf(format).writeUser(message.content)];
    if (message.native.format === format) return message.native.messages;
    if (message.role === 'assistant') return turnsOf(format).writeAssistant(withSafeIds(message, at), model);
    const asked = messages[at - 1];
    if (asked?.role !== 'assistant') return [];
    const results = message.results.map((result) => ({
      ...result,
      callId: safeId(asked.calls.find(({ id }) => id === result.callId) ?? { id: result.callId }, at - 1),
    }));
    return writeAnswer(format, withSafeIds(asked, at - 1), results);
  });
}

/** A message with text and no calls. */
export function textMessage(format: ModelFormat, text: string): AssistantMessage {
  const message = {
    role: 'assistant',
    text,
    calls: [],
    errors: [],
    native: { format, messages: [] },
  } as const;
  return { ...message, native: { format, messages: turnsOf(format).writeAssistant(message, '') } };
}

/** Ids that every provider accepts, unique in the conversation. */
function withSafeIds(message: AssistantMessage, at: number): AssistantMessage {
  const { origins: _, ...rest } = message;
  return {
    ...rest,
    calls: message.calls.map((call) => ({ ...call, id: safeId(call, at) })),
    errors: message.errors.map((error) => ({ ...error, id: `error_${at}_${error.index}` })),
  };
}

function safeId({ id, madeUp }: Pick<ToolCall, 'id' | 'madeUp'>, at: number): string {
  return (madeUp === undefined ? id : `${id}_${at}`).replace(/[^A-Za-z0-9_-]/g, '_');
}

/**
 * Builds the message with the results for the calls of `message`, for a conversation that continues later.
 * @param results one for each readable call, in any order; unreadable calls are answered automatically
 * @throws ToolError `bad_args` if a result is missing or superfluous.
 */
export function answerMessage(message: AssistantMessage, results: readonly ToolResult[]): ToolMessage {
  const { format } = message.native;
  return { role: 'tool', results, native: { format, messages: writeAnswer(format, message, results) } };
}

function writeAnswer(
  format: ModelFormat,
  { calls, errors, origins }: AssistantMessage,
  results: readonly ToolResult[],
): readonly JsonObject[] {
  const kept = {
    calls: [...calls],
    errors: [...errors],
    ...(origins === undefined ? {} : { origins: origins.map(toOrigin) }),
  };
  return asJsonObjects(restoreCalls(format, kept).answer(results));
}

/** It was one when it was stored. */
function toOrigin(kept: JsonObject): CallOrigin {
  return { ...kept, callId: String(kept.callId) };
}
