import { nearestName } from '../../base/nearest-name.js';
import { ToolError } from '../../errors/tool-error.js';
import type { PolicyRule, RuleOrigin, RuleTier } from './policy-rule.js';
import { RULE_FIELDS } from './rule-fields.js';

export const TIERS: readonly RuleTier[] = Object.freeze(['administrator', 'user', 'project']);

/**
 * Checks the fields of a rule, copies and freezes it. `compileRule` parses its patterns.
 * @param place its name in messages: `rules[3]`.
 * @throws ToolError `config_invalid` with the place, the field, the value and the remedy.
 */
export function normalizeRule(value: unknown, place = 'rule'): PolicyRule {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(place, `is ${show(value)}: expected a rule such as { decision: "ask", effect: "write" }.`);
  }
  // Own properties, each read once, so that neither a prototype nor a getter can change them later.
  const given = new Map<string, unknown>(Object.entries(value).filter(([, field]) => field !== undefined));
  for (const name of given.keys()) refuseUnknown(place, name);
  if (!given.has('decision')) throw invalid(place, 'has no decision: write "allow", "ask" or "deny".');
  const fields = [...given].map(([name, field]) => [name, normalizeField(place, name, field)] as const);
  const rule = Object.freeze(Object.fromEntries(fields)) as unknown as PolicyRule;
  if (rule.decision === 'allow' && rule.contains !== undefined) {
    throw invalid(
      place,
      'allows by contains: a text inside a command says nothing about the rest. Use command.',
    );
  }
  if (rule.decision !== 'allow' && rule.write_through !== undefined) {
    throw invalid(
      place,
      'has write_through and does not allow: only a rule with decision = "allow" has that.',
    );
  }
  if (rule.decision !== 'allow' && rule.writes !== undefined) {
    throw invalid(place, 'has writes and does not allow: only a rule with decision = "allow" has that.');
  }
  return rule;
}

function refuseUnknown(place: string, name: string): void {
  if (Object.hasOwn(RULE_FIELDS, name)) return;
  const known = Object.keys(RULE_FIELDS);
  const nearest = nearestName(name, known);
  const hint = nearest === undefined ? `Known fields: ${known.join(', ')}.` : `Did you mean "${nearest}"?`;
  throw invalid(place, `has an unknown field ${show(name)}. ${hint}`);
}

function normalizeField(place: string, name: string, value: unknown): unknown {
  if (name === 'origin') return normalizeOrigin(place, value);
  if (name === 'args') return normalizeArguments(place, value);
  const { accepts, expected, takesList } = RULE_FIELDS[name as keyof PolicyRule];
  const refuse = (wrong: unknown): ToolError =>
    invalid(`${place}.${name}`, `is ${show(wrong)}: expected ${expected}${takesList ? ', or a list' : ''}.`);
  if (takesList && Array.isArray(value)) {
    return Object.freeze(
      Array.from(value, (item: unknown) => {
        if (accepts(item)) return copyExample(`${place}.${name}`, item);
        throw refuse(item);
      }),
    );
  }
  if (!accepts(value)) throw refuse(value);
  if (name === 'args_from') return Object.freeze({ ...(value as object) });
  return copyExample(`${place}.${name}`, value);
}

function normalizeArguments(place: string, value: unknown): unknown {
  if (!RULE_FIELDS.args.accepts(value) || typeof value !== 'object' || value === null) {
    throw invalid(`${place}.args`, `is ${show(value)}: expected ${RULE_FIELDS.args.expected}.`);
  }
  const copied = Object.entries(value).map(([pointer, condition]: [string, unknown]) => [
    pointer,
    Array.isArray(condition) ? Object.freeze([...condition]) : condition,
  ]);
  return Object.freeze(Object.fromEntries(copied));
}

const EXAMPLE_FIELDS = ['tool', 'effect', 'command', 'path', 'url', 'args', 'agent'];

/** Examples are objects and are checked, so that a misspelled field does not make an example meaningless. */
function copyExample(place: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const [name, field] of Object.entries(value)) {
    if (!EXAMPLE_FIELDS.includes(name)) {
      const nearest = nearestName(name, EXAMPLE_FIELDS);
      const hint =
        nearest === undefined ? `Known: ${EXAMPLE_FIELDS.join(', ')}.` : `Did you mean "${nearest}"?`;
      throw invalid(place, `has an example with an unknown field ${show(name)}. ${hint}`);
    }
    const isRight = name === 'args' ? typeof field === 'object' && field !== null : typeof field === 'string';
    if (!isRight) throw invalid(place, `has an example whose ${name} is ${show(field)}.`);
    if (name === 'effect' && !RULE_FIELDS.effect.accepts(field)) {
      throw invalid(
        place,
        `has an example whose effect is ${show(field)}: expected ${RULE_FIELDS.effect.expected}.`,
      );
    }
  }
  return Object.freeze({ ...value });
}

function normalizeOrigin(place: string, value: unknown): RuleOrigin {
  const { tier, file, line }: { readonly [key: string]: unknown } =
    typeof value === 'object' && value !== null ? { ...value } : {};
  const known = TIERS.find((name) => name === tier);
  if (known === undefined) {
    throw invalid(`${place}.origin`, `has the tier ${show(tier)}: expected ${TIERS.join(', ')}.`);
  }
  return Object.freeze({
    tier: known,
    ...(typeof file === 'string' ? { file } : {}),
    ...(typeof line === 'number' ? { line } : {}),
  });
}

/** A short value for messages, without line ends. */
export function show(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = typeof value;
  }
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function invalid(place: string, problem: string): ToolError {
  return new ToolError('config_invalid', `Policy ${place} ${problem}`, { details: { place } });
}
