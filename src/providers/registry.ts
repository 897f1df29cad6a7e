import { showGiven } from '../base/normalize-options.js';
import { ToolError } from '../errors/tool-error.js';
import { anthropic } from './anthropic/anthropic.js';
import { fenced } from './fenced/fenced.js';
import { gemini } from './gemini/gemini.js';
import type { HttpApi } from './http/http-api.js';
import { native } from './native/native.js';
import { openai } from './openai/openai.js';
import { openaiResponses } from './openai-responses/openai-responses.js';
import type { Provider } from './provider.js';
import type { HistoryShape } from './repair/history-shape.js';
import type { ProviderTurns } from './write-turns.js';

/**
 * Every wire format, one line each. All lists and types of formats are derived from it. The first format that
 * recognizes a response reads it, so the most distinctive ones come first.
 */
const providers = {
  openai,
  'openai-responses': openaiResponses,
  gemini,
  anthropic,
  native,
  fenced,
} satisfies Readonly<Record<string, Provider>>;

type Providers = typeof providers;

/** The formats in which models request and receive tool calls. */
export type WireFormat = keyof Providers;

/**
 * The results of a response for the next request: one message with all results, or a list with one element
 * each. They fit the message types of the provider's SDK; the caller may change the lists.
 */
export type Answers = { readonly [F in WireFormat]: ReturnType<Providers[F]['write']> };

/**
 * The output of `describeTools` by format: the `tools` of a request, or a text for the system prompt
 * (fenced). The caller may change the lists, as the providers' clients expect.
 */
export type ToolDescriptions = { readonly [F in WireFormat]: ReturnType<Providers[F]['describe']> };

/**
 * A format with a place for results. Text with fenced blocks has none: it is answered in the native format.
 */
export type HistoryFormat = {
  readonly [F in WireFormat]: Providers[F] extends { readonly history: HistoryShape } ? F : never;
}[WireFormat];

/** A format that a server speaks: `chat` can ask a model with it. */
export type HttpFormat = {
  readonly [F in WireFormat]: Providers[F] extends { readonly http: HttpApi } ? F : never;
}[WireFormat];

export const PROVIDERS: { readonly [F in WireFormat]: Provider<Answers[F], ToolDescriptions[F]> } = providers;

export const WIRE_FORMATS = Object.keys(providers) as readonly WireFormat[];

export const HISTORY_FORMATS: readonly HistoryFormat[] = WIRE_FORMATS.filter(
  (format): format is HistoryFormat => PROVIDERS[format].history !== undefined,
);

export const HTTP_FORMATS: readonly HttpFormat[] = WIRE_FORMATS.filter(isHttpFormat);

export function isHttpFormat(value: unknown): value is HttpFormat {
  return isWireFormat(value) && PROVIDERS[value].http !== undefined;
}

export function isWireFormat(value: unknown): value is WireFormat {
  return typeof value === 'string' && Object.hasOwn(providers, value);
}

/** @throws ToolError `config_invalid` for an unknown format. */
export function providerOf<F extends WireFormat>(format: F): Provider<Answers[F], ToolDescriptions[F]> {
  if (isWireFormat(format)) return PROVIDERS[format];
  throw new ToolError(
    'config_invalid',
    `There is no wire format ${showGiven(format)}. Known: ${WIRE_FORMATS.join(', ')}.`,
  );
}

export function historyOf(format: HistoryFormat): HistoryShape {
  return providers[format].history;
}

export function turnsOf(format: HistoryFormat): ProviderTurns {
  return providers[format].turns;
}

export function httpOf(format: HttpFormat): HttpApi {
  return providers[format].http;
}

/** `OpenAI chat completions, OpenAI responses, Gemini or Anthropic`, for messages. */
export function listTitles(conjunction: 'and' | 'or'): string {
  const titles = WIRE_FORMATS.flatMap((format) => PROVIDERS[format].title ?? []);
  return `${titles.slice(0, -1).join(', ')} ${conjunction} ${titles.at(-1)}`;
}
