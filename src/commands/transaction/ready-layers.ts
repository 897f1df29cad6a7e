import type { Confinement } from '../../contract/processes.js';
import { idleClock } from '../../platform/clock/clock.js';
import { type BinaryEntry, binaryEntry, toBinary } from '../../platform/fs/binary-fs.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { isForkCheap } from '../../platform/process/start-process.js';
import { removeLater } from '../../platform/process/transaction-directory.js';
import { whenProcessEnds } from '../../platform/runtime/environment.js';
import { areMasksFor } from './held-masks.js';
import { MountedView, viewsEnded } from './mounted-view.js';
import { type Layers, makeLayers, markBegun, type Survey, showRootOn, surveyRoots } from './open-layers.js';

/*
 * Layers that are mounted before a command needs them, while the model thinks: three programs less to wait for. They are
 * used once. The kernel keeps what it has looked up in an overlay, and does not see what others change below it: a file
 * that grew between two commands was copied short in one that had been looked into. In a mount that nothing has looked
 * into yet there is nothing to be out of date but the root itself, and what is hidden: both are compared.
 */

/** Layers and where they are mounted. */
export interface ReadyLayers {
  readonly layers: Layers;
  readonly view: MountedView;
}

/** By the confinement of the commands that they are for. */
const waiting = new Map<Confinement, Preparation>();
/** Whose commands have come to their end. */
const ended = new WeakSet<Confinement>();
/** Whose first command has come to its end: a program that runs one command prepares nothing. */
const begun = new WeakSet<Confinement>();

/**
 * Makes ready what the next command with the same confinement needs.
 * @param isUnchanged the last one has changed nothing: what was found in the roots for it still holds
 */
export function prepareLayers(survey: Survey, isUnchanged: boolean): void {
  const { confinement } = survey;
  if (ended.has(confinement) || waiting.has(confinement)) return;
  if (!begun.has(confinement)) begun.add(confinement);
  else if (isForkCheap()) waiting.set(confinement, new Preparation(survey, isUnchanged));
}

/** What was made ready, where it is as it has to be for what was found just now. It is the caller's then. */
export async function takeLayers(survey: Survey): Promise<ReadyLayers | undefined> {
  const { confinement } = survey;
  const preparation = waiting.get(confinement);
  if (preparation === undefined) return undefined;
  waiting.delete(confinement);
  const made = await preparation.take();
  if (made === undefined) return undefined;
  if (!made.view.isAlive || !isFor(made, survey)) {
    void drop(made);
    return undefined;
  }
  const { layers } = made;
  unused.delete(layers.directory);
  try {
    for (const { root, upper } of layers.mounts) showRootOn(upper, root);
    return { ...made, layers: { ...layers, begunNs: markBegun(layers.directory) } };
  } catch {
    void drop(made);
    return undefined;
  }
}

/** To be called when no more commands come. Resolves when nothing is left of what was made ready. */
export async function endReadyLayers(confinement: Confinement): Promise<void> {
  ended.add(confinement);
  const preparation = waiting.get(confinement);
  waiting.delete(confinement);
  await preparation?.drop();
  await viewsEnded();
}

interface MadeLayers extends ReadyLayers {
  /** The roots as they were mounted. */
  readonly roots: readonly (BinaryEntry | undefined)[];
}

function isFor({ layers: { mounts, setup }, roots }: MadeLayers, survey: Survey): boolean {
  const { hidden, tracked } = survey;
  return (
    setup === survey.setup &&
    mounts.every(({ root, masks }, index) => {
      const [now, before] = [binaryEntry(toBinary(root)), roots[index]];
      const isSame = now?.ino === before?.ino && now?.dev === before?.dev && now?.mode === before?.mode;
      return isSame && areMasksFor(setup, root, masks, hidden, tracked.files);
    })
  );
}

/** So long after a change a directory may change again without its time telling. */
const SETTLED_MS = 60;
/** A mount keeps a file system from being unmounted. */
const KEPT_MS = 2 * 60 * 1000;

class Preparation {
  readonly #survey: Survey;
  readonly #isUnchanged: boolean;
  #cancel: () => void;
  #made: Promise<MadeLayers | undefined> | undefined;

  constructor(survey: Survey, isUnchanged: boolean) {
    this.#survey = survey;
    this.#isUnchanged = isUnchanged;
    this.#cancel = idleClock.after(isUnchanged ? 0 : SETTLED_MS, () => {
      this.#made = this.#make();
      this.#cancel = idleClock.after(KEPT_MS, () => {
        if (waiting.get(survey.confinement) === this) waiting.delete(survey.confinement);
        void this.drop();
      });
    });
  }

  /** Undefined where it was not begun, or could not be made. */
  async take(): Promise<MadeLayers | undefined> {
    this.#cancel();
    return this.#made;
  }

  async drop(): Promise<void> {
    const made = await this.take();
    if (made !== undefined) await drop(made);
  }

  async #make(): Promise<MadeLayers | undefined> {
    const { confinement, rules } = this.#survey;
    const survey = this.#isUnchanged ? this.#survey : await surveyRoots(confinement, rules);
    if ('reason' in survey) return undefined;
    const layers = makeLayers(survey);
    if ('reason' in layers) return undefined;
    noteUnused(layers.directory);
    const roots = layers.mounts.map(({ root }) => binaryEntry(toBinary(root)));
    const view = await MountedView.open(survey.setup.programs, layers.mounts);
    if (typeof view !== 'string') return { layers, view, roots };
    layers.drop();
    return undefined;
  }
}

async function drop({ layers, view }: ReadyLayers): Promise<void> {
  layers.release();
  await view.end();
  await removeLater(layers.directory);
  unused.delete(layers.directory);
}

/** Directories that no command has used, and none will where this process ends now. */
const unused = new Set<string>();
let isNoted = false;

function noteUnused(directory: string): void {
  if (!isNoted) whenProcessEnds(removeUnused);
  isNoted = true;
  unused.add(directory);
}

function removeUnused(): void {
  for (const directory of unused) removeTree(directory);
}
