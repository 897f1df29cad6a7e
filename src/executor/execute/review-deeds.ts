import { basename, dirname, resolve } from 'node:path';
import type { DeedsReview, MadeChange } from '../../contract/changes.js';
import type { Effect } from '../../contract/effect.js';
import type { WriteConsent } from '../../contract/policy.js';
import { isInDependencies } from '../../files/dependency-folders.js';
import { LATER_CODE_PATTERNS, LaterCode } from '../../policy/later-code/later-code.js';
import { parsePathPattern } from '../../policy/matching/path-pattern.js';
import { PathSubject } from '../../policy/matching/path-subject.js';
import { type ReadyCall, shownEffects } from '../call/evaluated-call.js';

/**
 * Holds what the commands of a call have changed against what the call declared and was allowed. Expected is:
 *
 * 1. what the rules that allow its commands name (`writes`), and the paths that rules allow by name;
 * 2. where no rule says so: every path that is not run later by itself;
 * 3. where a person has agreed to the call: that, and every path that the question named.
 */
export function reviewDeeds(ready: ReadyCall, settings: DeedsSettings, ask: DeedsReview['ask']): DeedsReview {
  return {
    ask,
    expectsCommitted: ready.isAgreed && ready.declared.some(isGitSwitch),
    unexpected: (changes) => beyondConsent(changes, allowedBy(ready), settings),
  };
}

function allowedBy(ready: ReadyCall): AllowedDeeds {
  const { consent, isAgreed } = ready;
  return { consent, agreed: isAgreed ? shownEffects(ready) : undefined };
}

/** What a call may change. */
export interface AllowedDeeds {
  readonly consent?: WriteConsent | undefined;
  /** What was shown to the person who has agreed to it. Undefined: no person has. */
  readonly agreed: readonly Effect[] | undefined;
}

/** @returns those of the changes that go beyond what is allowed */
export async function beyondConsent(
  changes: readonly MadeChange[],
  allowed: AllowedDeeds,
  settings: DeedsSettings,
): Promise<readonly MadeChange[]> {
  const { isExpected } = new Expectation(allowed, settings);
  const files = changes.filter(({ kind, change }) => kind !== 'dir' || change !== 'create');
  const found: MadeChange[] = [];
  for (const change of files) if (!(await isExpected(change))) found.push(change);
  // A directory comes with what is expected in it; one that is empty is a change by itself.
  const wanted = new Set(files.filter((file) => !found.includes(file)).flatMap(({ path }) => above(path)));
  for (const change of changes)
    if (!files.includes(change) && !wanted.has(change.path) && !(await isExpected(change)))
      found.push(change);
  return found;
}

/** Where a command runs, and what runs later there. */
export interface DeedsSettings {
  readonly sandbox: { readonly roots: readonly string[]; readonly cwd: string };
  readonly policy: { readonly laterCode?: readonly string[] } | null | undefined;
}

class Expectation {
  readonly #roots: readonly string[];
  readonly #named: readonly string[];
  readonly #patterns: ReturnType<typeof parsePathPattern> | undefined;
  readonly #later: LaterCode;
  readonly #sparesDependencies: boolean;

  constructor({ consent, agreed }: AllowedDeeds, { sandbox, policy }: DeedsSettings) {
    this.#roots = sandbox.roots;
    this.#named = [...(consent?.named ?? []), ...(agreed ?? [])].flatMap((effect) =>
      pathOf(effect, sandbox.cwd),
    );
    this.#patterns =
      agreed !== undefined
        ? undefined
        : consent?.patterns?.flatMap((source) => parsePathPattern(source, false));
    const own = policy?.laterCode;
    this.#sparesDependencies = own === undefined || own === LATER_CODE_PATTERNS;
    this.#later = laterCodeOf(own);
  }

  readonly isExpected = async (made: MadeChange): Promise<boolean> => {
    const { path, kind } = made;
    if (this.#named.some((name) => path === name || path.startsWith(`${name}/`))) return true;
    if (this.#patterns !== undefined)
      return this.#patterns.some((pattern) => covers(pattern, made, this.#roots));
    if (this.#sparesDependencies && isInDependencies(this.#roots, dirname(path))) return true;
    if (kind === 'link' && this.#later.lies(path, this.#roots)) return false;
    if (kind === 'dir' || !this.#later.has(path, this.#roots)) return true;
    if (kind === 'link') return false;
    const { runsTheSame } = await import('../../policy/later-code/what-runs.js');
    return runsTheSame(basename(path), made.before(), made.after());
  };
}

/** A pattern for all below a directory is one for the directory. */
function covers(
  pattern: ReturnType<typeof parsePathPattern>[number],
  { path, kind }: MadeChange,
  roots: readonly string[],
): boolean {
  const matches = (at: string): boolean =>
    pattern.matches(new PathSubject({ written: at, canonical: at, outside: false, roots }));
  return matches(path) || (kind === 'dir' && matches(`${path}/x`));
}

function pathOf(effect: Effect, cwd: string): readonly string[] {
  if (effect.kind !== 'write' && effect.kind !== 'delete') return [];
  return /[*?[\]{}$`]/.test(effect.path) ? [] : [resolve(cwd, effect.path)];
}

function above(path: string): readonly string[] {
  const at = dirname(path);
  return at === path ? [] : [at, ...above(at)];
}

/** By the list of a policy. */
const known = new WeakMap<readonly string[], LaterCode>();

function laterCodeOf(patterns: readonly string[] = LATER_CODE_PATTERNS): LaterCode {
  const later = known.get(patterns) ?? new LaterCode(patterns);
  known.set(patterns, later);
  return later;
}

/** One command of git that puts committed versions in the working tree, and runs nothing that a person could not see. */
function isGitSwitch(effect: Effect): boolean {
  return effect.kind === 'run' && GIT_SWITCH.test(effect.command) && !RUNS_MORE.test(effect.command);
}

const GIT_SWITCH =
  /^\s*git(?:\s+-C\s+[\w./-]+)?\s+(?:checkout|switch|merge|rebase|pull|stash|reset|restore|cherry-pick|revert)(?:\s+[\w./:@^~{}=+-]+)*\s*$/;
const RUNS_MORE = /\s(?:-x|--exec)\b/;
