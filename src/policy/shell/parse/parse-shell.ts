import {
  forEachChild as eachChild,
  type ParameterExpansionPart,
  type ParsedScript,
  parse,
  type SyntaxNode,
} from 'unbash';

export type * from 'unbash';
export type { Function as FunctionNode } from 'unbash';

/** The only file that knows the parser. What it lets through consists of known kinds of nodes and nothing else. */
export function parseShell(text: string, limits: ParseLimits): ParsedShell {
  if (text.length > MAX_TEXT) return { flaw: `the text is longer than ${MAX_TEXT} characters` };
  if (text.includes('\0')) return { flaw: 'the text holds a NUL character' };
  if (endsEscaped(text)) return { flaw: 'it ends in a backslash, which shells read differently' };
  if (limits.nestedCharactersLeft < 0 || nestsTooDeep(text))
    return { flaw: 'substitutions are nested too deep' };
  try {
    const script = parse(text);
    const flaw = new Inspection(limits, text).inspect(script);
    return flaw === undefined ? { script } : { flaw };
  } catch {
    // What the parser fails on was not understood.
    return { flaw: 'the parser gave up' };
  }
}

export const forEachChild = eachChild;

/** The node itself and everything below it. */
export function forEachNode(node: SyntaxNode, see: (node: SyntaxNode) => void): void {
  see(node);
  forEachChild(node, (child) => forEachNode(child, see));
}

export type ParsedShell = { readonly script: ParsedScript } | { readonly flaw: string };

/** Shared by all the texts of one analysis: a text within a text within a text is paid for once. */
export interface ParseLimits {
  nodesLeft: number;
  nestedCharactersLeft: number;
}

export const MAX_TEXT = 65_536;
const MAX_SCRIPT_DEPTH = 24;
const MAX_NODE_DEPTH = 300;

const UNDERSTOOD: ReadonlySet<string> = new Set(
  [
    'Script Statement CompoundList Command Pipeline AndOr Time Negation Redirected If Elif For ArithmeticFor',
    'Select While Function Subshell BraceGroup Case CaseItem Coproc TestCommand ArithmeticCommand Word Literal',
    'Glob SingleQuoted DoubleQuoted AnsiCQuoted LocaleString SimpleExpansion ParameterExpansion CommandExpansion',
    'ArithmeticExpansion ProcessSubstitution ExtendedGlob BraceExpansion Assignment ArrayValue Redirect HereString',
    'HereDoc HereDocDelimiter HereDocBody FileDescriptor FileDescriptorVariable ArithmeticBinary ArithmeticUnary',
    'ArithmeticTernary ArithmeticGroup ArithmeticWord ArithmeticCommandExpansion TestUnary TestBinary TestLogical',
    'TestNot TestGroup Default Remove Replace Slice CaseModification Transform Names',
  ].flatMap((line) => line.split(' ')),
);

class Inspection {
  readonly #limits: ParseLimits;
  readonly #text: string;
  #flaw: string | undefined;

  constructor(limits: ParseLimits, text: string) {
    this.#limits = limits;
    this.#text = text;
  }

  inspect(script: ParsedScript): string | undefined {
    this.#visit(script, { depth: 0, scripts: 0, isInArray: false, isBelowArray: false });
    return this.#flaw;
  }

  #visit(node: SyntaxNode, at: Position): void {
    this.#limits.nodesLeft--;
    this.#flaw ??= this.#flawOf(node, at.depth, at.scripts);
    if (at.isBelowArray) this.#flaw ??= flawInArray(node, at.isInArray);
    if (this.#flaw !== undefined) return;
    const isArray = node.type === 'ArrayValue';
    const below: Position = {
      depth: at.depth + 1,
      scripts: node.type === 'Script' ? at.scripts + 1 : at.scripts,
      isInArray: isArray || (at.isInArray && node.type !== 'Script'),
      isBelowArray: isArray || at.isBelowArray,
    };
    forEachChild(node, (child) => {
      if (this.#flaw === undefined) this.#visit(child, below);
    });
  }

  #flawOf(node: SyntaxNode, depth: number, scripts: number): string | undefined {
    if (this.#limits.nodesLeft < 0) return 'there is too much of it';
    if (depth > MAX_NODE_DEPTH || scripts > MAX_SCRIPT_DEPTH) return 'it is nested too deep';
    if (!UNDERSTOOD.has(node.type)) return `${node.type} is syntax that is not understood`;
    if (node.type === 'Script') return this.#flawOfScript(node, scripts);
    if (node.type === 'ProcessSubstitution' && this.#isWithinWord(node))
      return 'a process substitution within a word is not understood';
    return flawOfUnfinished(node);
  }

  /** Bash takes `r>()m` for one word; the parser takes it for three. */
  #isWithinWord({ pos, end }: SyntaxNode): boolean {
    const before = this.#text[pos - 1] ?? ' ';
    const after = this.#text[end] ?? ' ';
    const isThere = /^[<>]\($/.test(this.#text.slice(pos, pos + 2));
    return !isThere || !/[\s;&|(){}<>=]/.test(before) || !/[\s;&|)}<>]/.test(after);
  }

  #flawOfScript(script: ParsedScript, scripts: number): string | undefined {
    const error = script.errors?.[0];
    if (error !== undefined) return `it is not valid shell (${error.message})`;
    if (scripts > 0) this.#limits.nestedCharactersLeft -= script.end - script.pos;
    return this.#limits.nestedCharactersLeft < 0 ? 'it is nested too deep' : undefined;
  }
}

/** Where a node stands. */
interface Position {
  readonly depth: number;
  readonly scripts: number;
  /** Of this very script. */
  readonly isInArray: boolean;
  readonly isBelowArray: boolean;
}

/** Bash reads `a=(@(x|$(…)))` twice, and forgets on the way that a here-document's delimiter was quoted. */
function flawInArray(node: SyntaxNode, isDirect: boolean): string | undefined {
  if (node.type === 'HereDoc' && node.delimiter?.quoted === true && /[$`]/.test(node.body.text))
    return 'a here-document within an array is not understood';
  const isRead = isDirect && node.type === 'ExtendedGlob' && /[`(]/.test(node.text.slice(2));
  return isRead ? 'a pattern within an array is not understood' : undefined;
}

function flawOfUnfinished(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return node.script === undefined || !isClosed(node.text)
        ? 'a substitution is not understood'
        : undefined;
    case 'Word':
      return node.parts === undefined && holdsSyntax(node.text) ? 'a word is not understood' : undefined;
    case 'Assignment':
      return node.value.type === 'Word' && node.value.text.startsWith('(')
        ? 'an array with something behind it is not understood'
        : undefined;
    case 'Literal':
      return RUNS.test(withoutEscapes(node.text)) ? 'a word is not understood' : undefined;
    case 'ParameterExpansion':
      return isSplitWithin(node) ? 'a substitution within a replacement is not understood' : undefined;
    case 'ArithmeticExpansion':
      return node.expression === undefined && /\w/.test(node.text)
        ? 'arithmetic is not understood'
        : undefined;
    case 'ArithmeticCommand':
      return node.expression === undefined && node.body.trim() !== ''
        ? 'arithmetic is not understood'
        : undefined;
    case 'HereDoc':
      return node.closing === undefined || node.delimiter === undefined
        ? 'a here-document has no end'
        : undefined;
    case 'Redirect':
    case 'HereString':
      return node.target === undefined ? 'a redirection has no target' : undefined;
    default:
      return undefined;
  }
}

/**
 * The parser takes what it does not expect for plain text, as in `a=($(x))y`, and bash does not. Plain text holds no
 * quotes and nothing that is run; patterns of `=~` may hold parentheses.
 */
function holdsSyntax(text: string): boolean {
  const bare = withoutEscapes(text);
  return RUNS.test(bare) || /["';&\n]/.test(bare);
}

const RUNS = /`|\$[({]|\$\w/;

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\[\s\S]/g, '');
}

function endsEscaped(text: string): boolean {
  let at = text.length;
  while (text[at - 1] === '\\') at--;
  return (text.length - at) % 2 === 1;
}

function isClosed(text: string): boolean {
  const end = text.startsWith('`') ? '`' : text.startsWith('${') ? '}' : ')';
  return text.length > 1 && text.endsWith(end);
}

/** The parser splits `${x/…/…}` at slashes that are part of a substitution: what is behind them would be missed. */
function isSplitWithin({ operation, text }: ParameterExpansionPart): boolean {
  return operation?.type === 'Replace' && /`|[$<>]\(|\$\{[\s|]/.test(text);
}

/** A cheap look before parsing: each level of substitution would be read once more by the parser. */
function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', at + 1)) {
    const next = text.charCodeAt(at + 1);
    if (next === 0x28 || next === 0x7b) depth++;
    if (depth > MAX_OPEN) return openSubstitutions(text) > MAX_OPEN;
  }
  return false;
}

const MAX_OPEN = 64;

/** Closing characters count, quoted or not: too many of them only make the look more lenient. */
function openSubstitutions(text: string): number {
  let open = 0;
  let most = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x28 || code === 0x7b) most = Math.max(most, ++open);
    else if ((code === 0x29 || code === 0x7d) && open > 0) open--;
  }
  return most;
}
