import type { CommandChanges, PreviewedChanges } from '../../contract/changes.js';
import type { Confinement, TransactionRules } from '../../contract/processes.js';
import { toBinary } from '../../platform/fs/binary-fs.js';
import type { FileView } from '../../platform/fs/open-handle.js';
import { ownIds } from '../../platform/runtime/environment.js';
import {
  type CommitRequest,
  commitScanned,
  scanTransaction,
  whileCommitting,
  withHarmless,
} from './commit-transaction.js';
import type { ScannedChanges } from './found-changes.js';
import { LeftByCalls } from './left-by-calls.js';
import { lookAt } from './look-at-changes.js';
import { MountedView } from './mounted-view.js';
import { nameOthers } from './name-others.js';
import { NotCommitted, reportOf, requireAllowed, requireSize } from './not-committed.js';
import { changedBytes, GIT_INSIDE, type NoTransaction, openLayers } from './open-layers.js';
import { outsideIn, type Transaction, watchLayers } from './open-transaction.js';
import { removeLayersLater } from './overlay-mount.js';
import { absolute, refusalBy, refusalByPattern } from './refuse-changes.js';
import { namingIn } from './report-changes.js';
import { findUnexpected } from './review-deeds.js';
import { UnexpectedChanges, withUnexpected } from './unexpected-changes.js';
import { noteChanging } from './watch-begun.js';

/** Why no change of a preview was committed. */
export interface NothingCommitted {
  readonly why: string;
  /** Another program changed the same paths. */
  readonly isConflict: boolean;
  /** The conflicts, path by path. */
  readonly changes?: CommandChanges;
}

type PreviewedLayers = Exclude<Awaited<ReturnType<typeof openLayers>>, NoTransaction>;

/**
 * Several calls on one overlay, mounted over the roots in the namespace of a process of ours: each call sees
 * the changes of the previous ones, and no other program does.
 */
export class PreviewLayers {
  readonly #layers: PreviewedLayers;
  readonly #view: MountedView;
  readonly #left: LeftByCalls;
  readonly #unexpected = new Map<string, UnexpectedChanges['paths'][number]>();
  #broken: string | undefined;
  #ending: Promise<void> | undefined;

  private constructor(layers: PreviewedLayers, view: MountedView) {
    this.#layers = layers;
    this.#view = view;
    this.#left = new LeftByCalls(layers.mounts);
  }

  static async open(
    confinement: Confinement,
    rules: TransactionRules,
  ): Promise<PreviewLayers | NoTransaction> {
    const layers = await openLayers(confinement, rules);
    if ('reason' in layers) return layers;
    const mounts = layers.mounts.map((mount) => ({ ...mount, merged: mount.root }));
    const view = await MountedView.open(layers.setup.programs, mounts);
    if (typeof view !== 'string') return new PreviewLayers(layers, view);
    layers.release();
    void removeLayersLater(layers.mounts, layers.directory);
    return { reason: view };
  }

  get directory(): string {
    return this.#layers.directory;
  }

  /** The roots with the changes, for programs and for us. */
  get view(): FileView {
    return { root: this.#view.root, enter: this.#view.enter('--wd=.') };
  }

  /** Why the preview is invalid: a part of it comes from a stopped command. */
  get broken(): string | undefined {
    return this.#broken;
  }

  /** For one command: its changes stay in these layers. */
  transaction(): Transaction {
    const { directory, mounts, rules } = this.#layers;
    const { uid, gid } = ownIds();
    return {
      directory,
      roots: [],
      command: this.#view.enter(),
      mounts: [
        ...['--uid', `${uid}`, '--gid', `${gid}`],
        ...mounts.flatMap(({ root }) => ['--bind', root, root]),
      ],
      git: GIT_INSIDE,
      outside: outsideIn(directory),
      watch: watchLayers(this.#layers, this.#layers.hidden),
      watched: this.#layers,
      maxMb: rules.maxMb,
      size: () => changedBytes(mounts),
      // It also contains the changes of earlier commands.
      isUntouched: () => false,
      commit: (request) => this.#endCommand(request),
      discard: () => {
        this.#broken ??= 'a command was stopped before its end';
      },
      release() {},
    };
  }

  /** @throws NotCommitted if it changed a protected path; then no change of the preview can be committed. */
  async #endCommand(request: CommitRequest): Promise<CommandChanges> {
    const { tool, keepVersion, forbids, deeds } = request;
    const { rules } = this.#layers;
    const refusal = this.#left.refusalFor(refusalBy(rules, tool, forbids), refusalByPattern(rules));
    noteChanging(this.#layers);
    const scanned = await scanTransaction(this.#layers, refusal);
    requireSize(this.#layers, scanned, request);
    const { changes, leftOut } = this.#left.add(scanned);
    const refused = leftOut.filter(({ isConflict, isHarmless }) => !isConflict && isHarmless !== true);
    if (refused.length > 0) {
      this.#broken ??= 'a command changed files that commands may not change';
      requireAllowed(this.#layers, refused, keepVersion);
    }
    const unexpected = await findUnexpected(this.#layers, { changes }, deeds);
    const report = withUnexpected(
      reportOf(this.#layers, { ...scanned, changes, leftOut }, keepVersion),
      this.#layers,
      unexpected,
    );
    for (const one of unexpected.paths) this.#unexpected.set(`${one.root}/${one.path}`, one);
    const { mounts, confinement } = this.#layers;
    const name = namingIn(
      mounts.map(({ root }) => root),
      confinement.roots[0] ?? '',
    );
    if (unexpected.size > 0)
      await deeds?.ask({ changes: report, entries: unexpected.entries(name), notKept: [] });
    return report;
  }

  /** Attributes the changes of a file tool to it. */
  async fileToolEnded(): Promise<void> {
    noteChanging(this.#layers);
    this.#left.see((await this.#scan()).changes);
  }

  #scan(): Promise<ScannedChanges> {
    return scanTransaction(this.#layers, this.#left.refusal(refusalByPattern(this.#layers.rules)));
  }

  async look(): Promise<PreviewedChanges> {
    return lookAt(this.#layers, await this.#scan(), new UnexpectedChanges([...this.#unexpected.values()]));
  }

  /**
   * Commits everything. If another program has changed a part of it, or a part cannot be read, nothing is
   * committed.
   * @param begin awaited before anything is changed
   * @returns the changes, with the unwritable ones in the lists of uncommitted ones
   */
  async commit(begin: () => Promise<void>): Promise<CommandChanges | NothingCommitted> {
    if (this.#broken !== undefined) return { why: this.#broken, isConflict: false };
    await this.#end();
    try {
      const first = this.#requireNoConflict(await this.#scan());
      return await whileCommitting(this.#layers, first, async (isLate) => {
        const last = isLate ? this.#requireNoConflict(withHarmless(await this.#scan(), first)) : first;
        await begin();
        // The calls have reported their refusals.
        return commitScanned(this.#layers, { ...last, leftOut: [] }, { exitCode: 0 });
      });
    } catch (error) {
      if (!(error instanceof NotCommitted)) throw error;
      void removeLayersLater(this.#layers.mounts, this.directory);
      const { message: why, by, changes } = error;
      return { why, isConflict: by === 'conflict', ...(changes === undefined ? {} : { changes }) };
    } finally {
      this.#closeUnits();
    }
  }

  #requireNoConflict(scanned: ScannedChanges): ScannedChanges {
    const found = scanned.leftOut.filter(({ isConflict }) => isConflict);
    const [first] = found;
    if (first === undefined) return scanned;
    const root = { index: 0, lower: toBinary(this.#layers.mounts[first.root]?.root ?? ''), upper: '' };
    const conflicts = nameOthers(found, this.#layers);
    throw new NotCommitted(
      'conflict',
      `"${absolute(root, first.path)}" was changed by others meanwhile`,
      reportOf(this.#layers, { changes: [], leftOut: conflicts, gitLocks: [] }),
    );
  }

  async discard(): Promise<void> {
    await this.#end();
    this.#closeUnits();
    await removeLayersLater(this.#layers.mounts, this.directory);
  }

  #closeUnits(): void {
    for (const unit of this.#layers.units) unit.close();
  }

  #end(): Promise<void> {
    this.#ending ??= this.#view.end().then(() => this.#layers.release());
    return this.#ending;
  }
}
