import { resolve } from 'node:path';
import type { JsonSchema } from '../contract/json.js';
import type { Flaw } from '../schema/definition-flaws.js';
import { mustBe, SECONDS, type ValueKind } from './value-kind.js';

/** How to reach a server: `[mcp.servers.NAME]`. Exactly one of `command` and `url`. */
export interface McpServerSettings {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
  /** Names of variables that are passed on, or values. */
  readonly env?: readonly string[] | Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly headers?: Readonly<Record<string, McpHeader>>;
  readonly network?: boolean;
  readonly trusted?: boolean;
  readonly tools?: readonly string[];
  readonly timeoutMs?: number;
}

export type McpHeader = string | { readonly env: string } | { readonly command: readonly string[] };

const EXPECTED =
  'tables by name, each with `command` or `url`: write [mcp.servers.NAME] (NAME: letters, digits, _ and -, at most 32, no "__")';
const NAME = /^(?!_)(?!.*__)[A-Za-z0-9_-]{1,32}(?<!_)$/;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '' && !value.includes('\0');
const isTexts: Check = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === 'string' && !item.includes('\0'));
const isTextTable: Check = (value) =>
  isTable(value) && Object.values(value).every((each) => typeof each === 'string');
const isHeader: Check = (value) =>
  isText(value) ||
  (isTable(value) &&
    Object.keys(value).length === 1 &&
    (('env' in value && isText(value.env)) ||
      ('command' in value && isTexts(value.command) && (value.command as unknown[]).length > 0)));
export const isWebAddress = (value: string): boolean => /^https?:\/\//.test(value) && URL.canParse(value);
const isBoolean: Check = (value) => typeof value === 'boolean';

const FIELDS: Readonly<
  Record<string, { readonly check: Check; readonly expected: string; readonly schema: JsonSchema }>
> = {
  command: { check: isText, expected: 'a program', schema: { type: 'string', minLength: 1 } },
  args: { check: isTexts, expected: 'a list of texts', schema: { type: 'array', items: { type: 'string' } } },
  url: {
    // An address that refers to a variable is checked when a connection starts.
    check: (value) => typeof value === 'string' && (isWebAddress(value) || value.includes('${env:')),
    expected: 'an http or https address',
    schema: { type: 'string', pattern: '^https?://|\\$\\{env:' },
  },
  env: {
    check: (value) => isTexts(value) || isTextTable(value),
    expected: 'a list of names of variables that are passed on, or a table of values',
    schema: {
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        { type: 'object', additionalProperties: { type: 'string' } },
      ],
    },
  },
  cwd: { check: isText, expected: 'a directory', schema: { type: 'string', minLength: 1 } },
  headers: {
    check: (value) => isTable(value) && Object.values(value).every(isHeader),
    expected: 'a table of texts, { env = "NAME" } or { command = [...] }',
    schema: {
      type: 'object',
      additionalProperties: {
        anyOf: [
          { type: 'string' },
          {
            type: 'object',
            additionalProperties: false,
            properties: { env: { type: 'string' }, command: { type: 'array', items: { type: 'string' } } },
          },
        ],
      },
    },
  },
  network: { check: isBoolean, expected: 'true or false', schema: { type: 'boolean' } },
  trusted: { check: isBoolean, expected: 'true or false', schema: { type: 'boolean' } },
  tools: {
    check: isTexts,
    expected: 'a list of names of tools',
    schema: { type: 'array', items: { type: 'string' } },
  },
  timeout: {
    check: (value) => SECONDS.flaws(value).length === 0,
    expected: SECONDS.expected,
    schema: SECONDS.schema,
  },
};

/** `[mcp.servers.NAME]`: third-party MCP servers, and how to reach them. */
export const MCP_SERVERS: ValueKind = {
  expected: EXPECTED,
  schema: {
    type: 'object',
    propertyNames: { pattern: NAME.source },
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(Object.entries(FIELDS).map(([name, { schema }]) => [name, schema])),
    },
  },
  flaws: (value) =>
    isTable(value)
      ? Object.entries(value).flatMap(([name, server]) => flawsOf(name, server))
      : [mustBe(EXPECTED, value)],
  toOption: (value, directory) =>
    Object.fromEntries(
      Object.entries(isTable(value) ? value : {}).map(([name, server]) => [
        name,
        toServer(server, directory),
      ]),
    ),
  shown: (value) =>
    Object.fromEntries(
      Object.entries(isTable(value) ? value : {}).map(([name, server]) => [name, withoutSecrets(server)]),
    ),
};

/** Headers and values of variables may be secrets; names of variables are not. */
function withoutSecrets(server: unknown): unknown {
  if (!isTable(server)) return server;
  const hidden = ['env', 'headers'].flatMap((field) => {
    const table = server[field];
    return isTable(table) ? [[field, mapValues(table, hideText)] as const] : [];
  });
  return { ...server, ...Object.fromEntries(hidden) };
}

function mapValues(table: Readonly<Record<string, unknown>>, change: (value: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, change(value)]));
}

function hideText(value: unknown): unknown {
  return typeof value === 'string' ? '(hidden)' : value;
}

function flawsOf(name: string, server: unknown): readonly Flaw[] {
  if (!NAME.test(name)) return [mustBe(EXPECTED, name, [name])];
  if (!isTable(server)) return [mustBe(EXPECTED, server, [name])];
  const flaws = Object.entries(server).flatMap(([field, value]): Flaw[] => {
    const known = FIELDS[field];
    if (known === undefined) {
      const problem = `.${name}.${field} is not a key of a server. Known: ${Object.keys(FIELDS).join(', ')}.`;
      return [{ at: [name, field], problem }];
    }
    if (known.check(value)) return [];
    const { at, problem } = mustBe(known.expected, value, [name, field]);
    return [{ at, problem: `.${name}.${field}${problem}` }];
  });
  if (flaws.length > 0 || 'command' in server !== 'url' in server) return flaws;
  return [{ at: [name], problem: `.${name} must have one of command and url, and not both.` }];
}

/** The parser's tables have no prototype; programs expect plain objects. */
function toServer(server: unknown, directory: string): object {
  const { timeout, cwd, ...rest } = JSON.parse(JSON.stringify(server)) as Readonly<Record<string, unknown>>;
  return {
    ...rest,
    ...(timeout === undefined ? {} : { timeoutMs: SECONDS.toOption(timeout, directory) }),
    ...(cwd === undefined ? {} : { cwd: resolve(directory, String(cwd)) }),
  };
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
