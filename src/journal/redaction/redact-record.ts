import { withBase64Json } from '../../base/base64.js';
import type { ToolResult } from '../../contract/call.js';
import { REDACTION_MARKER } from '../../contract/call.js';
import type { Effect } from '../../contract/effect.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { leaves } from './known-values.js';
import { mapValues } from './redaction-rules.js';

export type Hide = (text: string) => string;

/** Hides every text and every name in a value. Returns the same value if nothing is hidden. */
export function hideIn(value: JsonValue, hide: Hide): JsonValue {
  if (typeof value === 'string') return hide(value);
  const mapped = mapValues(value, (item) => hideIn(item, hide));
  if (typeof mapped !== 'object' || mapped === null || Array.isArray(mapped)) return mapped;
  const names = Object.keys(mapped);
  if (names.every((name) => hide(name) === name)) return mapped;
  return Object.fromEntries(Object.entries(mapped).map(([name, item]) => [hide(name), item]));
}

/** The result for the record; `metadata.redacted` is set if it differs from the original. */
export function hideInResult(
  result: ToolResult,
  hide: Hide,
  hideBytes: (bytes: Uint8Array) => Uint8Array,
): ToolResult {
  const { callId, toolName, content, ...said } = result;
  const plain = said as unknown as JsonObject;
  const hidden = hideIn(plain, hide);
  const blocks = content?.map((block) => {
    const { data, ...rest } = { data: undefined, ...block };
    const text = hideIn(rest as unknown as JsonObject, hide);
    const bytes = data === undefined ? undefined : hideBytes(data);
    if (text === (rest as unknown) && bytes === data) return block;
    return withBase64Json({
      ...(text as object),
      ...(bytes === undefined ? {} : { data: bytes }),
    }) as typeof block;
  });
  const isSame = hidden === plain && blocks?.every((block, index) => block === content?.[index]) !== false;
  if (isSame) return result;
  const changed = hidden as unknown as Omit<ToolResult, 'callId' | 'toolName' | 'content'>;
  return {
    ...changed,
    callId,
    toolName,
    ...(blocks === undefined ? {} : { content: blocks }),
    metadata: { ...changed.metadata, redacted: true },
  } as ToolResult;
}

/** The fields of an effect, without those that repeat a value or a part of one. */
export function hideInEffects(
  effects: readonly Effect[],
  values: readonly JsonValue[],
  hide: Hide,
): readonly Effect[] {
  const texts = values.flatMap((value) => [...leaves(value)]).sort((a, b) => b.length - a.length);
  const hideOwn = (text: string): string => {
    if (texts.some((value) => value === text || (text !== '' && value.includes(text))))
      return REDACTION_MARKER;
    return texts.reduce(
      (left, value) => (value.length < 3 ? left : left.replaceAll(value, REDACTION_MARKER)),
      text,
    );
  };
  return effects.map((effect) => {
    const { kind, ...rest } = effect;
    const fields = Object.entries(rest as Readonly<Record<string, JsonValue>>).map(([name, value]) => {
      const isWord = name === 'shell' || name === 'access';
      return [name, isWord ? value : hideIn(value, (text) => hide(hideOwn(text)))];
    });
    return { kind, ...Object.fromEntries(fields) } as Effect;
  });
}

/** Replaces the arguments of a call, given its called name. Undefined if nothing is omitted. */
export type RedactArgs = (toolName: string, callId: string, args: JsonObject) => JsonObject;

/**
 * Omits the arguments of every call inside a value, in any provider's format: an object with a `name` and
 * arguments, as an object or as JSON. Unreadable JSON is omitted as a whole.
 * @param concerns whether any argument of the tool's calls is omitted
 */
export function redactCallsIn(
  value: JsonValue,
  redact: RedactArgs,
  concerns: (toolName: string) => boolean,
): JsonValue {
  const walk = (each: JsonValue): JsonValue => {
    const mapped = mapValues(each, walk);
    if (!isObject(mapped)) return mapped;
    const { name } = mapped;
    const id = mapped.id ?? mapped.call_id ?? '';
    if (typeof name !== 'string' || !concerns(name)) return mapped;
    return mapValues(mapped, (item, field) => {
      if (!ARGUMENT_FIELDS.has(field)) return item;
      if (isObject(item)) return redact(name, String(id), item);
      return typeof item === 'string' ? redactJson(item, (args) => redact(name, String(id), args)) : item;
    });
  };
  return walk(value);
}

const ARGUMENT_FIELDS: ReadonlySet<string> = new Set(['args', 'arguments', 'input', 'parameters']);

function redactJson(text: string, redact: (args: JsonObject) => JsonObject): string {
  try {
    const args: unknown = JSON.parse(text);
    if (!isObject(args)) return REDACTION_MARKER;
    const redacted = redact(args);
    return redacted === args ? text : JSON.stringify(redacted);
  } catch {
    return REDACTION_MARKER;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
