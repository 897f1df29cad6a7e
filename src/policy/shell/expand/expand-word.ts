import {
  forEachChild,
  type ParameterExpansionPart,
  type SyntaxNode,
  type Word,
  type WordPart,
} from '../parse/parse-shell.js';
import { type Shell, setVariable } from '../words/call.js';
import {
  COMPUTED,
  Field,
  NUMBER,
  type Piece,
  type Stream,
  textValue,
  UNKNOWN,
  type Value,
} from '../words/field.js';
import { toGlobPieces } from '../words/place.js';
import { HOME, isSafeNumber, type Scope } from '../words/scope.js';

/** Expands words as the shell would, as far as possible. Substitutions are walked on the way. */
export class Expander {
  constructor(readonly shell: Shell) {}

  /** The words that one word of a command expands to. */
  words(word: Word, scope: Scope): Field[] {
    this.shell.step();
    if (word.parts === undefined && !word.text.startsWith('~')) return [Field.of(word.value)];
    const groups = this.#pieces(word, scope, true);
    if (word.parts?.some(({ type }) => type === 'BraceExpansion') !== true)
      return splitFields(groups, word, word.value, scope);
    return this.#braces(groups, word, scope);
  }

  /** Braces with plain alternatives: the words that each of them gives. */
  #braces(all: readonly Piece[][], word: Word, scope: Scope): Field[] {
    let ways: { groups: Piece[][]; value: string }[] = [{ groups: [], value: word.value }];
    for (const [index, pieces] of all.entries()) {
      const part = word.parts?.[index];
      const texts = part?.type === 'BraceExpansion' ? alternatives(part.text) : undefined;
      if (part?.type === 'BraceExpansion' && (texts === undefined || ways.length > MAX_ALTERNATIVES)) {
        this.shell.findings.ask('braces expand to more words than can be checked');
        return [new Field([UNKNOWN], word.value)];
      }
      ways = ways.flatMap(({ groups, value }) =>
        (texts ?? [undefined]).map((text) => ({
          groups: [...groups, text === undefined ? pieces : [textValue(text)]],
          value: text === undefined ? value : value.replace(part?.text ?? '', () => text),
        })),
      );
    }
    return ways.flatMap(({ groups, value }) => splitFields(groups, word, value, scope));
  }

  /** A word that is not split: an assignment, the target of a redirection, a here-string. */
  single(word: Word, scope: Scope): Field {
    return toField(this.#pieces(word, scope, false).flat(), word);
  }

  /** The text of a here-document; quotes are part of it. */
  parts(parts: readonly WordPart[], scope: Scope): readonly Piece[] {
    return parts.flatMap((part) => this.#part(part, scope, true));
  }

  /** Indexes, offsets and lengths are arithmetic. */
  number(word: Word, scope: Scope): void {
    const value = this.single(word, scope).value;
    if (value.kind !== 'text' || !/^[@*]$/.test(value.text)) checkNumber(this.shell, value, scope);
  }

  /** For parts that are not expanded: the commands in them are still found. */
  #walkScripts(node: SyntaxNode, scope: Scope): void {
    if (node.type === 'Script') this.shell.runScript(node, scope.copy(), UNKNOWN);
    else forEachChild(node, (child) => this.#walkScripts(child, scope));
  }

  /** One list of pieces for each part, so that the results of expansions stay separate. */
  #pieces({ parts, text, value }: Word, scope: Scope, splits: boolean): Piece[][] {
    if (parts === undefined) return [literal(text, value, true, scope)];
    return parts.map((part, index) => {
      if (part.type !== 'Literal') return this.#part(part, scope, !splits);
      const endsTilde = index === parts.length - 1 || part.text.includes('/');
      return literal(part.text, part.value, index === 0 && endsTilde, scope);
    });
  }

  #part(part: WordPart, scope: Scope, isQuoted: boolean): Piece[] {
    const { shell } = this;
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [textValue(part.value)];
      case 'Glob':
      case 'ExtendedGlob':
        // `[…]` and `@(…)` can contain substitutions.
        this.#walkScripts(part, scope);
        return [{ kind: 'glob', text: part.text }];
      case 'BraceExpansion':
        // If nothing is split, braces are literal; substitutions in them still run.
        this.#walkScripts(part, scope);
        return [part.parts === undefined && isQuoted ? textValue(part.text) : UNKNOWN];
      case 'DoubleQuoted':
      case 'LocaleString':
        return part.parts.flatMap((child) => this.#part(child, scope, true));
      case 'SimpleExpansion':
        return this.#toPieces(readParameter(part.text.slice(1).replaceAll('\\\n', ''), scope), isQuoted);
      case 'ParameterExpansion':
        return this.#toPieces(expandParameter(this, part, scope), isQuoted);
      case 'CommandExpansion': {
        const output = part.script && shell.runScript(part.script, scope.copy(), UNKNOWN);
        // Without quotes, blanks in the path would split it.
        if (isQuoted && PRINTS_DIRECTORY.test(part.text) && knowsDirectory(scope))
          return this.#toPieces(readParameter('PWD', scope), isQuoted);
        return this.#toPieces(output === undefined ? UNKNOWN : fromStream(output), isQuoted);
      }
      case 'ArithmeticExpansion':
        if (part.expression !== undefined) walkArithmetic(this, part.expression, scope);
        return [COMPUTED];
      case 'ProcessSubstitution': {
        const output = part.script && shell.runScript(part.script, scope.copy(), UNKNOWN);
        return [part.operator === '<' && output !== undefined ? { ...UNKNOWN, from: output } : UNKNOWN];
      }
    }
  }

  #toPieces(value: Value, isQuoted: boolean): Piece[] {
    if (value.kind === 'unknown') return [{ ...value, splits: !isQuoted }];
    // `x=$x$x` doubles a text each time.
    this.shell.step(value.text.length / CHARACTERS_A_STEP);
    return value.pattern === true ? toGlobPieces(value.text, true) : [textValue(value.text, value.assumed)];
  }
}

const PRINTS_DIRECTORY = /^(?:\$\(\s*pwd\s*\)|`\s*pwd\s*`)$/;

/** `$(pwd)` is `$PWD`, unless the command line gives one of them another meaning. */
function knowsDirectory({ directory, variables, functions }: Scope): boolean {
  return directory !== undefined && !variables.has('PWD') && !functions.has('pwd');
}

const CHARACTERS_A_STEP = 256;

function literal(text: string, value: string, isFirst: boolean, scope: Scope): Piece[] {
  if (!isFirst || !text.startsWith('~')) return [textValue(value)];
  const [, name = '', rest = ''] = /^~([^/]*)(.*)$/s.exec(value) ?? [];
  if (!/^[\w.-]*$/.test(name) || name === '-') return [UNKNOWN, textValue(rest)];
  const home = name === '' ? scope.get('HOME') : undefined;
  return [textValue(home?.kind === 'text' ? home.text : HOME, true), textValue(rest)];
}

/**
 * Splits the results of unquoted expansions at the separators. Each group holds the pieces of one part of the
 * word.
 */
function splitFields(groups: readonly Piece[][], word: Word, shown: string, scope: Scope): Field[] {
  const isUsual = !scope.variables.has('IFS');
  const fields: Piece[][] = [];
  let current: Piece[] | undefined;
  const push = (pieces: readonly Piece[]): void => {
    if (pieces.length === 0) return;
    if (current === undefined) {
      current = [];
      fields.push(current);
    }
    current.push(...pieces);
  };
  groups.forEach((pieces, index) => {
    const part = word.parts?.[index];
    const isUnquoted = part !== undefined && /^(?:Simple|Parameter|Command|Brace)Expansion$/.test(part.type);
    for (const piece of pieces) {
      if (piece.kind !== 'text' || !isUnquoted || (piece.text === '' && piece.assumed)) push([piece]);
      // If the separators were changed, splitting is not followed.
      else if (!isUsual && part.type !== 'BraceExpansion') push([UNKNOWN]);
      else
        piece.text.split(/[ \t\n]/).forEach((text, at) => {
          if (at > 0) current = undefined;
          push(toGlobPieces(text, piece.assumed));
        });
    }
    if (pieces.length === 0 && part !== undefined && !isUnquoted) push([textValue('')]);
  });
  return fields.map((pieces) => {
    const field = toField(pieces, word, shown);
    const isSure = fields.length > 1 && !field.isAssumed && field.known !== '';
    return isSure ? new Field(pieces, field.known, field.literal) : field;
  });
}

/** A word of these pieces, with the text that is shown for it. */
function toField(pieces: readonly Piece[], word: Word, shown = word.value): Field {
  const isPlain = word.parts === undefined || word.parts.every((part) => isPlainPart(part));
  const field = new Field(pieces, shown, isPlain && !word.text.startsWith('~'));
  const { exact } = field;
  return exact === undefined || field.isAssumed ? field : new Field(pieces, exact, field.literal);
}

function isPlainPart(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every((child) => child.type === 'Literal');
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted';
}

const MAX_ALTERNATIVES = 256;

/** The alternatives of `{a,b}` or `{1..3}`; undefined if there are too many, or they are not plain. */
function alternatives(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  const [, first, last] = /^(-?\d{1,9})\.\.(-?\d{1,9})$/.exec(inner) ?? [];
  if (first !== undefined) {
    const from = Number(first);
    const [count, step] = [Math.abs(Number(last) - from) + 1, Math.sign(Number(last) - from)];
    if (count > MAX_ALTERNATIVES) return undefined;
    return Array.from({ length: count }, (_, index) => String(from + step * index));
  }
  const texts = inner.split(',');
  return texts.length < 2 || texts.length > MAX_ALTERNATIVES || /["'$`\\(){}~[\]]/.test(inner)
    ? undefined
    : texts;
}

/** The value of `$name`. `$@` and `$*` are not followed. */
function readParameter(name: string, scope: Scope): Value {
  if (name === '0') return scope.get(name) ?? textValue('bash', true);
  return /^[?#$!]$/.test(name) ? NUMBER : (scope.get(name) ?? UNKNOWN);
}

/**
 * All forms of `${…}`. Every operand is expanded, including that of the branch not taken. Elements of arrays,
 * substrings and replacements are not computed.
 */
function expandParameter(expander: Expander, part: ParameterExpansionPart, scope: Scope): Value {
  const { parameter, prefix, operation, index } = part;
  const { shell } = expander;
  if (index !== undefined) expander.number(index, scope);
  // The name comes from a value: an index in it would be run.
  if (prefix === '!' && operation?.type !== 'Names') shell.findings.ask('the name of a variable is computed');
  const base = prefix === '!' || index !== undefined ? UNKNOWN : readParameter(parameter, scope);
  if (operation === undefined) return prefix === '#' ? NUMBER : base;
  if (operation.type === 'Default') {
    const { operator, operand } = operation;
    const given = expander.single(operand, scope).value;
    const other = given.kind === 'text' ? { ...given, assumed: true } : given;
    const isEmpty = base.kind === 'text' && base.text === '' && operator.startsWith(':');
    // The variable is not set in this text. Attacks rely on it being unset everywhere.
    const isUnset =
      base.kind === 'unknown' && !scope.variables.has(parameter) && /^[A-Za-z_]/.test(parameter);
    if (operator.endsWith('+')) return isEmpty ? base : other;
    if ((!isEmpty && !isUnset) || operator.endsWith('?')) return base;
    if (operator.endsWith('=')) setVariable({ shell, scope }, parameter, other);
    return other;
  }
  if (operation.type === 'Transform' && operation.operand.value === 'P')
    shell.findings.ask('a value is expanded as a prompt (@P), which runs the commands in it');
  forEachChild(operation, (word) => {
    if (word.type !== 'Word') return;
    if (operation.type === 'Slice') expander.number(word, scope);
    else expander.single(word, scope);
  });
  return UNKNOWN;
}

/** The value of a substitution: its output without trailing line ends. */
function fromStream(output: Stream): Value {
  if (output.kind === 'text') return textValue(output.text.replace(/\n+$/, ''));
  return output.kind === 'unknown' ? output : { ...UNKNOWN, from: output };
}

/**
 * Walks an arithmetic expression: substitutions in it run, values are evaluated again, and assignments give a
 * number. The result is not computed.
 */
export function walkArithmetic(expander: Expander, node: SyntaxNode, scope: Scope): void {
  const { shell } = expander;
  if (node.type === 'ArithmeticCommandExpansion') {
    if (node.script !== undefined)
      checkNumber(shell, fromStream(shell.runScript(node.script, scope.copy(), UNKNOWN)), scope);
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

function checkNumber({ findings }: Shell, value: Value, scope: Scope): void {
  if (!isSafeNumber(value, scope)) findings.ask('Arithmetic evaluates a value that is not known.');
}

/** Words in `[[ … ]]` are expanded as usual; `[[ a[$(…)] -eq 1 ]]` runs the substitution in the index. */
export function walkTest(expander: Expander, node: SyntaxNode, scope: Scope): void {
  if (node.type !== 'TestUnary' && node.type !== 'TestBinary') {
    forEachChild(node, (child) => walkTest(expander, child, scope));
    return;
  }
  const words = node.type === 'TestUnary' ? [node.operand] : [node.left, node.right];
  const isEvaluated = /^-(?:[vR]|eq|ne|lt|le|gt|ge)$/.test(node.operator);
  for (const word of words) {
    const value = expander.single(word, scope).value;
    if (isEvaluated && !isSafeNumber(value, scope))
      expander.shell.findings.ask('A test evaluates a value that is not known.');
  }
}
