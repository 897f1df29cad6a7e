import { forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash';

export type * from 'unbash';
export type { Function as FunctionNode } from 'unbash';
export { forEachChild } from 'unbash';

/** The only file that knows the parser. Everything it accepts was understood. */
export function parseShell(text: string, limits: ParseLimits): ParsedShell {
  if (text.length > MAX_TEXT) return { flaw: `the text is longer than ${MAX_TEXT} characters` };
  if (text.includes('\0')) return { flaw: 'the text holds a NUL character' };
  if (/(?<!\\)(?:\\\\)*\\$/.test(text))
    return { flaw: 'it ends in a backslash, which shells read differently' };
  if (limits.nestedCharactersLeft < 0 || nestsTooDeep(text))
    return { flaw: 'substitutions are nested too deep' };
  try {
    const script = parse(text);
    const flaw = findFlaw(script, text, limits);
    return flaw === undefined ? { script } : { flaw };
  } catch {
    // A text on which the parser fails was not understood.
    return { flaw: 'the parser gave up' };
  }
}

/** Whether the node, or any node below it, passes the test. */
export function holds(node: SyntaxNode, test: (inner: SyntaxNode) => boolean): boolean {
  let isFound = test(node);
  forEachChild(node, (child) => {
    isFound ||= holds(child, test);
  });
  return isFound;
}

export type ParsedShell = { readonly script: ParsedScript } | { readonly flaw: string };

/** Shared by all texts of one analysis, so that nested texts use up the same limits. */
export interface ParseLimits {
  nodesLeft: number;
  nestedCharactersLeft: number;
}

export const MAX_TEXT = 65_536;
const MAX_SCRIPT_DEPTH = 24;
const MAX_NODE_DEPTH = 300;

/** Finds the first thing below the node that the parser has not understood. */
function findFlaw(
  node: SyntaxNode,
  text: string,
  limits: ParseLimits,
  depth = 0,
  scripts = 0,
): string | undefined {
  let flaw = ownFlaw(node, text, limits, depth, scripts);
  const below = node.type === 'Script' ? scripts + 1 : scripts;
  if (flaw === undefined)
    forEachChild(node, (child) => {
      flaw ??= findFlaw(child, text, limits, depth + 1, below);
    });
  return flaw;
}

function ownFlaw(
  node: SyntaxNode,
  text: string,
  limits: ParseLimits,
  depth: number,
  scripts: number,
): string | undefined {
  if (limits.nodesLeft-- <= 0) return 'there is too much of it';
  if (depth > MAX_NODE_DEPTH || scripts > MAX_SCRIPT_DEPTH) return 'it is nested too deep';
  if (node.type === 'Script') {
    if (node.errors?.[0] !== undefined) return `it is not valid shell (${node.errors[0].message})`;
    if (scripts > 0) limits.nestedCharactersLeft -= node.end - node.pos;
    return limits.nestedCharactersLeft < 0 ? 'it is nested too deep' : undefined;
  }
  // Bash reads `a=(@(x|$(…)))` twice, and forgets on the way that a here-document's delimiter was quoted.
  if (node.type === 'ArrayValue' && holds(node, ({ type }) => type === 'HereDoc' || type === 'ExtendedGlob'))
    return 'an array is not understood';
  if (node.type === 'ProcessSubstitution' && isWithinWord(node, text))
    return 'a process substitution within a word is not understood';
  return isUnfinished(node) ? 'a part of it is not understood' : undefined;
}

/** Bash reads `r>()m` as one word, the parser as three. */
function isWithinWord({ pos, end }: SyntaxNode, text: string): boolean {
  const before = text[pos - 1] ?? ' ';
  const after = text[end] ?? ' ';
  const isThere = /^[<>]\($/.test(text.slice(pos, pos + 2));
  return !isThere || !/[\s;&|(){}<>=]/.test(before) || !/[\s;&|)}<>]/.test(after);
}

/** Something is missing, or the parser has taken it for less than it is. */
function isUnfinished(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return node.script === undefined || !isClosed(node.text);
    case 'Word':
      return node.parts === undefined && holdsSyntax(node.text);
    case 'Assignment':
      // An array followed by something else.
      return node.value.type === 'Word' && node.value.text.startsWith('(');
    case 'Literal':
      return RUNS.test(withoutEscapes(node.text));
    case 'ParameterExpansion':
      // The parser splits `${x/…/…}` at slashes inside substitutions, and would miss what follows.
      return node.operation?.type === 'Replace' && /`|[$<>]\(|\$\{[\s|]/.test(node.text);
    case 'ArithmeticExpansion':
      return node.expression === undefined && /\w/.test(node.text);
    case 'ArithmeticCommand':
      return node.expression === undefined && node.body.trim() !== '';
    case 'HereDoc':
      return node.closing === undefined || node.delimiter === undefined;
    case 'Redirect':
    case 'HereString':
      return node.target === undefined;
    default:
      return node.type === 'Unknown';
  }
}

/**
 * The parser treats unexpected text as plain text, as in `a=($(x))y`, but bash does not. Plain text contains
 * no quotes and nothing that runs; patterns of `=~` may contain parentheses.
 */
function holdsSyntax(text: string): boolean {
  const bare = withoutEscapes(text);
  return RUNS.test(bare) || /["';&\n]/.test(bare);
}

const RUNS = /`|\$[({]|\$\w/;

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\[\s\S]/g, '');
}

function isClosed(text: string): boolean {
  const end = text.startsWith('`') ? '`' : text.startsWith('${') ? '}' : ')';
  return text.length > 1 && text.endsWith(end);
}

const MAX_OPEN = 64;

/**
 * A cheap check before parsing, because the parser reads each level of substitution once more. Closing
 * characters count even if quoted: too many of them only make the check more lenient.
 */
function nestsTooDeep(text: string): boolean {
  if ((text.match(/\$[({]/g)?.length ?? 0) <= MAX_OPEN) return false;
  let open = 0;
  for (const [character] of text.matchAll(/[(){}]/g)) {
    open = /[({]/.test(character) ? open + 1 : Math.max(0, open - 1);
    if (open > MAX_OPEN) return true;
  }
  return false;
}
