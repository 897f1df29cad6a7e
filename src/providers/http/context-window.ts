import type { ModelUsage } from '../../contract/model.js';
import type { ModelMessage, ModelRequest } from '../model.js';
import { HTTP_FORMATS, httpOf } from '../registry.js';

/** Undefined for an unknown model. A server may serve models of every provider. */
export function contextTokensOf(name: string): number | undefined {
  const known = name.toLowerCase();
  return HTTP_FORMATS.flatMap((format) => httpOf(format).contextWindows).find(([pattern]) =>
    pattern.test(known),
  )?.[1];
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
