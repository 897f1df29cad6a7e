import { join } from 'node:path';
import { quoted } from '../../base/quote-word.js';
import { binaryEntry, toBinary } from '../../platform/fs/binary-fs.js';
import { entryStat, errnoOf, isOwnedByUs, realPath } from '../../platform/fs/fs-entry.js';
import { localFileSystem, mountBelow } from '../../platform/fs/local-file-system.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { makeScratchDirectory } from '../../platform/fs/scratch.js';
import { askProgram } from '../../platform/process/ask-program.js';
import {
  makeOwnDirectory,
  privateDirectory,
  removeLeftTrash,
} from '../../platform/process/transaction-directory.js';
import { systemName } from '../../platform/runtime/environment.js';
import { isWithin } from '../sandbox/mount-holder.js';
import { hasPassed, notePassed } from '../sandbox/remembered-trials.js';
import {
  findOverlayPrograms,
  MOST_ROOTS,
  type OverlayPrograms,
  overlayOptions,
  UNMOUNTABLE,
} from './overlay-mount.js';
import { sweepTransactions } from './sweep-transactions.js';

/** The place and means of transactions on this machine. */
export interface OverlaySetup {
  readonly programs: OverlayPrograms;
  /** The directory of all transactions: a real path, private, in none of the roots. */
  readonly place: string;
  /** A whiteout on its file system that can be hard-linked. */
  readonly whiteout: string;
  /** The kernel has overlays that sync nothing by themselves. */
  readonly isVolatile: boolean;
}

/** Why commands write through. */
export interface NoOverlay {
  readonly reason: string;
}

/**
 * Tests once per process and roots whether transactions work: overlays are mounted over a private directory,
 * written and checked, and mounted over each root. Never rejects.
 */
export function findOverlaySetup(
  roots: readonly string[],
  places: readonly string[],
  programs = findOverlayPrograms(),
): Promise<OverlaySetup | NoOverlay> {
  const key = JSON.stringify([roots, places, programs]);
  const known = found.get(key);
  if (known !== undefined) return known;
  const looking = look(roots, places, programs)
    .then(sweep)
    .catch((error: unknown) => ({
      reason: `overlays cannot be tried: ${error instanceof Error ? error.message : String(error)}`,
    }));
  if (found.size > 100) found.clear();
  found.set(key, looking);
  return looking;
}

const found = new Map<string, Promise<OverlaySetup | NoOverlay>>();

function sweep(setup: OverlaySetup | NoOverlay): OverlaySetup | NoOverlay {
  if ('place' in setup) {
    removeLeftTrash(setup.place);
    sweepTransactions(setup.place);
  }
  return setup;
}

/**
 * The same test for diagnosis, which leaves nothing behind. If earlier transactions have created the place, the place
 * itself is tested, and a command of this process does not test it again.
 * @returns undefined if they work
 */
export async function whyNoOverlays(
  roots: readonly string[],
  places: readonly string[] = [],
): Promise<string | undefined> {
  try {
    const real = roots.flatMap((root) => realPath(root) ?? []);
    const used = places.filter((place) => isWhiteout(`${place}/whiteout`));
    if (used.length > 0 && 'place' in (await look(real, used, findOverlayPrograms()))) return undefined;
    return await whyNotInScratch(real);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function whyNotInScratch(roots: readonly string[]): Promise<string | undefined> {
  const scratch = makeScratchDirectory('toolexec-overlay-');
  try {
    const place = join(scratch.path, 'place');
    const setup = await look(roots, [place], findOverlayPrograms(), 'scratch');
    return 'reason' in setup ? setup.reason : undefined;
  } finally {
    removeTree(scratch.path);
  }
}

/** The part that may differ for every command. */
export function rootsRefused(roots: readonly string[]): string | undefined {
  for (const root of roots) {
    const mount = mountBelow(root);
    if (mount !== undefined) return `something is mounted at "${mount}", inside a root`;
  }
  return undefined;
}

/** A scratch place is removed after the trial, so nothing about it is remembered. */
async function look(
  roots: readonly string[],
  places: readonly string[],
  programs: OverlayPrograms | string,
  kind: 'lasting' | 'scratch' = 'lasting',
): Promise<OverlaySetup | NoOverlay> {
  if (!systemName().startsWith('linux')) return { reason: 'overlays need Linux' };
  if (typeof programs === 'string') return { reason: programs };
  const refused = lastingRefusal(roots) ?? rootsRefused(roots);
  if (refused !== undefined) return { reason: refused };
  let reason = 'there is no directory for the changes that only this user can read';
  for (const place of candidates(roots, places)) {
    const tried = await tryOnce(programs, roots, place, kind);
    if (typeof tried !== 'string') return { programs, place, ...tried };
    reason = tried;
  }
  return { reason };
}

function lastingRefusal(roots: readonly string[]): string | undefined {
  if (roots.length > MOST_ROOTS) return `there are more than ${MOST_ROOTS} roots`;
  for (const root of roots) {
    if (root === '/') return 'the root is "/"';
    const stat = entryStat(root);
    if (stat === undefined) return `the root "${root}" is not there`;
    if (!isOwnedByUs(stat)) return `the root "${root}" belongs to another user or group`;
    if (localFileSystem(root) === undefined)
      return `the root "${root}" is on a file system that is not known to work`;
  }
  return undefined;
}

/** Places on the first root's file system come first: there a commit is a rename. */
function candidates(roots: readonly string[], places: readonly string[]): readonly string[] {
  const real = places.flatMap((place) => {
    const path = privateDirectory(place);
    const isFit =
      path !== undefined && !UNMOUNTABLE.test(path) && !roots.some((root) => isWithin(path, root));
    return isFit ? [path] : [];
  });
  const device = entryStat(roots[0] ?? '/')?.dev;
  const isNear = (path: string): boolean => entryStat(path)?.dev === device;
  return [...real.filter(isNear), ...real.filter((path) => !isNear(path))];
}

type Tried = Pick<OverlaySetup, 'whiteout' | 'isVolatile'> | string;

function tryOnce(
  programs: OverlayPrograms,
  roots: readonly string[],
  place: string,
  kind: 'lasting' | 'scratch',
): Promise<Tried> {
  const key = JSON.stringify([roots, place, programs]);
  const known = triedPlaces.get(key);
  if (known !== undefined) return known;
  const trying =
    kind === 'scratch' ? tryPlace(programs, roots, place) : tryRemembered(programs, roots, place);
  if (triedPlaces.size > 100) triedPlaces.clear();
  triedPlaces.set(key, trying);
  return trying;
}

const triedPlaces = new Map<string, Promise<Tried>>();

async function tryRemembered(
  programs: OverlayPrograms,
  roots: readonly string[],
  place: string,
): Promise<Tried> {
  const whiteout = `${place}/whiteout`;
  const trialWith = (isVolatile: boolean): string => trialOf(programs, roots, place, isVolatile);
  const known = [true, false].find((isVolatile) => hasPassed(trialWith(isVolatile)));
  if (known !== undefined && isWhiteout(whiteout)) return { whiteout, isVolatile: known };
  const tried = await tryPlace(programs, roots, place);
  if (typeof tried !== 'string') notePassed(trialWith(tried.isVolatile));
  return tried;
}

/** The trial, and the directories on which its result depends. */
function trialOf(
  programs: OverlayPrograms,
  roots: readonly string[],
  place: string,
  isVolatile: boolean,
): string {
  const directories = [place, ...roots].map((path) => {
    const { dev, ino } = entryStat(path) ?? {};
    return `${path} ${dev} ${ino} ${localFileSystem(path)}`;
  });
  return [probe(programs, place, `${place}/whiteout`, roots, isVolatile), ...directories].join('\n');
}

async function tryPlace(programs: OverlayPrograms, roots: readonly string[], place: string): Promise<Tried> {
  const whiteout = `${place}/whiteout`;
  const made = await makeWhiteout(programs, whiteout);
  if (made !== undefined) return made;
  if ((await whyNoOverlay(programs, roots, place, true)) === undefined) return { whiteout, isVolatile: true };
  return (await whyNoOverlay(programs, roots, place, false)) ?? { whiteout, isVolatile: false };
}

/** Undefined if it works. */
async function whyNoOverlay(
  programs: OverlayPrograms,
  roots: readonly string[],
  place: string,
  isVolatile: boolean,
): Promise<string | undefined> {
  const directory = makeOwnDirectory(place, 'probe', [
    ...['lower/kept', 'masks', 'upper', 'work', 'merged', 'empty', 'merged2'],
    ...roots.flatMap((_, index) => [`upper-${index}`, `work-${index}`]),
  ]);
  try {
    const script = probe(programs, directory, `${place}/whiteout`, roots, isVolatile);
    const answer = await askProgram(
      programs.unshare,
      ['-rm', '--propagation', 'private', '--', '/bin/sh', '-c', script],
      {},
    );
    if (!answer.ok) return `an overlay does not work in ${place}: ${answer.reason}`;
    const gone = binaryEntry(toBinary(`${directory}/upper/gone`))?.kind;
    const changed = binaryEntry(toBinary(`${directory}/upper/kept/changed`))?.kind;
    const isHere = binaryEntry(toBinary(`${directory}/lower/gone`))?.kind === 'file';
    return gone === 'whiteout' && changed === 'file' && isHere
      ? undefined
      : `an overlay does not keep changes apart in ${place}`;
  } finally {
    removeTree(directory);
  }
}

/** Returns the fault, if there is one. */
function probe(
  { mount }: OverlayPrograms,
  directory: string,
  whiteout: string,
  roots: readonly string[],
  isVolatile: boolean,
): string {
  const layers = overlayOptions({ masks: 'masks', upper: 'upper', work: 'work' }, 'lower', isVolatile);
  const overRoot = (index: number): string => {
    const at = (name: string): string => `${directory}/${name}`;
    return overlayOptions(
      { masks: at('empty'), upper: at(`upper-${index}`), work: at(`work-${index}`) },
      '.',
      isVolatile,
    );
  };
  return `
fail() { echo "$1" >&2; exit 1; }
cd ${quoted(directory)} || fail 'no directory'
echo secret >lower/hidden && echo old >lower/gone && echo old >lower/kept/changed || fail 'no files'
ln ${quoted(whiteout)} masks/hidden || fail 'no second name for a whiteout'
${mount} -n -t overlay overlay -o ${layers} merged || fail 'it cannot be mounted'
[ -e merged/hidden ] && fail 'a whiteout hides nothing'
rm merged/gone && echo new >merged/kept/changed && mkdir merged/made || fail 'it cannot be written'
${roots
  .map(
    (root, index) =>
      `cd ${quoted(root)} && ${mount} -n -t overlay overlay -o ${quoted(overRoot(index))} ${quoted(`${directory}/merged2`)} && umount ${quoted(`${directory}/merged2`)} || fail ${quoted(`${root} cannot lie below one`)}`,
  )
  .join('\n')}
exit 0
`;
}

async function makeWhiteout({ mknod }: OverlayPrograms, path: string): Promise<string | undefined> {
  if (isWhiteout(path)) return undefined;
  const answer = await askProgram(mknod, [path, 'c', '0', '0'], {});
  // Another process may have been faster.
  if (answer.ok || isWhiteout(path)) return undefined;
  return `whiteouts cannot be made: ${answer.reason}`;
}

function isWhiteout(path: string): boolean {
  return binaryEntry(toBinary(path))?.kind === 'whiteout';
}

/** Why a file system error prevents a transaction. */
export function whyNot(error: unknown): string {
  return `its directory cannot be made: ${errnoOf(error) ?? String(error)}`;
}
