import { Minimatch, type MinimatchOptions } from 'minimatch';
import { expandBraces } from '../base/expand-braces.js';
import { ToolError } from '../errors/tool-error.js';
import { globFlawOf } from './glob-flaw.js';

/** A deny pattern, ready to be asked about one entry of a directory. */
export interface DenyPattern {
  /** As it was configured. */
  readonly source: string;
  /**
   * What the pattern is compared with: `name` is the entry's name alone (one component decides, wherever it
   * stands), `absolute` its path, `relative` its path from a root. Forward slashes.
   */
  readonly subject: 'name' | 'absolute' | 'relative';
  /** The name in lower case, where only one name can match. */
  readonly literalName: string | undefined;
  /** How every name that it can match begins and ends, in lower case. */
  readonly head: string;
  readonly tail: string;
  /** Quick and never wrongly false; `name` is in lower case. */
  mayMatch(name: string): boolean;
  matches(subject: string): boolean;
  /** Whether the pattern speaks of all below this directory, which may lie above a root. */
  coversBelow(directory: string): boolean;
}

// Case never saves a path from a pattern, nor does a leading dot.
const OPTIONS = {
  dot: true,
  nocase: true,
  nobrace: true,
  nonegate: true,
  nocomment: true,
  platform: 'linux',
} as const satisfies MinimatchOptions;

const BELOW = '/**';
const MAX_ALTERNATIVES = 1000;

/**
 * One for each alternative: `{/etc,keys}/x` speaks of two different places.
 * @throws ToolError `config_invalid` for what is no glob
 */
export function compilePattern(source: unknown, option: string): DenyPattern[] {
  if (typeof source !== 'string') throw invalid(option, source, 'it is not a string');
  const flaw = globFlawOf(source);
  if (flaw !== undefined) throw invalid(option, source, flaw);
  try {
    const alternatives = expandBraces(source, MAX_ALTERNATIVES);
    if (alternatives.length <= MAX_ALTERNATIVES) return alternatives.map((text) => compile(source, text));
  } catch (error) {
    throw invalid(option, source, error instanceof Error ? error.message : 'it cannot be compiled');
  }
  throw invalid(option, source, `it has more than ${MAX_ALTERNATIVES} alternatives`);
}

function compile(source: string, alternative: string): DenyPattern {
  const text = alternative
    .normalize('NFC')
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?<=[^/])\/+$/, '');
  const holdsBelow = text.endsWith(BELOW) && text.length > BELOW.length;
  // `x/**` means x too, which gives the same away when it is listed or replaced; what is below inherits from it.
  const entry = holdsBelow ? text.slice(0, -BELOW.length) : text;
  // A plain name holds at any depth, as in a .gitignore; `x/**` is meant from the root.
  const name = (holdsBelow ? /^(?:\*\*\/)+([^/]+)$/ : /^(?:\*\*\/)*([^/]+)$/).exec(entry)?.[1];
  const subject = name !== undefined ? 'name' : /^(?:\*\*)?\//.test(text) ? 'absolute' : 'relative';
  const matcher = matcherOf(name ?? entry);
  const whole = holdsBelow && subject !== 'relative' ? matcherOf(text) : undefined;
  const { head, tail, isPlain } = fixedEnds(name ?? entry);
  const mayMatch = (candidate: string): boolean => candidate.endsWith(tail) && candidate.startsWith(head);
  return {
    source,
    subject,
    literalName: isPlain && subject === 'name' ? head : undefined,
    head,
    tail,
    mayMatch,
    matches: (candidate) => matcher().match(candidate),
    coversBelow(directory) {
      if (whole === undefined) return false;
      const child = `${directory}/x`;
      // The end of what comes before `/**` has to be one of its parts.
      const mayCover = NOT_ASCII.test(child) || child.toLowerCase().split('/').some(mayMatch);
      return mayCover && whole().match(child);
    },
  };
}

/** Made when it is asked for the first time: most names concern no pattern. */
function matcherOf(pattern: string): () => Minimatch {
  let matcher: Minimatch | undefined;
  return () => {
    matcher ??= new Minimatch(pattern, OPTIONS);
    return matcher;
  };
}

interface FixedEnds {
  readonly head: string;
  readonly tail: string;
  readonly isPlain: boolean;
}

const NOT_ASCII = /[^\0-\x7f]/;
const MAGIC = /[*?[\]{}()!+@\\]/;

/** How every name that the pattern can match begins and ends, in lower case. */
function fixedEnds(pattern: string): FixedEnds {
  const last = pattern.slice(pattern.lastIndexOf('/') + 1);
  // What lower case does beyond ASCII is no business of a quick test.
  if (NOT_ASCII.test(last)) return { head: '', tail: '', isPlain: false };
  const lower = last.toLowerCase();
  const firstMagic = lower.search(MAGIC);
  if (firstMagic === -1) return { head: lower, tail: lower, isPlain: true };
  // A group that was opened before the last slash may begin otherwise.
  const head = pattern.includes('(') && pattern !== last ? '' : lower.slice(0, firstMagic);
  return { head, tail: /[^*?[\]{}()!+@\\]*$/.exec(lower)?.[0] ?? '', isPlain: false };
}

function invalid(option: string, pattern: unknown, problem: string): ToolError {
  return new ToolError(
    'config_invalid',
    `Cannot use the pattern ${JSON.stringify(pattern)} in ${option}: ${problem}. Write a complete glob.`,
    { details: { option, value: pattern } },
  );
}
