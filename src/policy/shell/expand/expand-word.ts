import {
  forEachChild,
  type ParseLimits,
  parseShell,
  type SyntaxNode,
  type Word,
  type WordPart,
} from '../parse/parse-shell.js';
import type { Shell } from '../words/call.js';
import { type Field, INHERITED, type Piece, textPiece, UNKNOWN, UNKNOWN_TEXT } from '../words/field.js';
import { HOME, type Scope, toValue, UNKNOWN_VALUE, type Value } from '../words/scope.js';
import { setVariable } from '../words/variables.js';
import { checkNumber, walkArithmetic } from './arithmetic.js';
import { braceAlternatives } from './braces.js';
import { expandParameter, fromStream, readParameter, toPieces } from './parameter.js';
import { splitFields, toField } from './split.js';

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
    if (word.parts === undefined && !word.text.startsWith('~'))
      return [{ pieces: [textPiece(word.value)], shown: word.value, literal: true }];
    const brace = word.parts?.find((part) => part.type === 'BraceExpansion');
    if (brace !== undefined && this.#shell.dialect === 'bash') return this.#braces(word, brace, scope);
    return splitFields(this.#pieces(word, scope, true), word, scope);
  }

  /** A word where nothing is split: an assignment, the target of a redirection, a here-string. */
  single(word: Word, scope: Scope): Field {
    return toField(this.#pieces(word, scope, false).flat(), word);
  }

  value(word: Word, scope: Scope): Value {
    return toValue(this.single(word, scope).pieces);
  }

  /** The text of a here-document, of which quotes are part. */
  parts(parts: readonly WordPart[], scope: Scope): readonly Piece[] {
    return parts.flatMap((part) => this.#part(part, scope, true));
  }

  /** What stands in an index, an offset or a length is arithmetic. */
  number(word: Word, scope: Scope): void {
    const value = this.value(word, scope);
    if (value.kind !== 'text' || !/^[@*]$/.test(value.text)) checkNumber(this.#shell, value, scope);
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

  /** One list of pieces a part, so that it is known what came of an expansion. */
  #pieces({ parts, text, value }: Word, scope: Scope, splits: boolean): Piece[][] {
    if (parts === undefined) return [literal(text, value, true, scope)];
    return parts.map((part, index) => {
      if (part.type !== 'Literal') return this.#part(part, scope, !splits);
      const endsTilde = index === parts.length - 1 || part.text.includes('/');
      return literal(part.text, part.value, index === 0 && endsTilde, scope);
    });
  }

  #part(part: WordPart, scope: Scope, isQuoted: boolean): Piece[] {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return [textPiece(part.value)];
      case 'Glob':
      case 'ExtendedGlob':
        // Within `[…]` and `@(…)` stands what runs as elsewhere.
        this.#walkScripts(part, scope);
        return [{ kind: 'glob', text: part.text }];
      case 'BraceExpansion':
        // Where nothing is split, braces stand for themselves; what is in them runs all the same.
        this.#walkScripts(part, scope);
        return [part.parts === undefined ? textPiece(part.text) : UNKNOWN_TEXT];
      case 'DoubleQuoted':
      case 'LocaleString':
        return part.parts.flatMap((child) => this.#part(child, scope, true));
      case 'SimpleExpansion':
        return toPieces(readParameter(part.text.slice(1).replaceAll('\\\n', ''), scope), isQuoted);
      case 'ParameterExpansion': {
        const value = expandParameter(part, scope, {
          field: (word) => this.single(word, scope),
          number: (word) => this.number(word, scope),
          ask: (reason) => this.#shell.findings.ask(reason),
          set: (name, other) => setVariable({ shell: this.#shell, scope }, name, other),
        });
        return toPieces(value, isQuoted);
      }
      case 'CommandExpansion': {
        const output = part.script && this.#shell.runScript(part.script, scope.fork(), INHERITED);
        return toPieces(output === undefined ? UNKNOWN_VALUE : fromStream(output), isQuoted);
      }
      case 'ArithmeticExpansion':
        if (part.expression !== undefined) walkArithmetic(this.#shell, this, part.expression, scope);
        return [{ kind: 'unknown', numeric: true, splits: false, computed: true }];
      case 'ProcessSubstitution': {
        const output = part.script && this.#shell.runScript(part.script, scope.copy(), UNKNOWN);
        return [
          part.operator === '<' && output !== undefined ? { ...UNKNOWN_TEXT, from: output } : UNKNOWN_TEXT,
        ];
      }
      default:
        return [UNKNOWN_TEXT];
    }
  }
}

/** The parser may take the end of a `${…}` within for the end of the braces. */
function isBalanced(text: string): boolean {
  return !text.includes('${') || text.split('{').length === text.split('}').length;
}

/** An alternative without anything, not even quotes, is none of the words. */
const NO_WORD = Symbol('no word');

function literal(text: string, value: string, isFirst: boolean, scope: Scope): Piece[] {
  if (!isFirst || !text.startsWith('~')) return [textPiece(value)];
  const slash = value.indexOf('/');
  const name = slash === -1 ? value.slice(1) : value.slice(1, slash);
  const rest = slash === -1 ? '' : value.slice(slash);
  if (name === '+') return toPieces(scope.get('PWD') ?? UNKNOWN_VALUE, true).concat(textPiece(rest));
  if (!/^[\w.-]*$/.test(name) || name === '-') return [UNKNOWN_TEXT, textPiece(rest)];
  const home = name === '' ? scope.get('HOME') : undefined;
  return [textPiece(home?.kind === 'text' ? home.text : HOME, true), textPiece(rest)];
}
