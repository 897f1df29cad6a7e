import { hash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import type { MadeChange, Unexpected } from '../../contract/changes.js';
import type { Effect } from '../../contract/effect.js';
import type { WriteConsent } from '../../contract/policy.js';
import { isInDependencies, isRemade } from '../../files/dependency-folders.js';
import { LATER_CODE_PATTERNS, LaterCode } from '../../policy/later-code/later-code.js';
import { parsePathPattern } from '../../policy/matching/path-pattern.js';
import { PathSubject } from '../../policy/matching/path-subject.js';

/** What a call may change. */
export interface AllowedDeeds {
  readonly consent?: WriteConsent | undefined;
  /** What was shown to the person who has agreed to it. Undefined: no person has. */
  readonly agreed: readonly Effect[] | undefined;
  /** Nothing was asked before: what it removed is asked about. Left out: it is not. */
  readonly asksBeyond?: boolean;
}

/** Where a command runs, and what runs later there. */
export interface DeedsSettings {
  readonly sandbox: { readonly roots: readonly string[]; readonly cwd: string };
  readonly policy: { readonly laterCode?: readonly string[] } | null | undefined;
}

/**
 * The changes that go beyond what was declared and allowed, and why. Expected is:
 *
 * 1. what the rules that allow the commands name (`writes`), and the paths that rules allow by name;
 * 2. where no rule says so: every path that is not run later by itself;
 * 3. where a person has agreed to the call: that, and every path that the question named. A directory that was named is
 *    no consent to what runs later in it.
 *
 * Where nothing was asked before the call (`asksBeyond`), what it removed is not expected either, unless that can be made
 * again or was only moved.
 */
export async function beyondConsent(
  changes: readonly MadeChange[],
  allowed: AllowedDeeds,
  settings: DeedsSettings,
): Promise<ReadonlyMap<MadeChange, Unexpected>> {
  const expectation = new Expectation(changes, allowed, settings);
  const found = new Map<MadeChange, Unexpected>();
  for (const change of changes) {
    const why = isNewDirectory(change) ? undefined : await expectation.whyNot(change);
    if (why !== undefined) found.set(change, why);
  }
  if (!expectation.namesPaths) return found;
  // A directory comes with what is expected in it; one that is empty is a change by itself.
  const wanted = new Set(
    changes.filter((one) => !isNewDirectory(one) && !found.has(one)).flatMap(({ path }) => above(path)),
  );
  for (const change of changes.filter((one) => isNewDirectory(one) && !wanted.has(one.path))) {
    const why = await expectation.whyNot(change);
    if (why !== undefined) found.set(change, why);
  }
  return found;
}

function isNewDirectory({ kind, change }: MadeChange): boolean {
  return kind === 'dir' && change === 'create';
}

class Expectation {
  readonly #roots: readonly string[];
  readonly #named: readonly string[];
  readonly #patterns: ReturnType<typeof parsePathPattern> | undefined;
  readonly #later: LaterCode;
  readonly #sparesDependencies: boolean;
  /** Contents that came; undefined: removals are expected. */
  readonly #come: ReadonlySet<string> | undefined;

  constructor(
    changes: readonly MadeChange[],
    { consent, agreed, asksBeyond }: AllowedDeeds,
    { sandbox, policy }: DeedsSettings,
  ) {
    this.#roots = sandbox.roots;
    this.#come =
      asksBeyond === true ? contentsOf(changes.filter(isCreated).map(({ after }) => after())) : undefined;
    this.#named = [...(consent?.named ?? []), ...(agreed ?? [])].flatMap((effect) =>
      pathOf(effect, sandbox.cwd),
    );
    this.#patterns =
      agreed === undefined
        ? consent?.patterns?.flatMap((source) => parsePathPattern(source, false))
        : undefined;
    const own = policy?.laterCode;
    this.#sparesDependencies = own === undefined || own === LATER_CODE_PATTERNS;
    this.#later = laterCodeOf(own);
  }

  /** Only some paths are expected. */
  get namesPaths(): boolean {
    return this.#patterns !== undefined;
  }

  /** Undefined: it is expected. */
  async whyNot(made: MadeChange): Promise<Unexpected | undefined> {
    const { path } = made;
    if (this.#named.some((name) => this.#isNamedBy(name, path))) return undefined;
    if (this.#patterns !== undefined)
      return this.#patterns.some((pattern) => covers(pattern, made, this.#roots)) ? undefined : 'not_allowed';
    if (await this.#runsLater(made)) return 'runs_later';
    return this.#come !== undefined && made.change === 'delete' && this.#isLost(made, this.#come)
      ? 'removed'
      : undefined;
  }

  #isNamedBy(name: string, path: string): boolean {
    if (path === name) return true;
    if (!path.startsWith(`${name}/`)) return false;
    return this.#patterns !== undefined || this.#later.has(name, this.#roots);
  }

  async #runsLater(made: MadeChange): Promise<boolean> {
    const { path, kind, isHarmless } = made;
    if (this.#sparesDependencies && isInDependencies(this.#roots, dirname(path))) return false;
    if (kind === 'link') return this.#later.lies(path, this.#roots);
    if (kind === 'dir' || isHarmless || !this.#later.has(path, this.#roots)) return false;
    const { runsTheSame } = await import('../../policy/later-code/what-runs.js');
    return !runsTheSame(basename(path), made.before(), made.after());
  }

  #isLost({ path, kind, before }: MadeChange, come: ReadonlySet<string>): boolean {
    if (kind !== 'file' || isRemade(this.#roots, path)) return false;
    const bytes = before();
    return bytes === undefined || !come.has(hash('sha256', bytes));
  }
}

/** What files hold, by SHA-256. */
function contentsOf(contents: readonly (Uint8Array | undefined)[]): ReadonlySet<string> {
  return new Set(contents.flatMap((bytes) => (bytes === undefined ? [] : [hash('sha256', bytes)])));
}

function isCreated({ change, kind }: MadeChange): boolean {
  return change === 'create' && kind === 'file';
}

/** A pattern for all below a directory is one for the directory. */
function covers(
  pattern: ReturnType<typeof parsePathPattern>[number],
  { path, kind }: MadeChange,
  roots: readonly string[],
): boolean {
  const matches = (at: string): boolean =>
    pattern.matches(new PathSubject({ written: at, canonical: () => at, outside: false, roots }));
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
