import { type Field, type Piece, textPiece, UNKNOWN_TEXT } from '../field.js';
import {
  type ArithmeticExpression,
  forEachChild,
  type ParseLimits,
  parseShell,
  type SyntaxNode,
  type Word,
  type WordPart,
} from '../parse-shell.js';
import { HOME, type Scope, UNKNOWN_NUMBER, UNKNOWN_VALUE, type Value } from '../scope.js';
import type { Shell } from '../shell.js';
import { INHERITED, UNKNOWN } from '../stream.js';
import { braceAlternatives } from './brace-alternatives.js';
import { evaluateArithmetic } from './evaluate-arithmetic.js';
import { expandParameter, readParameter, toValue } from './expand-parameter.js';
import { isSafeValue } from './is-safe-arithmetic.js';
import { Splitter } from './splitter.js';
import { toField } from './to-field.js';
import { fromStream, toPieces } from './value-pieces.js';

/** Words as the shell would expand them, as far as that can be told; substitutions are walked on the way. */
export class Expander {
  readonly #shell: Shell;
  readonly #limits: ParseLimits;

  constructor(shell: Shell, limits: ParseLimits) {
    this.#shell = shell;
    this.#limits = limits;
  }

  /** The words that a word of a command becomes. */
  words(word: Word, scope: Scope): Field[] {
    this.#shell.step();
    if (word.parts === undefined && !word.text.startsWith('~')) {
      return [{ pieces: [textPiece(word.value)], shown: word.value, literal: true }];
    }
    const brace = word.parts?.find((part) => part.type === 'BraceExpansion');
    if (brace !== undefined && this.#shell.dialect === 'bash') return this.#braces(word, brace, scope);
    return new Splitter(scope, word).split(this.#pieces(word, scope, true));
  }

  /** A word where nothing is split: an assignment, the target of a redirection, a here-string. */
  single(word: Word, scope: Scope): Field {
    const pieces = this.#pieces(word, scope, false).flat();
    return toField(pieces, word);
  }

  value(word: Word, scope: Scope): Value {
    return toValue(this.single(word, scope).pieces);
  }

  /** The text of a here-document, of which quotes are part. */
  parts(parts: readonly WordPart[], scope: Scope): readonly Piece[] {
    return parts.flatMap((part) => this.#part(part, scope, true));
  }

  /** Looks at everything in an arithmetic expression; gives the number where it is known. */
  arithmetic(node: ArithmeticExpression, scope: Scope): number | undefined {
    return evaluateArithmetic(node, (leaf) => this.#arithmeticLeaf(leaf, scope));
  }

  #arithmeticLeaf(leaf: ArithmeticExpression, scope: Scope): string | undefined {
    if (leaf.type === 'ArithmeticCommandExpansion') {
      const output = leaf.script && this.#shell.runScript(leaf.script, scope.copy(), INHERITED);
      return output === undefined ? undefined : this.#arithmeticText(fromStream(output), scope);
    }
    if (leaf.type !== 'ArithmeticWord') return undefined;
    if (leaf.parts !== undefined) return this.#arithmeticText(toValue(this.parts(leaf.parts, scope)), scope);
    if (!/^[A-Za-z_]\w*$/.test(leaf.value)) return leaf.value;
    return this.#arithmeticText(scope.get(leaf.value) ?? UNKNOWN_NUMBER, scope);
  }

  #arithmeticText(value: Value, scope: Scope): string | undefined {
    if (!isSafeValue(value, scope))
      this.#shell.findings.ask('Arithmetic evaluates a value that is not known.');
    return value.kind === 'text' ? value.text : undefined;
  }

  #braces(word: Word, brace: WordPart, scope: Scope): Field[] {
    const at = brace.pos - word.pos;
    const before = word.text.slice(0, at);
    const after = word.text.slice(at + brace.text.length);
    const isWhole = word.text.startsWith(brace.text, at) && isBalanced(brace.text);
    const alternatives = isWhole ? braceAlternatives(brace.text) : undefined;
    const words = alternatives?.map((text) => this.#reparse(before + text + after));
    if (words?.every((one) => one !== undefined)) {
      return words
        .flatMap((one) => (one === NO_WORD ? [] : this.words(one, scope)))
        .map((field) => ({ ...field, literal: false }));
    }
    this.#shell.findings.ask('braces stand for more words than can be looked at');
    this.#walkScripts(brace, scope);
    return [{ pieces: [UNKNOWN_TEXT], shown: word.value, literal: false }];
  }

  #reparse(text: string): Word | typeof NO_WORD | undefined {
    this.#shell.step();
    this.#limits.nestedCharactersLeft -= text.length;
    const parsed = parseShell(`: ${text}`, this.#limits);
    if (!('script' in parsed) || parsed.script.commands.length !== 1) return undefined;
    const command = parsed.script.commands[0]?.command;
    if (command?.type !== 'Command' || command.suffix.length > 1) return undefined;
    const [only] = command.args;
    if (only === undefined) return NO_WORD;
    return only.type === 'Word' ? only : undefined;
  }

  /** For what is not expanded: the commands in it are found all the same. */
  #walkScripts(node: SyntaxNode, scope: Scope): void {
    if (node.type === 'Script') this.#shell.runScript(node, scope.copy(), INHERITED);
    else forEachChild(node, (child) => this.#walkScripts(child, scope));
  }

  /** One list of pieces a part, so that the splitter knows what came of an expansion. */
  #pieces(word: Word, scope: Scope, splits: boolean): Piece[][] {
    const { parts } = word;
    if (parts === undefined) return [this.#literal(word.text, word.value, true, scope)];
    return parts.map((part, index) => {
      if (part.type === 'Literal') {
        const endsTilde = index === parts.length - 1 || part.text.includes('/');
        return this.#literal(part.text, part.value, index === 0 && endsTilde, scope);
      }
      return this.#part(part, scope, !splits);
    });
  }

  #literal(text: string, value: string, isFirst: boolean, scope: Scope): Piece[] {
    if (isFirst && text.startsWith('~')) return tilde(value, scope);
    return [textPiece(value)];
  }

  #part(part: WordPart, scope: Scope, isQuoted: boolean): Piece[] {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [textPiece(part.value)];
      case 'Glob':
        // Within `[…]` stands what runs as elsewhere.
        if (part.kind === 'bracket') this.#walkScripts(part, scope);
        return [{ kind: 'glob', text: part.text }];
      case 'BraceExpansion':
        // Where nothing is split, braces stand for themselves; what is in them runs all the same.
        this.#walkScripts(part, scope);
        return [part.parts === undefined ? textPiece(part.text) : UNKNOWN_TEXT];
      case 'ExtendedGlob':
        this.#walkScripts(part, scope);
        return [{ kind: 'glob', text: part.text }];
      case 'DoubleQuoted':
      case 'LocaleString':
        return part.parts.flatMap((child) => this.#part(child, scope, true));
      default:
        return this.#expansion(part, scope, isQuoted);
    }
  }

  #expansion(part: WordPart, scope: Scope, isQuoted: boolean): Piece[] {
    switch (part.type) {
      case 'SimpleExpansion':
        return toPieces(readParameter(simpleName(part.text), scope), isQuoted);
      case 'ParameterExpansion': {
        const value = expandParameter(part, scope, {
          text: (word) => this.value(word, scope),
          arithmetic: (word) => this.checkArithmetic(word, scope),
          pieces: (word) => this.single(word, scope).pieces,
          ask: (reason) => this.#shell.findings.ask(reason),
        });
        return toPieces(value, isQuoted);
      }
      case 'CommandExpansion': {
        const output = part.script && this.#shell.runScript(part.script, scope.copy(), INHERITED);
        return toPieces(output === undefined ? UNKNOWN_VALUE : fromStream(output), isQuoted);
      }
      case 'ArithmeticExpansion': {
        const result = part.expression === undefined ? 0 : this.arithmetic(part.expression, scope);
        return [
          result === undefined
            ? { kind: 'unknown', numeric: true, splits: false }
            : textPiece(String(result)),
        ];
      }
      case 'ProcessSubstitution': {
        const output = part.script && this.#shell.runScript(part.script, scope.copy(), UNKNOWN);
        const isRead = part.operator === '<' && output !== undefined;
        return [isRead ? { kind: 'unknown', numeric: false, splits: false, from: output } : UNKNOWN_TEXT];
      }
      default:
        return [UNKNOWN_TEXT];
    }
  }

  /** What stands in an index, an offset or a length is arithmetic. */
  checkArithmetic(word: Word, scope: Scope): Value {
    const value = this.value(word, scope);
    if (value.kind === 'text' && /^[@*]$/.test(value.text)) return value;
    this.#arithmeticText(value, scope);
    const named =
      value.kind === 'text' && /^[A-Za-z_]\w*$/.test(value.text) ? scope.get(value.text) : undefined;
    return named ?? value;
  }
}

/** The parser may take the end of a `${…}` within for the end of the braces. */
function isBalanced(text: string): boolean {
  return !text.includes('${') || text.split('{').length === text.split('}').length;
}

/** An alternative without anything, not even quotes, is none of the words. */
const NO_WORD = Symbol('no word');

function tilde(value: string, scope: Scope): Piece[] {
  const slash = value.indexOf('/');
  const name = slash === -1 ? value.slice(1) : value.slice(1, slash);
  const rest = slash === -1 ? '' : value.slice(slash);
  if (name === '+') return toPieces(scope.get('PWD') ?? UNKNOWN_VALUE, true).concat(textPiece(rest));
  if (!/^[\w.-]*$/.test(name) || name === '-') return [UNKNOWN_TEXT, textPiece(rest)];
  const home = name === '' ? scope.get('HOME') : undefined;
  const known = home?.kind === 'text' ? home.text : HOME;
  return [textPiece(known, true), textPiece(rest)];
}

function simpleName(text: string): string {
  return text.slice(1).replaceAll('\\\n', '');
}
