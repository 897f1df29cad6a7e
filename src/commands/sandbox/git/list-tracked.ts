import { removeQuietly } from '../../../platform/fs/make-and-remove.js';
import { readKeptFile } from '../../../platform/process/kept-directory.js';
import { askGit, type GitView } from './ask-git.js';

/** The version of a path for commands to see. */
export interface Version {
  /** From the top of the working tree. */
  readonly path: string;
  /** Undefined: there is none, and the path is closed. */
  readonly blob: Blob | undefined;
}

interface Blob {
  readonly mode: string;
  readonly id: string;
}

export interface Tracked {
  readonly versions: readonly Version[];
  /** Lines for `git update-index --index-info`: the files that control the conversion of content. */
  readonly attributes: readonly string[];
}

/**
 * The committed versions of paths that the index names. Undefined if git does not answer.
 * @param isWanted for a path from the top
 */
export async function listTracked(
  view: GitView,
  isWanted: (path: string) => boolean,
): Promise<Tracked | undefined> {
  const place = await askGit(view, LIST);
  if (place === undefined) return undefined;
  try {
    const { entries, attributes } = readIndex(readKeptFile(place, 'index').toString(), isWanted);
    if (entries.size === 0) return { versions: [], attributes: [] };
    const isUnborn = readKeptFile(place, 'unborn').length > 0;
    const staged = readStaged(readKeptFile(place, 'staged'), entries);
    const isDoubtful = ({ path, blob }: Version): boolean =>
      !isUnborn && (staged.has(path) || EMPTY.includes(blob?.id ?? ''));
    const doubtful = [...entries.values()].filter(isDoubtful);
    const tips = readKeptFile(place, 'tips').toString().split('\n').filter(Boolean);
    const committed = await committedOf(view, doubtful, tips);
    const versions = [...entries.values()].flatMap((version): Version[] => {
      const { path, blob } = version;
      if (blob === undefined) return [version];
      const isCommitted = !isUnborn && (!doubtful.includes(version) || committed.has(path));
      const shown = isCommitted ? blob : staged.get(path);
      return shown === undefined ? [] : [{ path, blob: shown }];
    });
    return { versions, attributes };
  } finally {
    removeQuietly(place);
  }
}

/** The commits that are searched for a staged version: those of a merge, of stashes and of branches. */
export const TIPS = `
for name in HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD ORIG_HEAD refs/stash; do
  git rev-parse -q --verify "$name^{commit}"
done >"$OUT/tips"
git for-each-ref --count=300 --format='%(objectname)' refs/heads refs/remotes refs/tags >>"$OUT/tips"
`;

/**
 * The hash of an empty file, in either format. After `git add --intent-to-add`, the index names this hash for the path.
 */
const EMPTY = [
  'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
];

const LIST = `
git ls-files -s -z >"$OUT/index" || exit 1
if git rev-parse -q --verify 'HEAD^{commit}' >/dev/null; then
  git diff-index --cached --no-renames --ignore-submodules -z HEAD >"$OUT/staged" || exit 1
else
  echo yes >"$OUT/unborn"
fi
[ -s "$OUT/staged" ] || grep -qa '${EMPTY.join('\\|')}' "$OUT/index" || exit 0
${TIPS}
exit 0
`;

/** `blob` undefined: the path is in conflict, or no regular file. */
export function readIndex(
  listing: string,
  isWanted: (path: string) => boolean,
): { readonly entries: ReadonlyMap<string, Version>; readonly attributes: readonly string[] } {
  const entries = new Map<string, Version>();
  const attributes: string[] = [];
  for (const record of listing.split('\0')) {
    const tab = record.indexOf('\t');
    if (tab === -1) continue;
    const path = record.slice(tab + 1);
    const [mode = '', id = '', stage] = record.slice(0, tab).split(' ');
    const isPlain = stage === '0' && /^100(644|755)$/.test(mode);
    if (isPlain && /(^|\/)\.gitattributes$/.test(path)) attributes.push(`${mode} ${id} 0\t${path}`);
    if (!entries.has(path) && mode !== '160000' && isWanted(path)) {
      entries.set(path, { path, blob: isPlain ? { mode, id } : undefined });
    }
  }
  return { entries, attributes };
}

/** The paths that differ between the index and `HEAD`, with the version of `HEAD`. */
function readStaged(
  difference: Buffer,
  entries: ReadonlyMap<string, Version>,
): ReadonlyMap<string, Blob | undefined> {
  const staged = new Map<string, Blob | undefined>();
  const fields = difference.toString().split('\0');
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [meta = '', path = ''] = [fields[at], fields[at + 1]];
    const [mode = '', , id = ''] = meta.slice(1).split(' ');
    if (entries.has(path)) staged.set(path, /^100(644|755)$/.test(mode) ? { mode, id } : undefined);
  }
  return staged;
}

/** The paths whose version is in some commit. */
async function committedOf(
  view: GitView,
  versions: readonly Version[],
  tips: readonly string[],
): Promise<ReadonlySet<string>> {
  // The format of the question does not allow a name with a line feed.
  const asked = versions
    .filter(({ path }) => !path.includes('\n'))
    .flatMap(({ path }) => tips.map((tip) => ({ path, line: `${tip}:${path}` })));
  if (asked.length === 0) return new Set();
  const place = await askGit(view, CHECK, { asked: asked.map(({ line }) => `${line}\n`).join('') });
  if (place === undefined) return new Set();
  const answers = readKeptFile(place, 'found').toString().split('\n');
  removeQuietly(place);
  const byPath = new Map(versions.map(({ path, blob }) => [path, blob?.id]));
  return new Set(asked.filter(({ path }, at) => byPath.get(path) === answers[at]).map(({ path }) => path));
}

const CHECK = `
git cat-file --batch-check='%(objectname)' <"$OUT/asked" >"$OUT/found"
`;
