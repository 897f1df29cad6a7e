import {
  type BinaryPath,
  binaryEntry,
  readableNames,
  readBinaryFile,
  toBinary,
} from '../../platform/fs/binary-fs.js';
import type { DonePlan, PlannedChange } from './transaction-plan.js';
import { isAsBefore, keyOf, type UndoneChanges } from './undone-changes.js';

/**
 * Other programs may refer to the objects that a command added to a repository, in a commit, a branch or an index. If
 * one of them has since changed something there that the undo does not replace, the objects stay, and git removes them
 * when they are no longer needed. A repository that the command itself created then stays as a whole.
 * @returns the changes that are not undone
 */
export function findNeededObjects(
  undone: UndoneChanges,
  done: DonePlan,
  directory: BinaryPath,
): readonly PlannedChange[] {
  const goingBy = new Map<string, PlannedChange[]>();
  const gitOf = repositoriesOf(undone.gone, done);
  for (const change of undone.gone) {
    const git = gitOf(change);
    if (git === undefined || change.kind === 'dir') continue;
    const key = keyOf({ root: change.root, path: git });
    goingBy.set(key, [...(goingBy.get(key) ?? []), change]);
  }
  return [...goingBy].flatMap(([key, going]) => {
    const [first] = going;
    const root = first?.root ?? 0;
    const git = (first && gitOf(first)) ?? '';
    const isMade = done.changes.some(
      (one) => one.change === 'create' && one.kind === 'dir' && keyOf(one) === key,
    );
    const needed = isMade ? going : going.filter((one) => one.path.slice(git.length).includes('/objects/'));
    return needed.length > 0 && isChangedSince({ undone, done, directory, root, git }) ? needed : [];
  });
}

/** The git directory that contains a change, if it is one. A bare repository is known by its objects and its `HEAD`. */
function repositoriesOf(
  gone: readonly PlannedChange[],
  { roots }: DonePlan,
): (change: PlannedChange) => BinaryPath | undefined {
  const bare = new Map<number, Set<BinaryPath>>();
  for (const { root, path } of gone) {
    const git = REPOSITORY.test(path) ? undefined : OBJECT.exec(path)?.[1];
    if (git === undefined || bare.get(root)?.has(git) === true) continue;
    if (binaryEntry(`${toBinary(roots[root] ?? '')}/${git}/HEAD`)?.kind !== 'file') continue;
    bare.set(root, (bare.get(root) ?? new Set()).add(git));
  }
  return ({ root, path }) =>
    REPOSITORY.exec(path)?.[1] ?? [...(bare.get(root) ?? [])].find((git) => path.startsWith(`${git}/`));
}

const REPOSITORY = /^((?:.*\/)?\.git)\//s;
const OBJECT = /^(.+?)\/objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38,62}|pack\/pack-[0-9a-f]{40,64}\.[a-z]+)$/s;

interface Asked {
  readonly undone: UndoneChanges;
  readonly done: DonePlan;
  readonly directory: BinaryPath;
  readonly root: number;
  readonly git: BinaryPath;
}

function isChangedSince({ undone, done, directory, root, git }: Asked): boolean {
  const isInside = (change: PlannedChange): boolean =>
    change.root === root && change.path.startsWith(`${git}/`);
  if (undone.outcomes.some(({ change, reason }) => isInside(change) && !isAsBefore(reason))) return true;
  const replaced = new Set([...undone.gone, ...undone.come].filter(isInside).map(({ path }) => path));
  const top = `${toBinary(done.roots[root] ?? '')}/`;
  // An undo has no marker of its beginning.
  const since = (binaryEntry(`${directory}/begun`) ?? binaryEntry(`${directory}/done.json`))?.mtimeNs ?? 0n;
  return tipsOf(top, git).some(
    (path) => !replaced.has(path) && (binaryEntry(`${top}${path}`)?.ctimeNs ?? 0n) > since,
  );
}

/** The files that lead to objects: references, indexes, and each `HEAD` that names no branch. */
function tipsOf(top: BinaryPath, git: BinaryPath): readonly BinaryPath[] {
  const inner = [`${git}/worktrees`, `${git}/modules`].flatMap((at) =>
    readableNames(`${top}${at}`).map((name) => `${at}/${name}`),
  );
  const tips: BinaryPath[] = [];
  const waiting: BinaryPath[] = [];
  for (const at of [git, ...inner]) {
    tips.push(`${at}/index`, `${at}/packed-refs`, ...(isDetached(`${top}${at}/HEAD`) ? [`${at}/HEAD`] : []));
    waiting.push(`${at}/refs`, `${at}/reftable`);
  }
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    for (const name of readableNames(`${top}${path}`)) {
      const at = `${path}/${name}`;
      if (binaryEntry(`${top}${at}`)?.kind === 'dir') waiting.push(at);
      else tips.push(at);
    }
  }
  return tips;
}

function isDetached(head: BinaryPath): boolean {
  return binaryEntry(head)?.kind === 'file' && !readBinaryFile(head).toString('latin1').startsWith('ref:');
}
