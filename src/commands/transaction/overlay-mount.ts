import { quoted } from '../../base/quote-word.js';
import { setBinaryMode, toBinary } from '../../platform/fs/binary-fs.js';
import { askProgram } from '../../platform/process/ask-program.js';
import { findTrustedProgram } from '../../platform/process/find-program.js';
import { canSyncFileSystems } from '../../platform/process/sync-file-systems.js';
import { removeLater } from '../../platform/process/transaction-directory.js';

/** The programs that mount overlays, by real path. */
export interface OverlayPrograms {
  readonly unshare: string;
  readonly mount: string;
  readonly mknod: string;
}

/** Why there are none, if they are missing. */
export function findOverlayPrograms(): OverlayPrograms | string {
  const [unshare, mount, mknod] = ['unshare', 'mount', 'mknod'].map(findTrustedProgram);
  if (unshare === undefined || mount === undefined) return 'unshare and mount (util-linux) are not installed';
  if (mknod === undefined) return 'mknod (coreutils) is not installed';
  if (!canSyncFileSystems()) return 'sync (coreutils) is not installed';
  return { unshare, mount, mknod };
}

/** One overlay. All paths are absolute; those other than the root's are in directories of ours. */
export interface OverlayMount {
  readonly root: string;
  readonly masks: string;
  readonly upper: string;
  readonly work: string;
  readonly merged: string;
  /**
   * It syncs nothing: neither when it is unmounted, nor when a program inside asks for it. The commit does
   * (`commitPlan`).
   */
  readonly isVolatile: boolean;
}

/** The attributes of an overlay, and those that a command has set under the same prefix. */
export const OVERLAY_ATTRIBUTES = 'user.overlay.';

/** @param isVolatile only Linux 5.10 and newer have the option. A work directory can be mounted once with it. */
export function overlayOptions(
  { masks, upper, work }: Pick<OverlayMount, 'masks' | 'upper' | 'work'>,
  lower: string,
  isVolatile: boolean,
): string {
  const layers = `lowerdir=${masks}:${lower},upperdir=${upper},workdir=${work},userxattr`;
  return isVolatile ? `${layers},volatile` : layers;
}

/** Characters that a mount option cannot contain. */
export const UNMOUNTABLE = /[,:\\\n]/;

/** Descriptors that a shell can close have one digit; the first is 5. */
export const MOST_ROOTS = 5;

/**
 * A program that mounts overlays in its own namespace and then runs the following command. Each root is
 * entered, compared with its descriptor (5, 6 and so on), and only then mounted, so an entry that has taken
 * its name meanwhile is not.
 */
export function overlayCommand(
  { unshare, mount }: OverlayPrograms,
  mounts: readonly OverlayMount[],
): readonly string[] {
  const steps = mounts.map((overlay, index) => {
    const { root, merged, isVolatile } = overlay;
    return `\
cd -P ${quoted(root)} && [ . -ef /proc/self/fd/${5 + index} ] || fail ${quoted(`${root} was replaced`)}
${quoted(mount)} -n -t overlay overlay -o ${quoted(overlayOptions(overlay, '.', isVolatile))} ${quoted(merged)} || fail ${quoted(`no overlay of ${root}`)}
exec ${5 + index}<&-`;
  });
  const script = `fail() { echo "cannot keep changes apart: $1" >&2; exit 125; }
${steps.join('\n')}
cd / || exit 125
exec "$@"`;
  return [unshare, '-rm', '--propagation', 'private', '--', '/bin/sh', '-c', script, 'toolexec'];
}

/**
 * The same layers after the command, read-only: a program that mounts them and runs the following command.
 */
export function layersView(
  { unshare, mount }: OverlayPrograms,
  mounts: readonly OverlayMount[],
): readonly string[] {
  const steps = mounts.map(
    ({ root, masks, upper, merged }) =>
      `cd -P ${quoted(root)} && ${quoted(mount)} -n -r -t overlay overlay -o ${quoted(`lowerdir=${upper}:${masks}:.,userxattr`)} ${quoted(merged)} || exit 125`,
  );
  const script = `${steps.join('\n')}\ncd / && exec "$@"`;
  return [unshare, '-rm', '--propagation', 'private', '--', '/bin/sh', '-c', script, 'toolexec'];
}

/**
 * Removes the directory of unused layers, or a part of it, in the background. The kernel
 * leaves directories in a work directory that only root can empty. Never rejects.
 */
export function removeLayersLater(mounts: readonly OverlayMount[], path: string): Promise<void> {
  for (const { work } of mounts) {
    try {
      for (const name of LEFT_BY_KERNEL) setBinaryMode(toBinary(`${work}/${name}`), 0o700);
    } catch {
      // It was never mounted, or mounted without the option that leaves the inner directories.
    }
  }
  return removeLater(path);
}

const LEFT_BY_KERNEL = ['work', 'work/incompat', 'work/incompat/volatile'];

/** A path below a root, as bytes. */
export interface LayerQuestion {
  /** The index of the mount. */
  readonly mount: number;
  readonly path: string;
}

/**
 * Checks which paths exist in a read-only view of the same layers.
 * @throws Error if there is no such view
 */
export async function askLayers(
  programs: OverlayPrograms,
  mounts: readonly OverlayMount[],
  questions: readonly LayerQuestion[],
): Promise<readonly boolean[]> {
  const answers: boolean[] = [];
  while (answers.length < questions.length) {
    const [first] = questions.slice(answers.length);
    if (first === undefined) break;
    const lines: string[] = [];
    let length = 0;
    for (const { mount, path } of questions.slice(answers.length)) {
      if (mount !== first.mount || length > MOST_CHARACTERS) break;
      const line = questionOf(path);
      lines.push(line);
      length += line.length;
    }
    answers.push(...(await askOne(programs, mounts[first.mount], lines)));
  }
  return answers;
}

/** One program argument has at most 128 KB; the longest path here is 16 KB. */
const MOST_CHARACTERS = 100_000;

async function askOne(
  { unshare, mount }: OverlayPrograms,
  layers: OverlayMount | undefined,
  lines: readonly string[],
): Promise<readonly boolean[]> {
  if (layers === undefined) throw new Error('there are no such layers');
  const { root, masks, upper, merged } = layers;
  const options = quoted(`lowerdir=${upper}:${masks}:.,userxattr`);
  const script = `cd -P ${quoted(root)} && ${quoted(mount)} -n -r -t overlay overlay -o ${options} ${quoted(merged)} && cd ${quoted(merged)} || exit 125
${lines.join('\n')}`;
  const answer = await askProgram(
    unshare,
    ['-rm', '--propagation', 'private', '--', '/bin/sh', '-c', script],
    {},
  );
  if (!answer.ok) throw new Error(answer.reason);
  if (answer.stdout.length !== lines.length) throw new Error('the layers give no answer');
  return [...answer.stdout].map((digit) => digit === '1');
}

/** A line feed at the end of a name would be lost without a letter after it. */
function questionOf(path: string): string {
  const bytes = `./${path}`.replace(
    /[^A-Za-z0-9./_-]/g,
    (byte) => `\\${byte.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `p=$(printf '${bytes}x') && p=\${p%x} && if [ -e "$p" ] || [ -L "$p" ]; then printf 1; else printf 0; fi`;
}
