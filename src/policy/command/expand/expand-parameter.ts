import { knownText, type Piece } from '../field.js';
import type { ParameterExpansionPart, ParameterOperation, Word } from '../parse-shell.js';
import type { Scope, Value } from '../scope.js';
import { UNKNOWN_NUMBER, UNKNOWN_VALUE } from '../scope.js';
import { couldMatch } from './glob-match.js';

/** What an operand of `${name op operand}` comes to, its substitutions looked at on the way. */
export interface Operands {
  text(word: Word): Value;
  /** For what is evaluated: an index, an offset, a length. */
  arithmetic(word: Word): Value;
  pieces(word: Word): readonly Piece[];
  ask(reason: string): void;
}

/** The value of `$name`; `unset` is what a name gives that nobody has set. */
export function readParameter(name: string, scope: Scope): Value {
  if (/^[0-9]+$/.test(name)) return readPositional(Number(name), scope);
  if (name === '@' || name === '*') {
    return scope.positional === undefined ? UNKNOWN_VALUE : { kind: 'list', items: scope.positional };
  }
  if (name === '?' || name === '#' || name === '$' || name === '!') return UNKNOWN_NUMBER;
  return scope.get(name) ?? UNKNOWN_VALUE;
}

function readPositional(index: number, scope: Scope): Value {
  if (index === 0) return scope.variables.get('0') ?? { kind: 'text', text: 'bash', assumed: true };
  if (scope.positional === undefined) return UNKNOWN_VALUE;
  return { kind: 'text', text: scope.positional[index - 1] ?? '', assumed: false };
}

/** `${…}` in all its forms. Every operand is looked at, also of the branch that is not taken. */
export function expandParameter(part: ParameterExpansionPart, scope: Scope, operands: Operands): Value {
  const index = part.index === undefined ? undefined : operands.arithmetic(part.index);
  const base = readIndexed(part, index, scope, operands);
  const { operation } = part;
  if (part.prefix === '#' && operation === undefined) return lengthOf(base);
  if (operation === undefined) return base;
  return applyOperation(operation, base, part.parameter, scope, operands);
}

function readIndexed(
  { parameter, prefix, operation }: ParameterExpansionPart,
  index: Value | undefined,
  scope: Scope,
  operands: Operands,
): Value {
  if (operation?.type === 'Names') return UNKNOWN_VALUE;
  const value = readParameter(parameter, scope);
  if (prefix === '!') return readIndirect(value, scope, operands);
  if (index === undefined) return value.kind === 'list' ? pick(value.items, parameter) : value;
  return readElement(value, index);
}

function pick(items: readonly string[], name: string): Value {
  if (name === '@' || name === '*') return { kind: 'list', items };
  return { kind: 'text', text: items[0] ?? '', assumed: false };
}

function readElement(value: Value, index: Value): Value {
  if (index.kind !== 'text') return UNKNOWN_VALUE;
  if (index.text === '@' || index.text === '*') return value;
  if (!/^-?\d{1,6}$/.test(index.text)) return UNKNOWN_VALUE;
  const items = value.kind === 'list' ? value.items : value.kind === 'text' ? [value.text] : undefined;
  return items === undefined
    ? UNKNOWN_VALUE
    : { kind: 'text', text: items.at(Number(index.text)) ?? '', assumed: false };
}

/** The name comes from a value: an index within it would be run. */
function readIndirect(value: Value, scope: Scope, operands: Operands): Value {
  if (value.kind === 'text' && /^\w+$/.test(value.text)) return readParameter(value.text, scope);
  operands.ask('the name of a variable is computed');
  return UNKNOWN_VALUE;
}

function lengthOf(value: Value): Value {
  if (value.kind !== 'text' || value.assumed) return UNKNOWN_NUMBER;
  return { kind: 'text', text: String(value.text.length), assumed: false };
}

function applyOperation(
  operation: ParameterOperation,
  base: Value,
  name: string,
  scope: Scope,
  operands: Operands,
): Value {
  switch (operation.type) {
    case 'Default':
      return applyDefault(operation, base, name, scope, operands);
    case 'Remove': {
      const pattern = operands.pieces(operation.operand);
      return mapText(base, (text) => removeMatch(text, pattern, operation.operator));
    }
    case 'Replace': {
      const pattern = operands.text(operation.pattern);
      const replacement = operands.text(operation.replacement);
      if (pattern.kind !== 'text' || replacement.kind !== 'text') return UNKNOWN_VALUE;
      if (/[*?[\\]/.test(pattern.text)) return UNKNOWN_VALUE;
      return mapText(base, (text) => replaceText(text, pattern.text, replacement.text, operation.operator));
    }
    case 'Slice':
      return slice(
        base,
        operands.arithmetic(operation.offset),
        operation.length && operands.arithmetic(operation.length),
        /^[@*]$/.test(name),
      );
    case 'CaseModification':
      if (operation.operand !== undefined) operands.text(operation.operand);
      return mapText(base, (text) => changeCase(text, operation.operator));
    case 'Transform':
      if (operation.operand.value === 'P')
        operands.ask('a value is expanded as a prompt (@P), which runs what it holds');
      return UNKNOWN_VALUE;
    default:
      return UNKNOWN_VALUE;
  }
}

function applyDefault(
  { operator, operand }: Extract<ParameterOperation, { type: 'Default' }>,
  base: Value,
  name: string,
  scope: Scope,
  operands: Operands,
): Value {
  const other = operands.text(operand);
  const isEmpty = base.kind === 'text' && base.text === '' && operator.startsWith(':');
  // Nobody has set it here: that it is not set at all is what an attack builds on.
  const isUnset = base.kind === 'unknown' && !scope.variables.has(name) && !/^[0-9@*#?$!-]$/.test(name);
  if (operator.endsWith('+')) return isEmpty ? base : assume(other);
  if (!isEmpty && !isUnset) return base;
  if (operator.endsWith('?')) return base;
  if (operator.endsWith('=')) scope.set(name, assume(other));
  return assume(other);
}

function assume(value: Value): Value {
  return value.kind === 'text' ? { ...value, assumed: true } : value;
}

function mapText(value: Value, change: (text: string) => string): Value {
  if (value.kind !== 'text' || value.text.length > MAX_CHANGED) return UNKNOWN_VALUE;
  return { ...value, text: change(value.text) };
}

const MAX_CHANGED = 256;

function removeMatch(text: string, pattern: readonly Piece[], operator: string): string {
  const lengths = Array.from({ length: text.length + 1 }, (_, length) => length);
  if (operator.length === 2) lengths.reverse();
  for (const length of lengths) {
    const cut = operator.startsWith('#') ? text.slice(0, length) : text.slice(text.length - length);
    if (!couldMatch(pattern, cut)) continue;
    return operator.startsWith('#') ? text.slice(length) : text.slice(0, text.length - length);
  }
  return text;
}

function replaceText(text: string, pattern: string, replacement: string, operator: string): string {
  if (pattern === '') return text;
  if (operator === '//') return text.replaceAll(pattern, () => replacement);
  if (operator === '/#') return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text;
  if (operator === '/%') {
    return text.endsWith(pattern) ? text.slice(0, text.length - pattern.length) + replacement : text;
  }
  return text.replace(pattern, () => replacement);
}

function slice(base: Value, offset: Value, length: Value | undefined, isPositional: boolean): Value {
  const from = toInteger(offset);
  const count = length === undefined ? Number.POSITIVE_INFINITY : toInteger(length);
  if (from === undefined || count === undefined) return UNKNOWN_VALUE;
  const cut = <T extends string | readonly string[]>(whole: T): [number, number] => {
    const start = from < 0 ? Math.max(0, whole.length + from) : from;
    return [start, count < 0 ? whole.length + count : start + count];
  };
  if (base.kind === 'text') return { ...base, text: base.text.slice(...cut(base.text)) };
  if (base.kind !== 'list') return base;
  const items = isPositional ? ['bash', ...base.items] : base.items;
  return { kind: 'list', items: items.slice(...cut(items)) };
}

function toInteger(value: Value): number | undefined {
  if (value.kind !== 'text') return undefined;
  const text = value.text.trim();
  return /^-?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function changeCase(text: string, operator: string): string {
  const change = (part: string) => (operator.startsWith('^') ? part.toUpperCase() : part.toLowerCase());
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
}

/** The text of pieces where it is known, else that it is not. */
export function toValue(pieces: readonly Piece[]): Value {
  let assumed = false;
  for (const piece of pieces) {
    if (piece.kind === 'unknown') {
      const numeric = pieces.length === 1 && piece.numeric;
      return piece.from === undefined
        ? { kind: 'unknown', numeric }
        : { kind: 'unknown', numeric, from: piece.from };
    }
    if (piece.kind === 'text' && piece.assumed) assumed = true;
  }
  return { kind: 'text', text: knownText({ pieces, shown: '', literal: false }), assumed };
}
