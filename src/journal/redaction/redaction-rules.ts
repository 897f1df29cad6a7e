import type { JsonObject, JsonValue } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';
import { type NamePattern, parseNamePattern } from '../../patterns/name.js';

/**
 * The arguments that the journal omits: `true` for all of every call, or patterns `TOOL/POINTER`. The tool is
 * a name with `*` and `?`, or empty for every tool; the pointer is a JSON pointer, in which `*` matches one
 * name or index and `**` any number: `bash/command`, `/password`, `http_post/headers/*`.
 */
export type RedactArguments = boolean | readonly string[];

/** The omitted arguments by tool. */
export interface RedactionRules {
  /** Whether any argument of a tool's calls can be omitted. */
  concerns(toolName: string): boolean;
  /** Returns a copy with each of them replaced, or the same object if there are none. */
  apply(
    toolName: string,
    args: JsonObject,
    replace: (value: JsonValue, pointer: string) => JsonValue,
  ): JsonObject;
}

interface Rule {
  readonly tool: NamePattern;
  readonly segments: readonly string[];
}

/**
 * Undefined: nothing is omitted.
 * @throws ToolError `config_invalid` with the pattern: one that would match nothing by mistake is refused.
 */
export function parseRedaction(given: RedactArguments): RedactionRules | undefined {
  const patterns = given === true ? ['*/*'] : given === false ? [] : given;
  if (patterns.length === 0) return undefined;
  const rules = patterns.map(parseRule);
  return {
    concerns: (toolName) => rules.some(({ tool }) => tool.matches(toolName)),
    apply(toolName, args, replace) {
      const own = rules.filter(({ tool }) => tool.matches(toolName));
      if (own.length === 0) return args;
      const visit = (value: JsonValue, path: readonly string[]): JsonValue => {
        if (own.some(({ segments }) => matches(segments, path))) return replace(value, toPointer(path));
        return mapValues(value, (each, name) => visit(each, [...path, name]));
      };
      return mapValues(args, (each, name) => visit(each, [name])) as JsonObject;
    },
  };
}

/** The fault of a pattern, as the end of a sentence; undefined if it is valid. */
export function redactionFlaw(pattern: unknown): string | undefined {
  if (typeof pattern !== 'string') return 'it is not text';
  const slash = pattern.indexOf('/');
  if (slash < 0) {
    return `write "/${pattern}" for this argument of every tool, or "${pattern}/*" for all arguments of this tool`;
  }
  if (!/^[A-Za-z0-9_.*?-]*$/.test(pattern.slice(0, slash))) return 'no tool has such a name';
  const segments = pattern.slice(slash + 1).split('/');
  if (segments.includes('')) return 'a name is missing after "/"; "*" stands for any';
  if (segments.some((segment) => /~(?![01])/.test(segment)))
    return '"~" is written as "~0" in a JSON pointer';
  return undefined;
}

function parseRule(pattern: string): Rule {
  const flaw = redactionFlaw(pattern);
  if (flaw !== undefined) {
    throw new ToolError('config_invalid', `Cannot read the redaction ${JSON.stringify(pattern)}: ${flaw}.`);
  }
  const slash = pattern.indexOf('/');
  return {
    tool: parseNamePattern(pattern.slice(0, slash) || '*'),
    segments: pattern.slice(slash + 1).split('/'),
  };
}

function matches(segments: readonly string[], path: readonly string[]): boolean {
  const [segment, ...others] = segments;
  if (segment === undefined) return path.length === 0;
  if (segment === '**') {
    return matches(others, path) || (path.length > 0 && matches(segments, path.slice(1)));
  }
  const [name, ...below] = path;
  if (name === undefined) return false;
  return (segment === '*' || nameIn(segment) === name) && matches(others, below);
}

function nameIn(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

function toPointer(path: readonly string[]): string {
  return path.map(toSegment).join('');
}

/** A name or index as a JSON pointer segment, with its slash. */
export function toSegment(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Copies only if something changes. */
export function mapValues(value: JsonValue, map: (value: JsonValue, name: string) => JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => map(item, String(index)));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  const entries = Object.entries(value).filter(
    (entry): entry is [string, JsonValue] => entry[1] !== undefined,
  );
  const mapped = entries.map(([name, item]) => [name, map(item, name)] as const);
  return mapped.every(([, item], index) => item === entries[index]?.[1]) ? value : Object.fromEntries(mapped);
}
