import { forEachNode, type Script, type SyntaxNode } from './parse-shell.js';

/** Something that another shell than bash reads, or does, in another way; a cheap look that may say yes too often. */
export function mayReadOtherwise(text: string): boolean {
  return OTHERWISE.test(text);
}

const OTHERWISE =
  /\[\[|\(\(|\$\[|\$["']|\{[^\s{}]*(?:,|\.\.)|\{\w+\}[<>]|\+=|\b(?:declare|typeset|let|source|pushd|popd|mapfile|readarray|shopt|time|function|select|coproc|enable|complete)\b|\bprintf\s+["']?-v/;

/**
 * The text, written so that bash reads it as a POSIX shell (dash) would: `[[` and `select` are names of programs there,
 * `((` opens two subshells, `$'…'` is a dollar sign and a string in which `\` is nothing special, `&>` ends a command.
 * Braces that stand for several words stand for themselves there; that is left to the expansion of words.
 * Undefined: it cannot be told.
 */
export function writeForSh(text: string, script: Script): string | undefined {
  const edits: Edit[] = [];
  forEachNode(script, (node) => {
    const [from, to] = editOf(node) ?? [];
    if (from !== undefined && to !== undefined) edits.push({ at: node.pos, from, to });
  });
  let written = '';
  let end = text.length;
  for (const { at, from, to } of edits.toSorted((a, b) => b.at - a.at)) {
    // Positions within backquotes and the like may be those of another text.
    if (!text.startsWith(from, at) || at + from.length > end) return undefined;
    written = to + text.slice(at + from.length, end) + written;
    end = at;
  }
  return text.slice(0, end) + written;
}

interface Edit {
  readonly at: number;
  readonly from: string;
  readonly to: string;
}

const EDITS: Readonly<Partial<Record<SyntaxNode['type'], readonly [from: string, to: string]>>> = {
  TestCommand: ['[[', '\\[['],
  ArithmeticCommand: ['((', '( ('],
  AnsiCQuoted: ["$'", "\\$'"],
  LocaleString: ['$"', '\\$"'],
  FileDescriptorVariable: ['{', '\\{'],
  Time: ['time', '\\time'],
  Select: ['select', '\\select'],
  Coproc: ['coproc', '\\coproc'],
};

function editOf(node: SyntaxNode): readonly [from: string, to: string] | undefined {
  if (node.type === 'ArithmeticExpansion') return node.text.startsWith('$[') ? ['$[', '\\$['] : undefined;
  if (node.type === 'HereDocDelimiter') return /^\$["']/.test(node.text) ? ['$', '\\$'] : undefined;
  if (node.type === 'Redirect') return node.operator.startsWith('&>') ? ['&>', '& >'] : undefined;
  return EDITS[node.type];
}
