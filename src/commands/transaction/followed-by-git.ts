import { type BinaryPath, binaryEntry, binaryNames, toText } from '../../platform/fs/binary-fs.js';
import { removeQuietly } from '../../platform/fs/make-and-remove.js';
import { readKeptFile } from '../../platform/process/kept-directory.js';
import { ownIds } from '../../platform/runtime/environment.js';
import { askGit } from '../sandbox/git/ask-git.js';
import { readIndex, TIPS } from '../sandbox/git/list-tracked.js';
import type { LeftOut } from './found-changes.js';
import { layersView, type OverlayMount, type OverlayPrograms } from './overlay-mount.js';

export interface FollowedParts {
  /** Bubblewrap's path. */
  readonly bubblewrap: string;
  readonly programs: OverlayPrograms;
  readonly mounts: readonly OverlayMount[];
  /** For the path below a root: the host has no entry there, or a version from some commit. */
  readonly isReplaceable: (root: number, path: BinaryPath) => boolean;
}

/**
 * Selects, from the changes that deny patterns refuse, those that git itself made: checkout, switch, merge,
 * rebase, pull and similar commands replace the committed version with another committed one, or remove it.
 * The names from git are compared with the files, in a read-only view of the command's layers: the file is
 * the version of the index, and a commit has that version too; a removed file is neither in the index nor in
 * `HEAD`.
 * @returns the paths, as `keyOf` names them, including directories on the way that were refused as a whole
 */
export async function followedByGit(
  parts: FollowedParts,
  leftOut: readonly LeftOut[],
): Promise<ReadonlySet<string>> {
  const groups = leftOut
    .filter(({ byPattern }) => byPattern === true)
    .flatMap((left) => groupOf(parts, left));
  const byTop = new Map<string, Changed[]>();
  for (const change of groups.flatMap(({ files }) => files)) {
    const key = `${change.root}\0${change.top}`;
    byTop.set(key, [...(byTop.get(key) ?? []), change]);
  }
  const followed = new Set<Changed>();
  for (const changes of byTop.values()) {
    const [first] = changes;
    const isTreeGone = first !== undefined && isGoneTree(parts, first);
    for (const one of isTreeGone ? changes : await committedOf(parts, changes)) followed.add(one);
  }
  const paths = new Set<string>();
  for (const { files, directories } of groups) {
    if (files.length === 0 || !files.every((file) => followed.has(file))) continue;
    for (const { root, path } of [...files, ...directories]) paths.add(keyOf(root, path));
  }
  return paths;
}

export function keyOf(root: number, path: BinaryPath): string {
  return `${root}/${path}`;
}

interface Changed {
  readonly root: number;
  readonly path: BinaryPath;
  /** The top of its working tree, below the root. */
  readonly top: BinaryPath;
  readonly isGone: boolean;
  readonly isExecutable: boolean;
}

/** Entries that were refused together. */
interface Group {
  readonly files: readonly Changed[];
  readonly directories: readonly Pick<Changed, 'root' | 'path'>[];
}

const MOST_FILES = 2000;

/** Empty if one of its entries is not a file, or belongs to no repository. */
function groupOf(parts: FollowedParts, { root, path }: LeftOut): readonly Group[] {
  const { root: lower = '', upper = '' } = parts.mounts[root] ?? {};
  const isGone = !['file', 'dir', 'link', 'special'].includes(kindAt(`${upper}/${path}`) ?? '');
  const files: Changed[] = [];
  const directories: BinaryPath[] = [];
  const waiting = [path];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const here = `${isGone ? lower : upper}/${at}`;
    const entry = binaryEntry(here);
    if (entry?.kind === 'dir') {
      directories.push(at);
      waiting.push(...binaryNames(here).map((name) => `${at}/${name}`));
      continue;
    }
    const top = topOf(parts, root, at);
    if (entry?.kind !== 'file' || top === undefined || files.length === MOST_FILES) return [];
    if (!parts.isReplaceable(root, at)) return [];
    files.push({ root, path: at, top, isGone, isExecutable: (entry.mode & 0o100) !== 0 });
  }
  return [{ files, directories: directories.map((directory) => ({ root, path: directory })) }];
}

function topOf({ mounts }: FollowedParts, root: number, path: BinaryPath): BinaryPath | undefined {
  const { root: lower = '', upper = '' } = mounts[root] ?? {};
  const names = path.split('/');
  while (names.pop() !== undefined) {
    const git = [...names, '.git'].join('/');
    const kind = kindAt(`${upper}/${git}`) ?? kindAt(`${lower}/${git}`);
    if (kind === 'dir' || kind === 'file') return names.join('/');
  }
  return undefined;
}

/** The command removed a whole working tree of `git worktree`. Its repository is elsewhere, and stays. */
function isGoneTree({ mounts }: FollowedParts, { root, top }: Changed): boolean {
  const { root: lower = '', upper = '' } = mounts[root] ?? {};
  const names = [...top.split('/'), '.git'];
  const ways = names.map((_, at) => names.slice(0, at + 1).join('/'));
  return (
    top !== '' &&
    kindAt(`${lower}/${top}/.git`) === 'file' &&
    ways.some((way) => kindAt(`${upper}/${way}`) === 'whiteout')
  );
}

function kindAt(path: BinaryPath): string | undefined {
  return binaryEntry(path)?.kind;
}

/** The paths of a working tree whose content is committed. */
async function committedOf(
  { bubblewrap, programs, mounts }: FollowedParts,
  changes: readonly Changed[],
): Promise<readonly Changed[]> {
  const [{ root, top } = { root: 0, top: '' }] = changes;
  const relative = ({ path }: Changed): BinaryPath => (top === '' ? path : path.slice(top.length + 1));
  const asked = changes.filter(({ path }) => !path.includes('\n'));
  const written = asked.filter(({ isGone }) => !isGone);
  const { uid, gid } = ownIds();
  const place = await askGit(
    {
      bubblewrap,
      before: layersView(programs, mounts),
      mounts: [
        ...['--uid', `${uid}`, '--gid', `${gid}`],
        ...mounts.flatMap(({ root: at, merged }) => ['--ro-bind', merged, at]),
      ],
      top: [mounts[root]?.root ?? '', toText(top)].filter(Boolean).join('/'),
    },
    FOLLOW,
    { paths: linesOf(asked.map(relative)), written: linesOf(written.map(relative)) },
  );
  if (place === undefined) return [];
  const read = (name: string): string => readKeptFile(place, name).toString('latin1');
  const { entries } = readIndex(read('index'), () => true);
  const ids = new Map(
    read('ids')
      .split('\n')
      .map((id, at) => [written[at], id]),
  );
  const [head, found] = [read('head').split('\n'), read('found').split('\n')];
  removeQuietly(place);
  return asked.filter((change, at) => {
    const entry = entries.get(relative(change));
    if (change.isGone) return entry === undefined && head[at] === '-';
    const { id, mode } = entry?.blob ?? {};
    const isSame = id === ids.get(change) && (mode === '100755') === change.isExecutable;
    return isSame && found.some((version, line) => line % asked.length === at && version === id);
  });
}

function linesOf(paths: readonly BinaryPath[]): Buffer {
  return Buffer.from(paths.map((path) => `${path}\n`).join(''), 'latin1');
}

/**
 * `head` gets a line for each path: the version, or `-`. `found` gets the same for each commit that may have
 * it.
 */
const FOLLOW = `
tr '\\n' '\\0' <"$OUT/paths" | xargs -0 git --literal-pathspecs ls-files -s -z -- >"$OUT/index" || exit 1
git hash-object --stdin-paths <"$OUT/written" >"$OUT/ids" || exit 1
versions() {
  sed "s|^|$1:|" "$OUT/paths" | git cat-file --batch-check='%(objectname)' | sed 's/.* missing$/-/'
}
if git rev-parse -q --verify 'HEAD^{commit}' >/dev/null; then versions HEAD; else sed 's/.*/-/' "$OUT/paths"; fi >"$OUT/head"
${TIPS}
while read -r tip; do versions "$tip"; done <"$OUT/tips" >"$OUT/found"
exit 0
`;
