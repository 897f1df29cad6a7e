import { isFilledText, isObject, isWhole, normalizeOptions, option } from '../../base/normalize-options.js';
import { parseUrl } from '../../base/parse-url.js';
import { ToolError } from '../../errors/tool-error.js';
import type { HttpApi } from './http-api.js';

export interface ModelOptions {
  /** The provider's name for the model. */
  readonly model: string;
  /** Default: from the environment. Optional with a custom base URL: then no key is sent. */
  readonly apiKey?: string | undefined;
  /**
   * As the provider's own SDK takes it: OpenAI's with `/v1`, the others without. Default: from the
   * environment.
   */
  readonly baseUrl?: string | undefined;
  /**
   * Maximum tokens of one answer. Default: the provider's; for Anthropic, which has none, the model's limit.
   */
  readonly maxTokens?: number | undefined;
  /** Added to every request. They override ours. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The number of retries after 408, 429, 5xx and failed connections, before the first token. Default 2. */
  readonly retries?: number | undefined;
  /**
   * Maximum silence of the provider, before its first byte and between two bytes. Milliseconds; default
   * 300,000.
   */
  readonly timeoutMs?: number | undefined;
}

/** The complete options. */
export interface ModelSettings {
  readonly model: string;
  readonly url: string;
  /** The name of the service in messages: the provider, or its protocol at another address. */
  readonly from: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxTokens: number | undefined;
  readonly retries: number;
  readonly timeoutMs: number;
  /** Values that must not appear in a message. */
  readonly secrets: readonly string[];
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * @throws ToolError `config_invalid` for an invalid option or a missing key. The message never contains a
 * key.
 */
export function toSettings(api: HttpApi, given: ModelOptions, environment: Environment): ModelSettings {
  const options = normalizeOptions<ModelOptions>(api.factory, hideKey(api, given), {
    model: option('', isFilledText, 'the name of a model'),
    apiKey: option(undefined, () => true, 'a text'),
    baseUrl: option(undefined, isFilledText, 'a URL'),
    maxTokens: option(undefined, isWhole(1), 'a whole number from 1'),
    headers: option({}, isObject, 'an object of texts'),
    retries: option(2, isWhole(0), 'a whole number from 0'),
    timeoutMs: option(300_000, isTimeout, 'milliseconds from 1 to 2147483647'),
  });
  if (options.model === '') throw invalid(`${api.factory}.model is missing: name a model.`);
  const own = headersIn(api, options.headers);
  const base = options.baseUrl ?? firstFilled(environment, api.baseUrlNames);
  const key = given.apiKey?.trim() ?? firstFilled(environment, api.keyNames);
  if (key === undefined && base === undefined && !hasKey(api, own)) {
    throw invalid(`There is no key for ${api.title}: set ${api.keyNames[0]}, or give the option apiKey.`);
  }
  const url = toUrl(api, base ?? api.defaultBaseUrl, options.model);
  return {
    model: options.model,
    url: url.href,
    from: url.host === parseUrl(api.defaultBaseUrl)?.host ? api.title : `${url.host} (${api.title})`,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...api.headers,
      ...(key === undefined ? {} : keyHeader(api, key)),
      ...own,
    },
    maxTokens: options.maxTokens,
    retries: options.retries ?? 0,
    timeoutMs: options.timeoutMs ?? 0,
    secrets: [...(key === undefined ? [] : [key]), ...Object.values(own)].filter(({ length }) => length >= 8),
  };
}

/** A message shows an invalid option, but never a key. */
function hideKey(api: HttpApi, given: ModelOptions): ModelOptions {
  if (typeof given !== 'object' || given === null || given.apiKey === undefined) return given;
  if (typeof given.apiKey !== 'string' || given.apiKey === '') {
    throw invalid(`${api.factory}.apiKey must be a text that is not empty.`);
  }
  return { ...given, apiKey: undefined };
}

/** The range of Node's timers. */
function isTimeout(value: unknown): boolean {
  return isWhole(1)(value) && (value as number) <= 2_147_483_647;
}

/** Visible characters, and spaces between them. */
const HEADER_VALUE = /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function headersIn(api: HttpApi, given: object | undefined): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given ?? {})) {
    if (!HEADER_NAME.test(name)) throw invalid(`${api.factory}.headers has a name that is none of a header.`);
    if (typeof value !== 'string' || !HEADER_VALUE.test(value)) {
      throw invalid(`${api.factory}.headers["${name}"] must be a text of one line that is not empty.`);
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function keyHeader(api: HttpApi, key: string): Record<string, string> {
  // Otherwise the message about the invalid header would show it.
  if (!HEADER_VALUE.test(key)) {
    throw invalid(`The key for ${api.title} is none: it holds a line break or a character that no key has.`);
  }
  return api.keyHeader(key);
}

function hasKey(api: HttpApi, headers: Readonly<Record<string, string>>): boolean {
  return [...Object.keys(api.keyHeader('')), 'authorization'].some((name) => name in headers);
}

function firstFilled(environment: Environment, names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]?.trim()).find((value) => value !== undefined && value !== '');
}

function toUrl(api: HttpApi, base: string, model: string): URL {
  const url = parseUrl(base);
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw invalid(`The base URL for ${api.title} must begin with http:// or https://.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid(
      `The base URL for ${api.title} must not hold a user or a password: use the option headers.`,
    );
  }
  const [path = '', query] = api.path(model).split('?');
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`;
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  url.hash = '';
  return url;
}

function invalid(message: string): ToolError {
  return new ToolError('config_invalid', message);
}
