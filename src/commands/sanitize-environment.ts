import { isAbsolute } from 'node:path';
import {
  isBoolean,
  isTextList,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import { ToolError } from '../errors/tool-error.js';
import { environmentIgnoresCase } from '../platform/runtime/environment.js';
import { ENVIRONMENT_RULES, type EnvironmentRule } from './environment-rules.js';
import { createNameFinder, createNameMatcher, type NameFinder } from './match-name.js';

export interface EnvironmentOptions {
  /** Names to remove besides the built-in ones; `*` matches any characters (D120: additive). */
  readonly denylist?: readonly string[];
  /** Names to pass on unchanged, overriding all other rules. May contain `*` too. */
  readonly pass?: readonly string[];
  /** Whether `path` equals `PATH`: default true only on Windows (D120). */
  readonly ignoreCase?: boolean;
}

/**
 * The environment for a command: without secrets, variables that lead to them, and variables that load code
 * (D060, D120; `environment-rules.ts` gives the reason for each name). Relative entries of `PATH` and
 * passwords in addresses are removed from values. Not a complete protection: a secret under an unknown name
 * stays. Variables without a value are left out.
 * @throws ToolError `config_invalid` for an invalid option, and for a value that is not a text.
 */
export function sanitizeEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  options: EnvironmentOptions = {},
): Record<string, string> {
  const {
    denylist,
    pass,
    ignoreCase = environmentIgnoresCase(),
  } = normalizeOptions('options', options, ENVIRONMENT_OPTIONS);
  const isPassed = createNameMatcher(pass, ignoreCase);
  const isDenied = createNameMatcher(denylist, ignoreCase);
  const kept: [string, string][] = [];
  for (const [name, value] of entriesOf(env)) {
    if (!isVariableName(name)) continue;
    if (isPassed(name)) {
      kept.push([name, value]);
    } else if (!isDenied(name) && classifyVariable(name, ignoreCase) === undefined) {
      const cleaned = ignoreCase ? withoutCredentials(value) : cleanValue(name, value);
      if (cleaned !== undefined) kept.push([name, cleaned]);
    }
  }
  return Object.fromEntries(kept);
}

export const ENVIRONMENT_OPTIONS: OptionRules<{
  denylist: readonly string[];
  pass: readonly string[];
  ignoreCase: boolean | undefined;
}> = {
  denylist: option([], isTextList, 'a list of names'),
  pass: option([], isTextList, 'a list of names'),
  ignoreCase: option(undefined, isBoolean, 'true or false'),
};

/** According to its type, `process.env` may contain names without a value. */
function entriesOf(env: unknown): [string, string][] {
  if (typeof env !== 'object' || env === null) {
    throw new ToolError('config_invalid', `An environment must be an object of texts, not ${String(env)}.`);
  }
  return Object.entries(env).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'string') return [[name, value]];
    if (value === undefined) return [];
    throw new ToolError('config_invalid', `The value of ${name} in an environment must be a text.`);
  });
}

/** The system cannot represent other names; a program that reads `A=B=C` would see the variable `A`. */
function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0');
}

/** The rule that withholds a variable from commands; undefined if there is none. */
export function classifyVariable(name: string, ignoreCase: boolean): EnvironmentRule | undefined {
  const find = prepared.get(ignoreCase) ?? prepare(ignoreCase);
  return ENVIRONMENT_RULES[find(name)];
}

/** By case sensitivity: few programs need both. */
const prepared = new Map<boolean, NameFinder>();

function prepare(ignoreCase: boolean): NameFinder {
  const keepsCase = (rule: EnvironmentRule): boolean => !ignoreCase && rule.keepsCase === true;
  const namesOf = (rule: EnvironmentRule): readonly string[] => rule.names.split(' ');
  const folding = createNameFinder(
    ENVIRONMENT_RULES.map((rule) => (keepsCase(rule) ? [] : namesOf(rule))),
    true,
  );
  const exact = createNameFinder(
    ENVIRONMENT_RULES.map((rule) => (keepsCase(rule) ? namesOf(rule) : [])),
    false,
  );
  const find: NameFinder = (name) => Math.min(folding(name), exact(name));
  prepared.set(ignoreCase, find);
  return find;
}

/**
 * The value that a command inherits; undefined for none. A relative entry in `PATH` would let the working
 * directory define `ls`; an address may contain a password.
 */
function cleanValue(name: string, value: string): string | undefined {
  // A program cannot be started with a NUL, and old shells run code after a function in any variable.
  if (value.includes('\0') || value.startsWith('() {')) return undefined;
  if (name === 'PATH') return value.split(':').filter(isAbsolute).join(':') || STANDARD_PATH;
  return withoutCredentials(value);
}

/** An address without its credentials. */
function withoutCredentials(value: string): string {
  if (!value.includes('://')) return value;
  const open = value.replace(USER_INFO, (all, user: string, offset: number) =>
    isConfidential(user, value.slice(0, offset)) ? '://' : all,
  );
  return IN_ADDRESS.reduce((text, pattern) => text.replace(pattern, '$1'), open);
}

/** In an address: text after a secret's name, and in the path of a bot or a webhook. */
const IN_ADDRESS: readonly RegExp[] = [
  /([?&;#](?:key|(?:[\w.-]{0,40}[_.-])?(?:access_?token|(?:api|access|secret|private|auth|signing|subscription)_?key|token|secret|password|passwd|pass|pwd|auth|jwt|sig|signature|credentials?))=)([^&;#\s"']+)/gi,
  /(\/bot)(\d{5,12}:[\w-]{20,})/g,
  /(hooks\.slack\.com\/[a-z]{1,20}\/)([\w/-]{16,})/g,
  /(\/api\/webhooks\/\d{5,30}\/)([\w-]{30,})/g,
];

/** For an empty result: a shell without `PATH` uses its own, which may end in the working directory. */
const STANDARD_PATH = '/usr/local/bin:/usr/bin:/bin';

/** The credentials that `withoutCredentials` removes, as written and decoded. */
export function findCredentials(value: string): string[] {
  if (!value.includes('://')) return [];
  const users = [...value.matchAll(USER_INFO)]
    .filter(({ 1: user = '', index }) => isConfidential(user, value.slice(0, index)))
    .flatMap(({ 1: user = '' }) => [user, ...user.split(':', 2), user.slice(user.indexOf(':') + 1)]);
  const others = IN_ADDRESS.flatMap((pattern) =>
    [...value.matchAll(pattern)].map(({ 2: part = '' }) => part),
  );
  return [...users, ...others].flatMap((part) => [part, decodePart(part)]);
}

const USER_INFO = /:\/\/([^\s/?#]*)@/g;

/** `https://token@host` is a secret, `ssh://git@host` is not. */
function isConfidential(user: string, before: string): boolean {
  return user.includes(':') || /https?$/i.test(before.slice(-5));
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Shorter values are common: hiding them would damage the output without protecting anything. */
export const SHORTEST_SECRET = 8;

/**
 * The secret values that `sanitizeEnvironment` withheld from a command, longest first, for redacting its
 * output. Removed paths, sockets and programs are not secret (`PAGER=/usr/bin/less`) and are left out.
 * @throws ToolError `config_invalid` for an environment that is not an object of texts
 */
export function removedValues(
  env: Readonly<Record<string, string>>,
  sanitized: Readonly<Record<string, string>>,
): string[] {
  const kept = new Map(entriesOf(sanitized));
  const values = entriesOf(env).flatMap(([name, value]) => {
    if (kept.has(name)) return kept.get(name) === value ? [] : findCredentials(value);
    return isSecret(name) ? [value, ...findCredentials(value)] : [];
  });
  return [...new Set(values)]
    .filter((value) => value.length >= SHORTEST_SECRET)
    .sort((one, other) => other.length - one.length);
}

/** A name without a built-in rule was removed by the configuration, so it is secret. */
function isSecret(name: string): boolean {
  return (classifyVariable(name, environmentIgnoresCase())?.kind ?? 'secret') === 'secret';
}
