import { timeSlices } from '../../platform/clock/time-slices.js';
import {
  type BinaryPath,
  binaryEntry,
  binaryNames,
  canRename,
  copyBinary,
  type HeldDirectory,
  holdDirectory,
  linkBinary,
  makeBinaryDirectory,
  renameBinary,
  toBinary,
  writeDurably,
  writeNewBinary,
} from '../../platform/fs/binary-fs.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { type AttributePair, copyAttributes } from '../../platform/process/extended-attributes.js';
import { readWhole } from '../../platform/process/transaction-directory.js';
import { HeldPlaces } from './held-places.js';
import { canBeKept, copyToOurs, landingName } from './move-entries.js';
import { OVERLAY_ATTRIBUTES } from './overlay-mount.js';
import { oldVersion, type PlannedChange, type TransactionPlan } from './transaction-plan.js';

/*
 * A root on another file system than the transaction's directory has a landing directory during a commit: a hidden
 * one in the root itself. New versions are copied into it, old ones into the transaction's directory, and both are on
 * the disk before the plan is. Then each step is a rename on the root's file system. After a loss of power, this file
 * system alone shows whether a step was taken: the new version is in the landing directory, or it is not.
 *
 * If there is no space for all new versions, there is no landing directory, and each step syncs its copies.
 */

/** Creates the landing directories of a plan. @returns the plan with their roots */
export async function makeLandings(directory: string, plan: TransactionPlan): Promise<TransactionPlan> {
  const far = farRoots(directory, plan).filter((root) =>
    plan.changes.some((change) => change.root === root && change.kind !== 'dir'),
  );
  const hasTree = plan.changes.some(({ root, isTree }) => isTree === true && far.includes(root));
  if (far.length === 0 || hasTree) return plan;
  // First, so that a later process finds them.
  writeDurably(listOf(directory), JSON.stringify(far.map((root) => plan.roots[root])));
  try {
    await land(directory, plan, far);
    return { ...plan, landings: far };
  } catch {
    removeLandings(directory);
    return plan;
  }
}

/** The indices of the roots to which entries of the transaction's directory do not move by rename. */
export function farRoots(directory: string, { roots }: TransactionPlan): readonly number[] {
  return [...roots.keys()].filter((index) => !canRename(toBinary(directory), toBinary(roots[index] ?? '')));
}

async function land(directory: string, plan: TransactionPlan, far: readonly number[]): Promise<void> {
  const [places, landings] = [new HeldPlaces(plan), new HeldPlaces(plan)];
  const own = toBinary(directory);
  const name = landingName(own);
  const attributes: AttributePair[] = [];
  const slices = timeSlices();
  const linked = new Map<string, number>();
  try {
    for (const root of far) {
      const landing = landings.at({ root, path: name });
      makeBinaryDirectory(landing, 0o700);
      // The status of a repository does not show it.
      writeNewBinary(`${landing}/.gitignore`, '*\n');
    }
    for (const [index, { root, path, kind, change, from }] of plan.changes.entries()) {
      if (kind === 'dir' || !far.includes(root)) continue;
      const top = toBinary(plan.roots[root] ?? '');
      if (from !== undefined) {
        const first = firstNameOf({ root, from }, index, linked);
        const to = landings.at({ root, path: `${name}/${index}` });
        if (first === index || !isLinked(landings.at({ root, path: `${name}/${first}` }), to)) {
          copyBinary(from, to);
          attributes.push([from, `${top}/${name}/${index}`]);
        }
      }
      const at = change === 'create' ? undefined : places.at({ root, path });
      if (at !== undefined && canBeKept(at)) {
        copyToOurs(at, oldVersion(own, index), false);
        attributes.push([`${top}/${path}`, oldVersion(own, index)]);
      }
      if (slices.isOver()) await slices.next();
    }
    await copyAttributes(OVERLAY_ATTRIBUTES, attributes);
  } finally {
    places.close();
    landings.close();
  }
}

/** The index of the first change with the same file: a file with several names is copied once, and stays one file. */
function firstNameOf(
  { root, from }: { readonly root: number; readonly from: BinaryPath },
  index: number,
  linked: Map<string, number>,
): number {
  const entry = binaryEntry(from);
  if (entry?.kind !== 'file' || entry.links === 1) return index;
  const file = `${root}/${entry.dev}/${entry.ino}`;
  const first = linked.get(file) ?? index;
  linked.set(file, first);
  return first;
}

/** Whether the file got its second name: some file systems know no hard links. */
function isLinked(first: BinaryPath, to: BinaryPath): boolean {
  try {
    linkBinary(first, to);
    return true;
  } catch {
    return false;
  }
}

/** Removes the landing directories of a transaction, if it has any. */
export function removeLandings(directory: string): void {
  const roots: readonly string[] = JSON.parse(readWhole(listOf(directory)) ?? '[]');
  for (const root of roots) {
    const held = holdDirectory(root);
    if (held === undefined) continue;
    const own = toBinary(directory);
    const [landing, leaving] = [landingName(own), landingName(own, 'leaving')];
    const there = held.enter(landing);
    there?.close();
    // At once: without a part of it, the next process could not tell which changes are made.
    if (there !== undefined) renameBinary(`${held.at}/${landing}`, `${held.at}/${leaving}`);
    removeTree(`${held.at}/${leaving}`);
    held.close();
  }
}

/** Removes the copies of old versions of a plan that was undone: the originals are in place again. */
export function removeOldCopies(directory: string, { landings = [] }: TransactionPlan): void {
  if (landings.length === 0) return;
  for (const name of binaryNames(`${directory}/old`)) removeTree(`${directory}/old/${name}`);
}

/** The list of the roots with a landing directory. */
function listOf(directory: string): string {
  return `${directory}/landings.json`;
}

/** The places of new and replaced versions while a plan is applied or undone. */
export class VersionPlaces {
  readonly #plan: TransactionPlan;
  readonly #directory: BinaryPath;
  /** Undefined: another program removed it, or an earlier attempt that had taken all steps. */
  readonly #landings = new Map<number, HeldDirectory | undefined>();

  constructor(plan: TransactionPlan, directory: BinaryPath) {
    this.#plan = plan;
    this.#directory = directory;
  }

  /** Undefined if the change has no new version with a content. */
  newOf({ root, from }: PlannedChange, index: number): BinaryPath | undefined {
    const landing = from === undefined ? undefined : this.#landing(root);
    return landing === undefined ? from : `${landing.at}/${index}`;
  }

  oldOf({ root }: PlannedChange, index: number): BinaryPath {
    const landing = this.#landing(root);
    return landing === undefined ? oldVersion(this.#directory, index) : `${landing.at}/old-${index}`;
  }

  close(): void {
    for (const landing of this.#landings.values()) landing?.close();
    this.#landings.clear();
  }

  #landing(root: number): HeldDirectory | undefined {
    if (this.#plan.landings?.includes(root) !== true) return undefined;
    if (this.#landings.has(root)) return this.#landings.get(root);
    const held = holdDirectory(this.#plan.roots[root] ?? '');
    const landing = held?.enter(landingName(this.#directory));
    held?.close();
    this.#landings.set(root, landing);
    return landing;
  }
}
