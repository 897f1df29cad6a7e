import { readFileSync, statfsSync } from 'node:fs';

/** File systems that use the machine's clock and support an overlay, by their type number. */
const LOCAL: ReadonlyMap<number, string> = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlay'],
  [0xf2f52010, 'f2fs'],
  [0x2fc12fc1, 'zfs'],
  [0xca451a4e, 'bcachefs'],
]);

/** The name of the local file system at a path; undefined for any other. */
export function localFileSystem(path: string): string | undefined {
  try {
    // Some systems sign-extend the number.
    return LOCAL.get(Number(BigInt.asUintN(32, BigInt(statfsSync(path).type))));
  } catch {
    return undefined;
  }
}

/** A mount point below a directory; undefined if there is none. */
export function mountBelow(directory: string): string | undefined {
  const start = directory.endsWith('/') ? directory : `${directory}/`;
  for (const line of readFileSync('/proc/self/mountinfo', 'latin1').split('\n')) {
    const place = line.split(' ', 5)[4];
    if (place === undefined || place === '') continue;
    const path = Buffer.from(
      place.replace(/\\([0-7]{3})/g, (_, octal: string) => byte(octal)),
      'latin1',
    );
    if (path.toString().startsWith(start)) return path.toString();
  }
  return undefined;
}

function byte(octal: string): string {
  return String.fromCharCode(Number.parseInt(octal, 8));
}
