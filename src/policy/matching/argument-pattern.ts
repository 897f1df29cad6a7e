import { ANY, literalText, matchesWildcard, type Piece, RUN } from '../../patterns/wildcard.js';

/**
 * The condition for one argument: a text pattern (`*`, `?`) or a list of them; a number or a range; true or
 * false.
 */
export type ArgumentCondition =
  | string
  | readonly string[]
  | readonly [min: number, max: number]
  | number
  | boolean;

/** A parsed condition for one argument. */
export interface ArgumentTest {
  /** As written. */
  readonly pointer: string;
  readonly condition: ArgumentCondition;
  readonly path: readonly string[];
  /** Completes the sentence `the argument /repo is not a …`. */
  readonly type: 'text' | 'number' | 'boolean';
  readonly matches: (value: string | number | boolean) => boolean;
}

const MAX_LENGTH = 1024;
const EXPECTED = 'a pattern, a list of patterns, [min, max], a number, true or false';

/**
 * Parses one entry of a rule's `args`. A pattern matches the whole text, with case: `*` is any characters,
 * `?` is one, and `\` quotes the next. The bounds of a range are included.
 * @throws Error with the fault.
 */
export function parseArgument(pointer: string, condition: unknown): ArgumentTest {
  const path = parsePointer(pointer);
  if (typeof condition === 'boolean') {
    return { pointer, condition, path, type: 'boolean', matches: (value) => value === condition };
  }
  if (isNumber(condition)) {
    return { pointer, condition, path, type: 'number', matches: (value) => value === condition };
  }
  if (typeof condition === 'string') return textTest(pointer, path, condition, [condition]);
  if (!Array.isArray(condition) || condition.length === 0) throw new Error(`expected ${EXPECTED}`);
  const items: readonly unknown[] = Array.from(condition);
  if (items.every(isString)) return textTest(pointer, path, Object.freeze([...items]), items);
  const [min, max] = items;
  if (items.length !== 2 || !isNumber(min) || !isNumber(max)) throw new Error(`expected ${EXPECTED}`);
  if (min > max) throw new Error('the range runs backwards: write [min, max]');
  return {
    pointer,
    condition: Object.freeze<[number, number]>([min, max]),
    path,
    type: 'number',
    matches: (value) => typeof value === 'number' && value >= min && value <= max,
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** RFC 6901. Not the empty pointer: a rule is about single arguments. */
function parsePointer(pointer: string): readonly string[] {
  if (!pointer.startsWith('/')) {
    throw new Error('expected a JSON pointer to an argument, such as "/repo" or "/items/0/name"');
  }
  if (pointer.length > MAX_LENGTH) throw new Error(`it is longer than ${MAX_LENGTH} characters`);
  if (/~(?![01])/.test(pointer)) throw new Error('in a JSON pointer write ~0 for "~" and ~1 for "/"');
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function textTest(
  pointer: string,
  path: readonly string[],
  condition: ArgumentCondition,
  sources: readonly string[],
): ArgumentTest {
  const patterns = sources.map(readPattern);
  const plain = new Set(patterns.map(literalText).filter(isString));
  const wild = patterns.filter((pieces) => literalText(pieces) === undefined);
  return {
    pointer,
    condition,
    path,
    type: 'text',
    matches: (value) =>
      typeof value === 'string' &&
      (plain.has(value) || wild.some((pieces) => matchesWildcard(pieces, value))),
  };
}

function readPattern(source: string): readonly Piece[] {
  if (source.length > MAX_LENGTH) throw new Error(`the pattern is longer than ${MAX_LENGTH} characters`);
  const pieces: Piece[] = [];
  const characters = Array.from(source);
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? '';
    if (character === '*') pieces.push(RUN);
    else if (character === '?') pieces.push(ANY);
    else if (character === '\\') {
      if (++at === characters.length) throw new Error('the pattern ends in a lone backslash');
      pieces.push(characters[at] ?? '');
    } else pieces.push(character);
  }
  return pieces;
}

type Decision = 'allow' | 'ask' | 'deny';

/**
 * All forms of a call's arguments that a rule is compared with: the original, and the output of the tool's
 * schema.
 */
export type ArgumentForms = readonly unknown[];

/**
 * Why the arguments of a call do not match; undefined if they do. A missing argument, or one of another type,
 * matches a rule that denies and no other, so a call cannot avoid a rule by omitting an argument. With two
 * forms, a rule that allows must match both, any other rule either.
 */
export function argumentMismatch(
  tests: readonly ArgumentTest[],
  forms: ArgumentForms,
  decision: Decision,
): string | undefined {
  for (const test of tests) {
    const reasons = forms.map((form) => mismatchIn(test, form, decision));
    const open = reasons.find((why) => why !== undefined);
    const isMet = decision === 'allow' ? open === undefined : reasons.includes(undefined);
    if (!isMet) return open;
  }
  return undefined;
}

function mismatchIn(test: ArgumentTest, args: unknown, decision: Decision): string | undefined {
  const value = valueAt(test.path, args);
  if (!isOfType(test, value)) {
    return decision === 'deny' ? undefined : `the argument ${test.pointer} ${absence(test, value)}`;
  }
  return test.matches(value) ? undefined : `the argument ${test.pointer} does not match`;
}

/** For a rule that denies: the first test that matches because its argument is missing; in words. */
export function absentArgument(tests: readonly ArgumentTest[], forms: ArgumentForms): string | undefined {
  for (const test of tests) {
    const value = valueAt(test.path, forms[0]);
    if (!isOfType(test, value)) return `the argument ${test.pointer} ${absence(test, value)}`;
  }
  return undefined;
}

function absence({ type }: ArgumentTest, value: unknown): string {
  return value === undefined ? 'is missing' : `is not a ${type}`;
}

function isOfType({ type }: ArgumentTest, value: unknown): value is string | number | boolean {
  return typeof value === (type === 'text' ? 'string' : type);
}

/** Only own members and elements: inherited properties are not arguments. */
function valueAt(path: readonly string[], args: unknown): unknown {
  let at = args;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return undefined;
    if (Array.isArray(at) && !/^(?:0|[1-9]\d*)$/.test(key)) return undefined;
    if (!Object.hasOwn(at, key)) return undefined;
    at = Reflect.get(at, key);
  }
  return at;
}
