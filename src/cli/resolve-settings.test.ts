import { describe, expect, it } from 'vitest';
import { CONFIG_KEYS } from '../config/config-keys.js';
import { parseConfig } from '../config/load-config.js';
import {
  COMMAND_LIMIT_RULES,
  checkExecutorOptions,
  LIMIT_RULES,
  OUTPUT_RULES,
  SANDBOX_RULES,
  TIMEOUT_RULES,
} from '../executor/executor-options.js';
import { normalizePolicyOptions } from '../policy/rules/policy-options.js';
import { journalPlace } from './resolve-settings.js';

const RULES: Readonly<Record<string, Readonly<Record<string, { readonly fallback: unknown }>>>> = {
  limits: LIMIT_RULES,
  timeouts: TIMEOUT_RULES,
  output: OUTPUT_RULES,
  sandbox: SANDBOX_RULES,
  commandLimits: COMMAND_LIMIT_RULES,
};

describe('the configuration and the executor', () => {
  it.each(Object.entries(CONFIG_KEYS).filter(([, { fallback }]) => fallback !== undefined))(
    'agree on the default of %s',
    (_name, { kind, fallback, option }) => {
      const [, section = '', name = ''] = option.split('.');
      const value = kind.toOption(fallback, '/');
      const policy: Readonly<Record<string, unknown>> = { ...normalizePolicyOptions({}) };
      if (section === 'policy') expect(value).toEqual(policy[name]);
      const rule = RULES[section]?.[name];
      if (rule !== undefined) expect(value).toEqual(rule.fallback);
    },
  );

  it('agree on every option: the value of the file is used', () => {
    const text = Object.entries(CONFIG_KEYS)
      .filter(([, { fallback }]) => fallback !== undefined)
      .map(([name, { fallback }]) => `${name} = ${JSON.stringify(fallback)}`)
      .join('\n');
    const { executor, run } = parseConfig(text, { file: 'x', directory: '/' });
    expect(() => checkExecutorOptions(executor)).not.toThrow();
    expect(run).toEqual({ parallel: false });
    expect(Object.keys(executor).sort()).toEqual([
      'builtins',
      'commandLimits',
      'definitions',
      'environment',
      'hooks',
      'limits',
      'mode',
      'output',
      'policy',
      'profile',
      'sandbox',
      'timeouts',
    ]);
  });
});

it('takes no address of Postgres as a file, nor on the command line', () => {
  expect(() => journalPlace('postgres://me:hush@h/d', ['.'])).toThrow('Write it as fleet.url');
  expect(() => journalPlace('postgres://me:hush@h/d', ['.'])).not.toThrow('hush');
});
