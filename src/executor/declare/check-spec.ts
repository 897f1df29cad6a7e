import { countSlips } from '../../base/nearest-name.js';
import { isBoolean, isFunction } from '../../base/normalize-options.js';
import type { ToolSpec } from '../../contract/tool.js';
import { isEffectKind, KIND_NAMES } from '../../effects/effect-kinds.js';
import { ToolError } from '../../errors/tool-error.js';
import { isNarrowHostPattern } from '../../patterns/host.js';

interface Rule {
  readonly accepts: (value: unknown) => boolean;
  readonly expected: string;
  readonly required?: true;
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isPositive = (value: unknown): boolean =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;
const isOneOf =
  (...choices: readonly string[]) =>
  (value: unknown): boolean =>
    choices.some((choice) => choice === value);

const CATEGORIES = ['file', 'execution', 'search', 'web', 'interaction', 'agent', 'external', 'custom'];
const TIMEOUT_CLASSES = ['default', 'files', 'commands', 'external'];
const RISKS = ['low', 'medium', 'high'];

const CALLBACK: Rule = { accepts: isFunction, expected: 'a function' };
const FLAG: Rule = { accepts: isBoolean, expected: 'true or false' };
function isProgram(value: unknown): boolean {
  return typeof value === 'object' && value !== null && isBoolean(Reflect.get(value, 'trusted'));
}

// A pattern that matches every host would disable the check of addresses.
const isPrivateHost = (value: unknown): boolean => typeof value === 'string' && isNarrowHostPattern(value);

const isSchema = (value: unknown): boolean =>
  (typeof value === 'object' && value !== null && !Array.isArray(value)) || isFunction(value);

/** A rule for each member of a tool's declaration. */
const SPEC_RULES: { readonly [K in keyof ToolSpec<unknown>]-?: Rule } = {
  name: { accepts: isText, expected: 'a text', required: true },
  aliases: { accepts: Array.isArray, expected: 'a list of names' },
  title: { accepts: isText, expected: 'a text' },
  description: { accepts: isText, expected: 'a text', required: true },
  input: { accepts: isSchema, expected: 'a Standard Schema or a JSON Schema', required: true },
  explainArgs: CALLBACK,
  output: { accepts: isSchema, expected: 'a Standard Schema or a JSON Schema' },
  effects: CALLBACK,
  touches: {
    accepts: (value) => Array.isArray(value) && value.every(isEffectKind),
    expected: `a list of kinds of effects (${KIND_NAMES.join(', ')})`,
  },
  requiresApproval: {
    accepts: (value) => isBoolean(value) || isFunction(value),
    expected: 'true, false or a function',
  },
  approval: {
    accepts: (value) => isOneOf('before', 'after', 'after_online')(value) || isFunction(value),
    expected: 'before, after, after_online or a function',
  },
  risk: {
    accepts: (value) => isOneOf(...RISKS)(value) || isFunction(value),
    expected: `${RISKS.join(', ')} or a function`,
  },
  summarize: CALLBACK,
  timeoutMs: {
    accepts: (value) => isPositive(value) || isFunction(value),
    expected: 'a number of milliseconds above 0 or a function',
  },
  defaultTimeoutMs: { accepts: isPositive, expected: 'a number of milliseconds above 0' },
  timeoutClass: { accepts: isOneOf(...TIMEOUT_CLASSES), expected: `one of ${TIMEOUT_CLASSES.join(', ')}` },
  category: { accepts: isOneOf(...CATEGORIES), expected: `one of ${CATEGORIES.join(', ')}` },
  idempotent: FLAG,
  cacheable: FLAG,
  contained: FLAG,
  program: { accepts: isProgram, expected: '{ trusted: true or false }' },
  privateHosts: {
    accepts: (value) => Array.isArray(value) && value.every(isPrivateHost),
    expected: 'a list of hosts, such as "127.0.0.1:8080" or "*.corp.example"',
  },
  background: {
    accepts: (value) => isBoolean(value) || isFunction(value),
    expected: 'true, false or a function',
  },
  maxArgsBytes: {
    accepts: (value) => (Number.isSafeInteger(value) && isPositive(value)) || isFunction(value),
    expected: 'a whole number of bytes from 1 or a function',
  },
  execute: { ...CALLBACK, required: true },
  previewChanges: CALLBACK,
  probe: CALLBACK,
};

const RULES = Object.entries(SPEC_RULES);
/** The names of all members of a declaration. */
export const SPEC_KEYS: readonly string[] = Object.keys(SPEC_RULES);

/**
 * Checks a tool's declaration. A misspelled member (`requireApproval`) is refused, because it would have no
 * effect; a member that resembles no known name is left to the tool.
 * @throws ToolError `config_invalid` naming the member.
 */
export function checkSpec(label: string, spec: ToolSpec<unknown>): void {
  for (const [key, { accepts, expected, required }] of RULES) {
    const value: unknown = Reflect.get(spec, key);
    if (value === undefined ? required !== true : accepts(value)) continue;
    throw new ToolError('config_invalid', `${label}: ${key} must be ${expected}.`);
  }
  for (const key of Object.keys(spec)) {
    if (Object.hasOwn(SPEC_RULES, key)) continue;
    const meant = SPEC_KEYS.find((known) => isSlipOf(key, known));
    if (meant === undefined) continue;
    throw new ToolError('config_invalid', `${label}: unknown "${key}". Did you mean "${meant}"?`);
  }
}

function isSlipOf(key: string, known: string): boolean {
  const folded = key.toLowerCase().replace(/[_-]/g, '');
  if (folded.length > 40) return false;
  return countSlips(folded, known.toLowerCase()) <= (known.length > 6 ? 2 : 1);
}
