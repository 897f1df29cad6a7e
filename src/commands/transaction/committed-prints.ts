import { timeSlices } from '../../platform/clock/time-slices.js';
import { type BinaryEntry, type BinaryPath, binaryEntry } from '../../platform/fs/binary-fs.js';
import {
  type EntryPrint,
  insideOf,
  printOf,
  printWithContent,
  type TransactionPlan,
} from './transaction-plan.js';

/*
 * Prints of committed entries, for an undo: it removes only entries that are still as the command left them.
 */

/** How many new versions are read for their hashes: later ones are identified by times and inode. */
export class ReadingBudget {
  #files = 2000;
  #bytes = 64 * 1024 * 1024;

  get isSpent(): boolean {
    return this.#files <= 0 || this.#bytes <= 0;
  }

  print(path: BinaryPath): EntryPrint | undefined {
    const entry = binaryEntry(path);
    if (entry === undefined) return undefined;
    this.#files--;
    this.#bytes -= entry.size;
    return this.#files < 0 || this.#bytes < 0 ? printOf(entry) : printIfReadable(path, entry);
  }
}

/** Its owner may have closed a file that is in place already, so this must not fail. */
function printIfReadable(path: BinaryPath, entry: BinaryEntry): EntryPrint {
  try {
    return printWithContent(path, entry);
  } catch {
    return printOf(entry);
  }
}

/** A print, and the index of its change. */
export type IndexedPrint = readonly [index: number, print: EntryPrint];

/**
 * The content of a new directory that moves as a whole, as far as the budget reaches.
 * @param at the directory, in the root or where the command created it: the move changes nothing inside
 */
export function* printsInside(
  { changes }: TransactionPlan,
  index: number,
  at: BinaryPath,
  reading: ReadingBudget,
): Iterable<IndexedPrint> {
  const above = changes[index]?.path.length ?? 0;
  const inside = insideOf(changes, index);
  for (const [place, one] of inside.entries()) {
    if (one.kind === 'dir') continue;
    if (reading.isSpent) return;
    const print = reading.print(`${at}${one.path.slice(above)}`);
    if (print !== undefined && looksLike(print, one.after)) yield [index - inside.length + place, print];
  }
}

/** The prints that were taken before a plan is applied. */
export interface PrintsBefore {
  readonly reading: ReadingBudget;
  /** The content of new directories, by the index of the directory. */
  readonly trees: ReadonlyMap<number, readonly IndexedPrint[]>;
}

/** Reads the new directories of a plan where the command created them. */
export async function readNewTrees(plan: TransactionPlan): Promise<PrintsBefore> {
  const reading = new ReadingBudget();
  const trees = new Map<number, readonly IndexedPrint[]>();
  const slices = timeSlices();
  for (const [index, { change, isTree, from }] of plan.changes.entries()) {
    if (change !== 'create' || isTree !== true || from === undefined) continue;
    const prints: IndexedPrint[] = [];
    for (const print of printsInside(plan, index, from, reading)) {
      prints.push(print);
      if (slices.isOver()) await slices.next();
    }
    trees.set(index, prints);
  }
  return { reading, trees };
}

/**
 * Another program may have changed it after another process committed it. A copy has the same time to the
 * microsecond.
 */
export function looksLike(now: EntryPrint, after: EntryPrint | undefined): boolean {
  if (after === undefined || now.kind !== after.kind || now.size !== after.size) return false;
  if ((now.mode & 0o1777) !== (after.mode & 0o1777)) return false;
  const apart = BigInt(now.mtimeNs) - BigInt(after.mtimeNs);
  return apart > -COPIED_NS && apart < COPIED_NS;
}

const COPIED_NS = 2000n;
