import { isToolError } from '../errors/tool-error.js';
import { ruleSchema } from '../policy/rules/rule-fields.js';
import { settleRule } from '../policy/rules/settle-rule.js';
import type { Flaw } from '../schema/definition-flaws.js';
import type { ValueKind } from './value-kind.js';
import { mustBe } from './value-kind.js';

/** `[[tools.approval.rules]]`: what a person and a project say of single calls. */
export const RULES: ValueKind = {
  expected: 'tables with a `decision` and what it is about (see policy.md)',
  schema: { type: 'array', items: ruleSchema() },
  flaws: ruleFlaws,
  // The parser's tables have no prototype; plain objects are what programs expect.
  toOption: (value) => JSON.parse(JSON.stringify(value)),
  fromText: (text) => text,
};

function ruleFlaws(value: unknown): readonly Flaw[] {
  if (!Array.isArray(value)) return [mustBe('a list of rules: write [[tools.approval.rules]]', value)];
  return value.flatMap((rule: unknown, index) => flawOf(rule, index));
}

function flawOf(rule: unknown, index: number): readonly Flaw[] {
  const place = `[${index}]`;
  // Who has written a rule is what the file says by being where it is.
  if (typeof rule === 'object' && rule !== null && Object.hasOwn(rule, 'origin')) {
    return [{ at: [index, 'origin'], problem: `${place}.origin is not for files. Remove it.` }];
  }
  try {
    settleRule(rule, place);
    return [];
  } catch (error) {
    if (!isToolError(error, 'config_invalid')) throw error;
    const problem = error.message.replace(/^Policy /, '');
    const field = /^\[\d+\]\.([a-z_]+)/.exec(problem)?.[1];
    return [{ at: field === undefined ? [index] : [index, field], problem }];
  }
}
