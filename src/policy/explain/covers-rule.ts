import { readHost } from '../../patterns/host.js';
import { PathSubject } from '../matching/path-subject.js';
import type { CompiledRule, RuleEntry } from '../rules/compile-rule.js';

/**
 * Whether one entry matches everything that another matches. True only if certain: equal patterns, no
 * pattern, or a pattern that matches the other's literal text.
 */
export function coversRule(outer: RuleEntry, inner: RuleEntry): boolean {
  return (
    coversCall(outer.rule, inner.rule) &&
    coversTexts(outer.rule, inner.rule) &&
    coversArguments(outer.rule, inner.rule) &&
    coversPattern(outer, inner)
  );
}

function coversCall(outer: CompiledRule, inner: CompiledRule): boolean {
  const { rule } = outer;
  if (rule.side_effecting !== undefined && rule.side_effecting !== inner.rule.side_effecting) return false;
  // Whether these hold depends on the conversation.
  if (rule.data_from !== undefined || rule.args_from !== undefined) return false;
  if (rule.idempotent !== undefined && rule.idempotent !== inner.rule.idempotent) return false;
  return (
    coversNames(outer.tools, inner.tools) &&
    coversNames(outer.agents, inner.agents) &&
    coversList(outer.effects, inner.effects) &&
    coversList(outer.categories, inner.categories) &&
    coversList(outer.modes, inner.modes)
  );
}

function coversNames(outer: CompiledRule['tools'], inner: CompiledRule['tools']): boolean {
  if (outer === undefined) return true;
  return (
    inner?.every((one) =>
      outer.some(
        (other) => other.source === one.source || (one.literal !== undefined && other.matches(one.literal)),
      ),
    ) ?? false
  );
}

function coversList(outer: Iterable<string> | undefined, inner: Iterable<string> | undefined): boolean {
  if (outer === undefined) return true;
  const all = new Set(outer);
  return inner !== undefined && [...inner].every((one) => all.has(one));
}

/** A text contained in another is found wherever the other is. */
function coversTexts(outer: CompiledRule, inner: CompiledRule): boolean {
  const { contains } = outer;
  if (contains === undefined) return true;
  return inner.contains?.every((text) => contains.some((part) => text.includes(part))) ?? false;
}

/** Only equal conditions; a denial also matches a missing argument. */
function coversArguments({ rule: outer }: CompiledRule, { rule: inner }: CompiledRule): boolean {
  if (outer.args === undefined) return true;
  if (inner.decision === 'deny' && outer.decision !== 'deny') return false;
  return Object.entries(outer.args).every(
    ([pointer, condition]) =>
      inner.args !== undefined &&
      Object.hasOwn(inner.args, pointer) &&
      JSON.stringify(inner.args[pointer]) === JSON.stringify(condition),
  );
}

function coversPattern({ argument: outer }: RuleEntry, { argument: inner }: RuleEntry): boolean {
  if (outer === undefined) return true;
  if (inner === undefined || inner.field !== outer.field) return false;
  if (outer.pattern.source === inner.pattern.source) return true;
  if (!inner.pattern.isLiteral) return false;
  const { source } = inner.pattern;
  switch (outer.field) {
    case 'command':
      return !/["'\\]/.test(source) && outer.pattern.matches(source.trim().split(/\s+/));
    case 'path':
      return source.includes('/') && outer.pattern.matches(literalPath(source));
    case 'url':
      return /:\/\/.*:\d+/.test(source) && outer.pattern.matches(readHost(source));
  }
}

function literalPath(written: string): PathSubject {
  return new PathSubject({ written, canonical: () => undefined, outside: false, roots: [] });
}
