import type { ParameterExpansionPart, Word } from '../parse/parse-shell.js';
import { type Field, type Piece, type Stream, textPiece } from '../words/field.js';
import { couldMatch, toGlobPieces } from '../words/place.js';
import {
  COMPUTED_VALUE,
  type Scope,
  textValue,
  toValue,
  UNKNOWN_NUMBER,
  UNKNOWN_VALUE,
  type Value,
} from '../words/scope.js';

/** What an operand of `${name op operand}` comes to, its substitutions looked at on the way. */
export interface Operands {
  field(word: Word): Field;
  /** For what is evaluated: an index, an offset, a length. */
  number(word: Word): void;
  ask(reason: string): void;
  set(name: string, value: Value): void;
}

/** The value of `$name`. All the arguments together (`$@`) are not followed. */
export function readParameter(name: string, scope: Scope): Value {
  const { positional } = scope;
  if (name === '0') return scope.variables.get('0') ?? textValue('bash', true);
  if (/^[0-9]+$/.test(name))
    return positional === undefined ? UNKNOWN_VALUE : textValue(positional[Number(name) - 1] ?? '');
  if (/^[@*]$/.test(name))
    return positional === undefined ? UNKNOWN_VALUE : positional.length === 0 ? NO_ARGUMENTS : COMPUTED_VALUE;
  return /^[?#$!]$/.test(name) ? UNKNOWN_NUMBER : (scope.get(name) ?? UNKNOWN_VALUE);
}

/**
 * `${…}` in all its forms. Every operand is looked at, also of the branch that is not taken. Elements of arrays, parts
 * of values and what is replaced in them are not computed, but for what `#` and `%` take away.
 */
export function expandParameter(part: ParameterExpansionPart, scope: Scope, operands: Operands): Value {
  const { parameter, prefix, operation, index } = part;
  if (index !== undefined) operands.number(index);
  const named = readParameter(parameter, scope);
  // The name comes from a value: an index within it would be run.
  if (prefix === '!' && operation?.type !== 'Names') operands.ask('the name of a variable is computed');
  // What comes of a value that is known, and is not followed.
  const changed = named.kind === 'text' || named.computed === true ? COMPUTED_VALUE : UNKNOWN_VALUE;
  const base = prefix === '!' || index !== undefined ? changed : named;
  switch (operation?.type) {
    case undefined:
      return prefix === '#' ? UNKNOWN_NUMBER : base;
    case 'Default': {
      const { operator, operand } = operation;
      const other = assume(toValue(operands.field(operand).pieces));
      // What made a directory may have failed.
      if (base.kind === 'unknown' && base.from?.kind === 'directory') return changed;
      const isEmpty = base.kind === 'text' && base.text === '' && operator.startsWith(':');
      // It is not set here: that it is not set at all is what an attack builds on.
      const isUnset =
        base.kind === 'unknown' && !scope.variables.has(parameter) && /^[A-Za-z_]/.test(parameter);
      if (operator.endsWith('+')) return isEmpty ? base : other;
      if ((!isEmpty && !isUnset) || operator.endsWith('?')) return base;
      if (operator.endsWith('=')) operands.set(parameter, other);
      return other;
    }
    case 'Remove': {
      const { pieces } = operands.field(operation.operand);
      const isPlain = pieces.every(
        (piece) => piece.kind === 'text' || /^[*?]$/.test(piece.kind === 'glob' ? piece.text : ''),
      );
      if (!isPlain || base.kind !== 'text' || base.text.length > MAX_CUT) return changed;
      return { ...base, text: removeMatch(base.text, pieces, operation.operator) };
    }
    case 'Replace':
      for (const word of [operation.pattern, operation.replacement]) operands.field(word);
      return changed;
    case 'Slice':
      operands.number(operation.offset);
      if (operation.length !== undefined) operands.number(operation.length);
      return changed;
    case 'CaseModification':
      if (operation.operand !== undefined) operands.field(operation.operand);
      return changed;
    case 'Transform':
      if (operation.operand.value === 'P')
        operands.ask('a value is expanded as a prompt (@P), which runs what it holds');
      return changed;
    default:
      return UNKNOWN_VALUE;
  }
}

const MAX_CUT = 256;

function assume(value: Value): Value {
  return value.kind === 'text' ? { ...value, assumed: true } : value;
}

function removeMatch(text: string, pattern: readonly Piece[], operator: string): string {
  const lengths = Array.from({ length: text.length + 1 }, (_, length) => length);
  if (operator.length === 2) lengths.reverse();
  const isStart = operator.startsWith('#');
  const found = lengths.find((length) =>
    couldMatch(pattern, isStart ? text.slice(0, length) : text.slice(text.length - length)),
  );
  if (found === undefined) return text;
  return isStart ? text.slice(found) : text.slice(0, text.length - found);
}

/** What a substitution gives: the output without the line ends behind it. */
export function fromStream(output: Stream): Value {
  if (output.kind === 'text') return textValue(output.text.replace(/\n+$/, ''));
  if (output.kind !== 'unknown') return { kind: 'unknown', numeric: false, from: output };
  return { ...output, from: output };
}

/** `$@` where there are none: no word at all, in quotes too. */
const NO_ARGUMENTS = textValue('');

export function toPieces(value: Value, isQuoted: boolean): Piece[] {
  if (value === NO_ARGUMENTS) return [];
  if (value.kind === 'unknown') return [{ ...value, splits: !isQuoted }];
  return value.pattern === true ? toGlobPieces(value.text, true) : [textPiece(value.text, value.assumed)];
}
