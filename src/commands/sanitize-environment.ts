import {
  isBoolean,
  isTextList,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import { ToolError } from '../errors/tool-error.js';
import { environmentIgnoresCase } from '../platform/environment.js';
import { classifyVariable } from './classify-variable.js';
import { cleanValue } from './clean-value.js';
import { createNameMatcher } from './match-name.js';

export interface EnvironmentOptions {
  /** Names that are removed besides the built-in ones; `*` stands for any characters (D120: additive). */
  readonly denylist?: readonly string[];
  /** Names that are handed on as they are, whatever else is said of them. May hold `*` too. */
  readonly pass?: readonly string[];
  /** Whether `path` is `PATH`: default true on Windows only (D120). */
  readonly ignoreCase?: boolean;
}

/**
 * The environment that a command may see: without secrets, without what leads to them, without what loads code
 * (D060, D120; `environment-rules.ts` says why for each name). Relative entries of `PATH` and passwords within
 * addresses are taken out of values. Not a wall: a secret under an innocent name stays. What has no value is left out.
 * @throws ToolError `config_invalid` for a wrong option, and for a value that is no text.
 */
export function sanitizeEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  options: EnvironmentOptions = {},
): Record<string, string> {
  const {
    denylist,
    pass,
    ignoreCase = environmentIgnoresCase(),
  } = normalizeOptions('options', options, RULES);
  const isPassed = createNameMatcher(pass, ignoreCase);
  const isDenied = createNameMatcher(denylist, ignoreCase);
  const kept: [string, string][] = [];
  for (const [name, value] of entriesOf(env)) {
    if (!isVariableName(name)) continue;
    if (isPassed(name)) {
      kept.push([name, value]);
    } else if (!isDenied(name) && classifyVariable(name, ignoreCase) === undefined) {
      const cleaned = ignoreCase ? value : cleanValue(name, value);
      if (cleaned !== undefined) kept.push([name, cleaned]);
    }
  }
  return Object.fromEntries(kept);
}

const RULES: OptionRules<{
  denylist: readonly string[];
  pass: readonly string[];
  ignoreCase: boolean | undefined;
}> = {
  denylist: option([], isTextList, 'a list of names'),
  pass: option([], isTextList, 'a list of names'),
  ignoreCase: option(undefined, isBoolean, 'true or false'),
};

/** `process.env`, as its type has it, may hold names without a value. */
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

/** The system cannot carry other names; a program that reads `A=B=C` would see the variable `A`. */
function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0');
}
