import { hash } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import { forLast } from '../../base/for-last.js';
import {
  nameInBareRepository,
  runsNothingInGit,
  wakesRepository,
} from '../../commands/sandbox/git/bare-repository.js';
import type { MadeChange, Unexpected } from '../../contract/changes.js';
import type { Effect } from '../../contract/effect.js';
import type { Sandbox } from '../../contract/files.js';
import type { WriteConsent } from '../../contract/policy.js';
import { isInDependencies, isRemade } from '../../files/dependency-folders.js';
import { timeSlices } from '../../platform/clock/time-slices.js';
import { entryStat, targetOf } from '../../platform/fs/fs-entry.js';
import { LATER_CODE_PATTERNS, LaterCode } from '../../policy/later-code/later-code.js';
import { runsTheSame } from '../../policy/later-code/what-runs.js';
import { parsePathPattern } from '../../policy/matching/path-pattern.js';
import { PathSubject } from '../../policy/matching/path-subject.js';
import { laterNames, leadsIntoDependencies, type NamesOf } from '../plan/later-names.js';

/** The changes that a call may make. */
export interface AllowedDeeds {
  readonly consent?: WriteConsent | undefined;
  /** The effects that a person saw and agreed to. Undefined: no person has agreed. */
  readonly agreed: readonly Effect[] | undefined;
  /** The call ran without a question, so the person is asked about deletions. If absent: deletions need no question. */
  readonly asksBeyond?: boolean;
}

/** Where a command runs, and which paths hold code that runs later. */
export interface DeedsSettings {
  readonly sandbox: Pick<Sandbox, 'roots' | 'cwd' | 'leading' | 'readAhead'>;
  readonly policy: { readonly laterCode?: readonly string[] } | null | undefined;
}

/**
 * Finds the changes that go beyond the declared and allowed ones, with a reason for each. These changes are
 * expected:
 *
 * 1. paths that the rules allowing the commands name in `writes`, and paths that rules allow by name;
 * 2. if no rule names paths: every path that does not hold code that runs later by itself;
 * 3. if a person has agreed to the call: the paths under 2, and every path that the question named. Consent
 *   to a directory does not cover code in it that runs later.
 *
 * If no question was asked before the call (`asksBeyond`), a deletion is unexpected too, unless the file can
 * be made again or was only moved.
 */
export async function beyondConsent(
  changes: readonly MadeChange[],
  allowed: AllowedDeeds,
  settings: DeedsSettings,
): Promise<ReadonlyMap<MadeChange, Unexpected>> {
  const { sandbox, policy } = settings;
  if (changes.length === 0) return new Map();
  const read = await sandbox.readAhead?.();
  const leading = sandbox.leading?.(undefined, read) ?? [];
  const otherNames = laterNames(leading, sandbox.roots, laterCodeOf(policy?.laterCode));
  const expectation = new Expectation(changes, allowed, settings, otherNames);
  const found = new Map<MadeChange, Unexpected>();
  const slices = timeSlices();
  for (const change of changes) {
    if (slices.isOver()) await slices.next();
    const why = isNewDirectory(change) ? expectation.whyNotNew(change) : expectation.whyNot(change);
    if (why !== undefined) found.set(change, why);
  }
  if (!expectation.namesPaths) return found;
  // A new directory is expected if it contains an expected change. An empty new directory is a change that
  // needs its own check.
  const wanted = new Set(
    changes.filter((one) => !isNewDirectory(one) && !found.has(one)).flatMap(({ path }) => above(path)),
  );
  for (const change of changes.filter((one) => isNewDirectory(one) && !wanted.has(one.path))) {
    const why = expectation.whyNot(change);
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
  readonly #otherNames: NamesOf;
  /** Whether a directory's files are not looked at. */
  readonly #isSpared: (directory: string) => boolean;
  readonly #sparesDependencies: boolean;
  readonly #changes: readonly MadeChange[];
  #made: ReadonlyMap<string, boolean> | undefined;
  /** Hashes of the contents of new files, to recognise moves. Undefined: deletions are expected. */
  readonly #come: ReadonlySet<string> | undefined;

  constructor(
    changes: readonly MadeChange[],
    { consent, agreed, asksBeyond }: AllowedDeeds,
    { sandbox, policy }: DeedsSettings,
    otherNames: NamesOf,
  ) {
    this.#roots = sandbox.roots;
    this.#otherNames = otherNames;
    this.#changes = changes;
    this.#come =
      asksBeyond === true ? contentsOf(changes.filter(isCreated).map((made) => made.after())) : undefined;
    this.#named = [...(consent?.named ?? []), ...(agreed ?? [])].flatMap((effect) =>
      pathOf(effect, sandbox.cwd),
    );
    this.#patterns =
      agreed === undefined
        ? consent?.patterns?.flatMap((source) => parsePathPattern(source, false))
        : undefined;
    const own = policy?.laterCode;
    const sparesDependencies = own === undefined || own === LATER_CODE_PATTERNS;
    this.#sparesDependencies = sparesDependencies;
    this.#isSpared = forLast((at) => sparesDependencies && isInDependencies(sandbox.roots, at));
    this.#later = laterCodeOf(own);
  }

  /** True if only listed paths are expected. */
  get namesPaths(): boolean {
    return this.#patterns !== undefined;
  }

  /** The reason why a change is unexpected; undefined if it is expected. */
  whyNot(made: MadeChange): Unexpected | undefined {
    const { path } = made;
    if (this.#named.some((name) => this.#isNamedBy(name, path))) return undefined;
    if (this.#patterns !== undefined)
      return this.#patterns.some((pattern) => covers(pattern, made, this.#roots)) ? undefined : 'not_allowed';
    if (this.#runsLater(made)) return 'runs_later';
    return this.#come !== undefined && made.change === 'delete' && this.#isLost(made, this.#come)
      ? 'removed'
      : undefined;
  }

  /** The same for a new directory, before its content is known to be expected. */
  whyNotNew({ path }: MadeChange): Unexpected | undefined {
    return this.#patterns === undefined && wakesRepository(path, this.#isThere) ? 'runs_later' : undefined;
  }

  #isNamedBy(name: string, path: string): boolean {
    if (path === name) return true;
    if (!path.startsWith(`${name}/`)) return false;
    return this.#patterns !== undefined || this.#later.has(name, this.#roots);
  }

  #runsLater(made: MadeChange): boolean {
    const { path, kind } = made;
    if (made.change === 'create' && wakesRepository(path, this.#isThere)) return true;
    const names = this.#otherNames(path, kind === 'link');
    if (!this.#isSpared(dirname(path))) names.unshift(path);
    if (kind === 'link') {
      const text = made.linkText();
      const isNewWay = text !== undefined && leadsIntoDependencies(path, text, this.#roots);
      if (this.#sparesDependencies && isNewWay && !this.#isFile(resolve(dirname(path), text))) return true;
      return names.some((name) => this.#later.lies(name, this.#roots));
    }
    if (kind === 'dir') return false;
    const inBare = made.change === 'delete' ? undefined : nameInBareRepository(path, this.#isThere);
    if (inBare !== undefined) names.push(inBare);
    return names.some(
      (name) =>
        this.#later.has(name, this.#roots) &&
        !made.isHarmless &&
        !runsTheSame(basename(name), made.before(), made.after()) &&
        !runsNothingInGit(name, made.after()),
    );
  }

  readonly #isThere = (path: string): boolean => this.#madeFiles().has(path) || entryStat(path) !== undefined;

  #isFile(path: string): boolean {
    return (this.#madeFiles().get(path) ?? targetOf(path)?.isFile()) === true;
  }

  /** The paths that exist afterwards because of the changes, and whether each is a file. */
  #madeFiles(): ReadonlyMap<string, boolean> {
    this.#made ??= new Map(
      this.#changes.flatMap(({ path, change, kind }) =>
        change === 'delete' ? [] : [[path, kind === 'file'] as const],
      ),
    );
    return this.#made;
  }

  #isLost(made: MadeChange, come: ReadonlySet<string>): boolean {
    if (made.kind !== 'file' || isRemade(this.#roots, made.path)) return false;
    const bytes = made.before();
    return bytes === undefined || !come.has(hash('sha256', bytes));
  }
}

/** The SHA-256 hashes of file contents. */
function contentsOf(contents: readonly (Uint8Array | undefined)[]): ReadonlySet<string> {
  return new Set(contents.flatMap((bytes) => (bytes === undefined ? [] : [hash('sha256', bytes)])));
}

function isCreated({ change, kind }: MadeChange): boolean {
  return change === 'create' && kind === 'file';
}

/**
 * Whether a pattern matches a path. A pattern for everything below a directory also matches the directory.
 */
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

/** Compiled patterns for each list of a policy. */
const known = new WeakMap<readonly string[], LaterCode>();

function laterCodeOf(patterns: readonly string[] = LATER_CODE_PATTERNS): LaterCode {
  const later = known.get(patterns) ?? new LaterCode(patterns);
  known.set(patterns, later);
  return later;
}
