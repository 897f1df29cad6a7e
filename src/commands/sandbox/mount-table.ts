import { quoted } from '../../base/quote-word.js';
import { findTrustedProgram } from '../../platform/process/find-program.js';
import { FIRST_PLACE, type Mount } from './mount-holder.js';

/**
 * Bubblewrap reads all mounts again for each mount, so many mounts take long: 340 ms for 500. More than this number are
 * made beforehand from a table in a separate namespace: 500 take 28 ms.
 */
export const FEW_MOUNTS = 24;

/** Descriptors that a shell can close have one digit, and the table follows those of the roots. */
const MOST_ROOTS = 9 - FIRST_PLACE;

export interface MountTable {
  /** For the program to inherit, after the descriptors of the places. */
  readonly text: string;
  /** Arguments before bubblewrap's own command line. */
  readonly command: readonly string[];
}

/**
 * A program that makes mounts and then runs the following command; undefined if this machine does not support
 * it. Each root is compared with its descriptor.
 * @param roots their descriptors come first
 * @param mounts inside the roots
 */
export function mountTable(roots: readonly string[], mounts: readonly Mount[]): MountTable | undefined {
  const [unshare, mount] = ['unshare', 'mount'].map(findTrustedProgram);
  if (unshare === undefined || mount === undefined || roots.length > MOST_ROOTS) return undefined;
  const table = FIRST_PLACE + roots.length;
  const steps = roots.map(
    (root, index) => `\
cd -P ${quoted(root)} && [ . -ef /proc/self/fd/${FIRST_PLACE + index} ] || fail ${quoted(`${root} was replaced`)}
exec ${FIRST_PLACE + index}<&-`,
  );
  const script = `fail() { echo "cannot guard the files in the roots: $1" >&2; exit 125; }
${steps.join('\n')}
cd / || exit 125
${quoted(mount)} -a -n -T /proc/self/fd/${table} || fail 'something has changed in the meantime'
exec ${table}<&-
exec "$@"`;
  return {
    text: mounts.map(lineOf).join(''),
    command: [unshare, '-rm', '--propagation', 'private', '--', '/bin/sh', '-c', script, 'toolexec'],
  };
}

/** In the format of `/etc/fstab`. */
function lineOf(mount: Mount): string {
  if (mount.kind === 'empty') {
    const mode = mount.isClosed ? '000' : '755';
    return `tmpfs ${escaped(mount.target)} tmpfs ro,nosuid,nodev,size=4k,mode=${mode} 0 0\n`;
  }
  const { source, target, isReadOnly } = mount;
  // A writable mount only prevents moving the directory; bubblewrap sets its flags.
  const options = isReadOnly ? 'bind,ro,nosuid,nodev' : 'bind';
  return `${escaped(source)} ${escaped(target)} none ${options} 0 0\n`;
}

function escaped(path: string): string {
  return path.replace(/[\s\\#]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`);
}
