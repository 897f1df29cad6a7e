import { forEachChild, type Script, type SyntaxNode } from './parse-shell.js';

/** Something that another shell than bash reads, or does, in another way; a cheap look that may say yes too often. */
export function mayReadOtherwise(text: string): boolean {
  return OTHERWISE.test(text);
}

const OTHERWISE =
  /\[\[|\(\(|\$\[|\$["']|\{[^\s{}]*(?:,|\.\.)|\{\w+\}[<>]|\+=|\b(?:declare|typeset|let|source|pushd|popd|mapfile|readarray|shopt|time|function|select|coproc|enable|complete)\b|\bprintf\s+["']?-v/;

/**
 * The text, written so that bash reads it as a POSIX shell (dash) would: `[[` and `select` are names of programs there,
 * `((` opens two subshells, `$'…'` is a dollar sign and a string in which `\` is nothing special, `&>` ends a command.
 * Braces that stand for several words stand for themselves there; that is left to whoever expands them.
 * Undefined: it cannot be told.
 */
export function writeForSh(text: string, script: Script): string | undefined {
  const edits: Edit[] = [];
  collect(script, edits);
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

function collect(node: SyntaxNode, edits: Edit[]): void {
  const edit = editOf(node);
  if (edit !== undefined) edits.push(edit);
  forEachChild(node, (child) => collect(child, edits));
}

function editOf(node: SyntaxNode): Edit | undefined {
  const { pos: at } = node;
  switch (node.type) {
    case 'TestCommand':
      return { at, from: '[[', to: '\\[[' };
    case 'ArithmeticCommand':
      return { at, from: '((', to: '( (' };
    case 'ArithmeticExpansion':
      return node.text.startsWith('$[') ? { at, from: '$[', to: '\\$[' } : undefined;
    case 'AnsiCQuoted':
      return { at, from: "$'", to: "\\$'" };
    case 'HereDocDelimiter':
      return /^\$["']/.test(node.text) ? { at, from: '$', to: '\\$' } : undefined;
    case 'LocaleString':
      return { at, from: '$"', to: '\\$"' };
    case 'FileDescriptorVariable':
      return { at, from: '{', to: '\\{' };
    case 'Time':
      return { at, from: 'time', to: '\\time' };
    case 'Select':
      return { at, from: 'select', to: '\\select' };
    case 'Coproc':
      return { at, from: 'coproc', to: '\\coproc' };
    case 'Redirect':
      return node.operator.startsWith('&>') ? { at, from: '&>', to: '& >' } : undefined;
    default:
      return undefined;
  }
}
