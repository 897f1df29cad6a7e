import {
  isBoolean,
  isFilledText,
  isFunction,
  isObject,
  isTextList,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import { ToolError } from '../errors/tool-error.js';
import type { CrashTrial } from './crash-trial.js';

/** A trial that means something else than it says would pass for the wrong reason. @throws ToolError `config_invalid` */
export function checkTrial(trial: CrashTrial): void {
  if (!isObject(trial) || trial.tools === undefined) {
    const message = 'A crash trial needs tools: give the absolute path or the file: URL of their module.';
    throw new ToolError('config_invalid', message);
  }
  normalizeOptions('trial', trial, RULES);
}

/** Whoever names a call that is not there believes that it was looked at. @throws ToolError `config_invalid` */
export function checkKnowable(knowable: readonly string[], calls: readonly { readonly id: string }[]): void {
  const ids = calls.map(({ id }) => id);
  const stranger = knowable.find((id) => !ids.includes(id));
  if (stranger === undefined) return;
  const message = `trial.knowable names "${stranger}", which is no call of the trial. Its calls: ${ids.join(', ')}.`;
  throw new ToolError('config_invalid', message);
}

function isCall(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { id, name } = value as Readonly<Record<string, unknown>>;
  return typeof name === 'string' && (id === undefined || (typeof id === 'string' && id !== ''));
}

const COUNT = 'a whole number from 0';

const RULES: OptionRules<{ [K in keyof CrashTrial]-?: CrashTrial[K] | undefined }> = {
  tools: option(
    undefined,
    (value) => value instanceof URL || isFilledText(value),
    'an absolute path or a file: URL',
  ),
  calls: option(
    undefined,
    (value) => Array.isArray(value) && value.every(isCall),
    'a list of { id?, name, args }',
  ),
  prepare: option(undefined, isFunction, 'a function'),
  observe: option(undefined, isFunction, 'a function'),
  knowable: option(undefined, isTextList, 'a list of call ids'),
  parallel: option(undefined, isBoolean, 'true or false'),
  randomKills: option(undefined, isWhole(0), COUNT),
  stepKills: option(undefined, isWhole(0), COUNT),
  seed: option(undefined, Number.isFinite, 'a number'),
  onRound: option(undefined, isFunction, 'a function'),
  signal: option(undefined, (value) => value instanceof AbortSignal, 'an AbortSignal'),
};
