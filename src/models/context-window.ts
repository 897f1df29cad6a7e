import type { ModelMessage, ModelRequest, ModelUsage } from '../contract/model.js';

/** Known context sizes in tokens, input and output together. The first matching name counts. */
const WINDOWS: readonly (readonly [name: RegExp, tokens: number])[] = [
  [/claude-(?:instant|2\.0)/, 100_000],
  [/claude/, 200_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-5.*chat/, 128_000],
  [/gpt-5|codex/, 400_000],
  [/gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-(?:1106|0125)/, 128_000],
  [/gpt-4-32k/, 32_768],
  [/gpt-4(?![.\d])/, 8_192],
  [/gpt-3\.5/, 16_385],
  [/gpt-oss/, 131_072],
  [/\bo1-(?:mini|preview)/, 128_000],
  [/\bo[134](?:-|$)/, 200_000],
  [/gemini-1\.5-pro/, 2_097_152],
  [/gemini-1\.0|gemini-pro(?:-vision)?$/, 32_768],
  [/gemini/, 1_048_576],
];

/** Undefined for an unknown model. */
export function contextTokensOf(name: string): number | undefined {
  const known = name.toLowerCase();
  return WINDOWS.find(([pattern]) => pattern.test(known))?.[1];
}

/** For a conversation of unknown size (D031). */
export const FALLBACK_CAPACITY_BYTES = 64 * 1024;

const DEFAULT_RESERVE_TOKENS = 8_192;
const BYTES_PER_TOKEN = 4;

export interface Capacity {
  /** The model's context size; left out if unknown. */
  readonly contextTokens?: number | undefined;
  /** The current size of the conversation; left out if unknown. */
  readonly usedTokens?: number | undefined;
  /** Reserved for the answer. Default 8,192, but at most a quarter of the context. */
  readonly reserveTokens?: number | undefined;
}

/**
 * The maximum bytes for the results of a batch, so that the next request still fits (D031): the rest of the
 * context without the answer and a margin of 2 %, at four bytes a token; 64 KB if unknown.
 */
export function availableCapacityBytes({ contextTokens, usedTokens, reserveTokens }: Capacity): number {
  if (contextTokens === undefined || usedTokens === undefined) return FALLBACK_CAPACITY_BYTES;
  const reserve = Math.min(reserveTokens ?? DEFAULT_RESERVE_TOKENS, Math.floor(contextTokens / 4));
  const margin = Math.ceil(contextTokens / 50);
  return Math.max(0, contextTokens - usedTokens - reserve - margin) * BYTES_PER_TOKEN;
}

/**
 * The size of the conversation before the next request: the provider's count for the last one, and an
 * estimate of later messages. Without a count everything is estimated.
 * @param added since the counted request, without the model's own answer
 */
export function usedTokens(
  request: ModelRequest,
  counted?: ModelUsage,
  added: readonly ModelMessage[] = [],
): number {
  if (counted === undefined || counted.inputTokens === 0) return estimateTokens(request);
  return counted.inputTokens + counted.outputTokens + sum(added.map(messageTokens));
}

/** Three bytes a token, more than most texts need: too much is safer than too little. */
export function estimateTokens({ system = '', messages, tools }: ModelRequest): number {
  return textTokens(system) + textTokens(JSON.stringify(tools)) + sum(messages.map(messageTokens));
}

const MESSAGE_TOKENS = 8;

function messageTokens(message: ModelMessage): number {
  return MESSAGE_TOKENS + partsTokens(message.role === 'user' ? message.content : message.native.messages);
}

/** A provider's typical count for a large image, and for a page of a document, which has 100 KB or more. */
const MEDIA_TOKENS = 2_000;
const BYTES_PER_DOCUMENT_TOKEN = 50;

function partsTokens(value: unknown): number {
  if (typeof value === 'string') return isDataUrl(value) ? mediaTokens(value, value) : textTokens(value);
  if (Array.isArray(value)) return sum(value.map(partsTokens));
  if (typeof value !== 'object' || value === null) return 1;
  const { data, ...rest }: { readonly data?: unknown } = value;
  const type = Object.values(rest).find((part) => typeof part === 'string' && MEDIA_TYPE.test(part));
  if (typeof type === 'string' && (typeof data === 'string' || data instanceof Uint8Array)) {
    return mediaTokens(type, data);
  }
  return sum(Object.entries(value).map(([name, part]) => textTokens(name) + partsTokens(part)));
}

const MEDIA_TYPE = /^(?:[a-z]+\/[\w.+-]+|wav|mp3)$/;

function isDataUrl(text: string): boolean {
  return text.startsWith('data:') && text.slice(0, 100).includes(';base64,');
}

function mediaTokens(type: string, data: string | Uint8Array): number {
  const isDocument = type.slice(0, 30).includes('application/pdf');
  return isDocument ? Math.max(MEDIA_TOKENS, data.length / BYTES_PER_DOCUMENT_TOKEN) : MEDIA_TOKENS;
}

function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
