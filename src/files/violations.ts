import { showGiven } from '../base/normalize-options.js';
import { ToolError } from '../errors/tool-error.js';

/** Why a path is refused (D095). */
type ViolationReason = 'PathOutsideSandbox' | 'DeniedPatternMatched';

/** The path leaves the roots, or its spelling could. */
export function outsideRoots(
  asked: string,
  why: string,
  { roots, resolved }: { readonly roots: readonly string[]; readonly resolved?: string },
): ToolError {
  const reason: ViolationReason = 'PathOutsideSandbox';
  return new ToolError(
    'sandbox_violation',
    `Cannot use ${quote(asked)}: ${why}. Use a path inside ${nameRoots(roots)}.`,
    { details: { reason, attempted: asked, ...(resolved === undefined ? {} : { resolved }) } },
  );
}

const NAMED_ROOTS = 5;

function nameRoots(roots: readonly string[]): string {
  const named = roots.slice(0, NAMED_ROOTS).map(quote).join(', ');
  const more = roots.length > NAMED_ROOTS ? `, or ${roots.length - NAMED_ROOTS} more` : '';
  return roots.length === 1 ? `the root ${named}` : `one of the roots ${named}${more}`;
}

/**
 * A deny pattern matches the path, a link on its way, or its target (A010: the message names the pattern).
 */
export function deniedByPattern(asked: string, pattern: string, matched: string): ToolError {
  const reason: ViolationReason = 'DeniedPatternMatched';
  return new ToolError(
    'sandbox_violation',
    `Cannot use ${quote(asked)}: ${quote(matched)} matches the denied pattern "${pattern}". Use another path.`,
    { details: { reason, attempted: asked, pattern, matched } },
  );
}

/** A regular file with several names, in a root that refuses them. */
export function severalNames(asked: string, path: string, names: number, root: string): ToolError {
  const reason: ViolationReason = 'PathOutsideSandbox';
  return new ToolError(
    'sandbox_violation',
    `Cannot use ${quote(asked)}: the file ${quote(path)} has ${names} names (hard links), some perhaps outside, and ` +
      `the root ${quote(root)} refuses such files. Make a copy of it, and use that.`,
    {
      hint: 'It is refused by "refuse" as sandbox.hardLinks, or as hardLinks of the root.',
      details: { reason, attempted: asked, rule: 'hardLinks', matched: path, root },
    },
  );
}

export function badPath(asked: unknown, why: string): ToolError {
  return new ToolError('bad_args', `Cannot use ${quote(asked)} as a path: ${why}.`, {
    details: { attempted: typeof asked === 'string' ? asked.slice(0, 300) : typeof asked },
  });
}

// Escaped and shortened: the path comes from the model, and the message goes to a terminal.
export function quote(value: unknown): string {
  const text = (typeof value === 'string' ? JSON.stringify(value) : showGiven(value)).replace(
    /[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return text.length > 300 ? `${text.slice(0, 297)}..."` : text;
}
