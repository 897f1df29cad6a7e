import { forEachChild, type ParameterExpansionPart, type SyntaxNode } from '../parse/parse-shell.js';
import type { Shell } from '../words/call.js';
import {
  COMPUTED,
  Field,
  INHERITED,
  NUMBER,
  type Piece,
  type Stream,
  textValue,
  UNKNOWN,
  type Value,
} from '../words/field.js';
import { couldMatch, toGlobPieces } from '../words/place.js';
import { isSafeNumber, type Scope } from '../words/scope.js';
import { setVariable } from '../words/variables.js';
import type { Expander } from './expand-word.js';

/** The value of `$name`. All the arguments together (`$@`) are not followed. */
export function readParameter(name: string, scope: Scope): Value {
  const { positional } = scope;
  if (name === '0') return scope.variables.get('0') ?? textValue('bash', true);
  if (/^[0-9]+$/.test(name))
    return positional === undefined ? UNKNOWN : textValue(positional[Number(name) - 1] ?? '');
  if (/^[@*]$/.test(name))
    return positional === undefined ? UNKNOWN : positional.length === 0 ? NO_ARGUMENTS : COMPUTED;
  return /^[?#$!]$/.test(name) ? NUMBER : (scope.get(name) ?? UNKNOWN);
}

/**
 * `${…}` in all its forms. Every operand is looked at, also of the branch that is not taken. Elements of arrays, parts
 * of values and what is replaced in them are not computed, but for what `#` and `%` take away.
 */
export function expandParameter(expander: Expander, part: ParameterExpansionPart, scope: Scope): Value {
  const { parameter, prefix, operation, index } = part;
  const { shell } = expander;
  if (index !== undefined) expander.number(index, scope);
  const named = readParameter(parameter, scope);
  // The name comes from a value: an index within it would be run.
  if (prefix === '!' && operation?.type !== 'Names') shell.findings.ask('the name of a variable is computed');
  // What comes of a value that is known, and is not followed.
  const changed = named.kind === 'text' || named.computed === true ? COMPUTED : UNKNOWN;
  const base = prefix === '!' || index !== undefined ? changed : named;
  if (operation === undefined) return prefix === '#' ? NUMBER : base;
  switch (operation.type) {
    case 'Default': {
      const { operator, operand } = operation;
      const given = expander.value(operand, scope);
      const other = given.kind === 'text' ? { ...given, assumed: true } : given;
      // What made a directory may have failed.
      if (base.kind === 'unknown' && base.from?.kind === 'directory') return changed;
      const isEmpty = base.kind === 'text' && base.text === '' && operator.startsWith(':');
      // It is not set here: that it is not set at all is what an attack builds on.
      const isUnset =
        base.kind === 'unknown' && !scope.variables.has(parameter) && /^[A-Za-z_]/.test(parameter);
      if (operator.endsWith('+')) return isEmpty ? base : other;
      if ((!isEmpty && !isUnset) || operator.endsWith('?')) return base;
      if (operator.endsWith('=')) setVariable({ shell, scope }, parameter, other);
      return other;
    }
    case 'Remove': {
      const { pieces } = expander.single(operation.operand, scope);
      const globs = pieces.filter(({ kind }) => kind !== 'text');
      const isPlain =
        globs.length < 3 && globs.every((one) => one.kind === 'glob' && /^[*?]$/.test(one.text));
      if (!isPlain || base.kind !== 'text' || base.text.length > MAX_CUT) return changed;
      return { ...base, text: removeMatch(base.text, pieces, operation.operator) };
    }
    case 'Names':
      return UNKNOWN;
    default:
      if (operation.type === 'Transform' && operation.operand.value === 'P')
        shell.findings.ask('a value is expanded as a prompt (@P), which runs what it holds');
      forEachChild(operation, (word) => {
        if (word.type !== 'Word') return;
        if (operation.type === 'Slice') expander.number(word, scope);
        else expander.single(word, scope);
      });
      return changed;
  }
}

const MAX_CUT = 256;

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
  return output.kind === 'unknown' ? { ...output, from: output } : { ...UNKNOWN, from: output };
}

/** `$@` where there are none: no word at all, in quotes too. */
const NO_ARGUMENTS = textValue('');

export function toPieces(value: Value, isQuoted: boolean): Piece[] {
  if (value === NO_ARGUMENTS) return [];
  if (value.kind === 'unknown') return [{ ...value, splits: !isQuoted }];
  return value.pattern === true ? toGlobPieces(value.text, true) : [textValue(value.text, value.assumed)];
}

/**
 * Walks an arithmetic expression: what stands in it runs, its values are evaluated once more, and what it assigns is a
 * number. What it comes to is not computed.
 */
export function walkArithmetic(expander: Expander, node: SyntaxNode, scope: Scope): void {
  const { shell } = expander;
  if (node.type === 'ArithmeticCommandExpansion') {
    if (node.script !== undefined)
      checkNumber(shell, fromStream(shell.runScript(node.script, scope.copy(), INHERITED)), scope);
  } else if (node.type !== 'ArithmeticWord')
    forEachChild(node, (child) => walkArithmetic(expander, child, scope));
  else if (node.parts !== undefined)
    checkNumber(shell, new Field(expander.parts(node.parts, scope), node.value).value, scope);
  else if (/^[A-Za-z_]\w*$/.test(node.value)) checkNumber(shell, scope.get(node.value) ?? NUMBER, scope);
  const isAssignment = node.type === 'ArithmeticBinary' && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator);
  const isStep = node.type === 'ArithmeticUnary' && /^(?:\+\+|--)$/.test(node.operator);
  const target = isAssignment ? node.left : isStep ? node.operand : undefined;
  if (target?.type === 'ArithmeticWord') setVariable({ shell, scope }, target.value, NUMBER);
}

export function checkNumber({ findings }: Shell, value: Value, scope: Scope): void {
  if (!isSafeNumber(value, scope)) findings.ask('Arithmetic evaluates a value that is not known.');
}

/** What stands in `[[ … ]]` is expanded as elsewhere; `[[ a[$(…)] -eq 1 ]]` runs what is in the index. */
export function walkTest(expander: Expander, node: SyntaxNode, scope: Scope): void {
  if (node.type !== 'TestUnary' && node.type !== 'TestBinary') {
    forEachChild(node, (child) => walkTest(expander, child, scope));
    return;
  }
  const words = node.type === 'TestUnary' ? [node.operand] : [node.left, node.right];
  const isEvaluated = /^-(?:[vR]|eq|ne|lt|le|gt|ge)$/.test(node.operator);
  for (const word of words) {
    const value = expander.value(word, scope);
    if (isEvaluated && !isSafeNumber(value, scope))
      expander.shell.findings.ask('A test evaluates a value that is not known.');
  }
}
