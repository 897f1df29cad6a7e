import type {
  CommandChanges,
  Confinement,
  PreviewedChanges,
  TransactionRules,
} from '../../contract/processes.js';
import { toBinary } from '../../platform/fs/binary-fs.js';
import type { FileView } from '../../platform/fs/open-handle.js';
import { removeLater } from '../../platform/process/transaction-directory.js';
import { ownIds } from '../../platform/runtime/environment.js';
import {
  absolute,
  applyScanned,
  type CommitRequest,
  lookAt,
  RootReplaced,
  refusalBy,
  refusalByPattern,
  scanTransaction,
} from './commit-transaction.js';
import { LeftByCalls } from './left-by-calls.js';
import { MountedView } from './mounted-view.js';
import { changedBytes, type GitInside, type Layers, type NoTransaction, openLayers } from './open-layers.js';
import type { Transaction } from './open-transaction.js';
import { reportChanges } from './report-changes.js';
import type { ScannedChanges } from './scan-changes.js';

/**
 * Several calls on one overlay, mounted over the roots in the view of a process of ours: what one of them changes the
 * next one sees, and no other program does.
 */
export class PreviewLayers {
  readonly #layers: Layers & GitInside;
  readonly #view: MountedView;
  readonly #left: LeftByCalls;
  #broken: string | undefined;
  #ending: Promise<void> | undefined;

  private constructor(layers: Layers & GitInside, view: MountedView) {
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
    void removeLater(layers.directory);
    return { reason: view };
  }

  get directory(): string {
    return this.#layers.directory;
  }

  /** The roots with the changes, for programs and for ourselves. */
  get view(): FileView {
    return { root: this.#view.root, enter: this.#view.enter('--wd=.') };
  }

  /** Why it is not what the calls would leave: a part of it belongs to a command that was stopped. */
  get broken(): string | undefined {
    return this.#broken;
  }

  /** For one command: what it leaves stays in these layers. */
  transaction(): Transaction {
    const { directory, mounts, rules, gitMounts, git } = this.#layers;
    const { uid, gid } = ownIds();
    return {
      directory,
      roots: [],
      command: this.#view.enter(),
      mounts: [
        ...['--uid', `${uid}`, '--gid', `${gid}`],
        ...mounts.flatMap(({ root }) => ['--bind', root, root]),
        ...gitMounts,
      ],
      git,
      maxMb: rules.maxMb,
      size: (when) => changedBytes(mounts, when === 'ended'),
      // What earlier commands have changed is there too.
      isUntouched: () => false,
      commit: (request) => this.#endCommand(request),
      discard: () => {
        this.#broken ??= 'a command was stopped before its end';
      },
      release() {},
    };
  }

  async #endCommand({ tool, keepVersion, forbids }: CommitRequest): Promise<CommandChanges> {
    const { rules } = this.#layers;
    const refusal = this.#left.refusalFor(refusalBy(rules, tool, forbids), refusalByPattern(rules));
    return this.#report(this.#left.add(await scanTransaction(this.#layers, refusal)), keepVersion);
  }

  /** What a file tool has changed is that tool's. */
  async fileToolEnded(): Promise<void> {
    this.#left.see((await this.#scan()).changes);
  }

  #scan(): Promise<ScannedChanges> {
    return scanTransaction(this.#layers, this.#left.refusal(refusalByPattern(this.#layers.rules)));
  }

  #report({ changes, leftOut }: ScannedChanges, keepVersion?: CommitRequest['keepVersion']): CommandChanges {
    const { confinement, mounts } = this.#layers;
    return reportChanges({
      roots: mounts.map(({ root }) => root),
      first: confinement.roots[0] ?? '',
      changes,
      failed: [],
      leftOut,
      keepVersion,
    });
  }

  /** @param most files whose content is given, and bytes of each */
  async look(most: { readonly files: number; readonly bytes: number }): Promise<PreviewedChanges> {
    return lookAt(this.#layers, await this.#scan(), most);
  }

  /**
   * Makes all of it real. Where others have changed a part of it meanwhile, or a part cannot be read, nothing is.
   * @param begin waited for before anything is changed
   * @returns what was changed, and in the lists of what was not what could not be made; a text: why nothing was
   */
  async commit(begin: () => Promise<void>): Promise<CommandChanges | string> {
    if (this.#broken !== undefined) return this.#broken;
    await this.#end();
    const scanned = await this.#scan().catch(whyReplaced);
    if (typeof scanned === 'string') {
      void removeLater(this.directory);
      return scanned;
    }
    const conflict = scanned.leftOut.find(({ isConflict }) => isConflict);
    if (conflict !== undefined) {
      void removeLater(this.directory);
      const { mounts } = this.#layers;
      const root = { index: 0, lower: toBinary(mounts[conflict.root]?.root ?? ''), upper: '' };
      return `"${absolute(root, conflict.path)}" was changed by others meanwhile`;
    }
    await begin();
    // What was refused, the calls have told.
    return applyScanned(this.#layers, { ...scanned, leftOut: [] }, { exitCode: 0 });
  }

  async discard(): Promise<void> {
    await this.#end();
    await removeLater(this.directory);
  }

  #end(): Promise<void> {
    this.#ending ??= this.#view.end().then(() => this.#layers.release());
    return this.#ending;
  }
}

function whyReplaced(error: unknown): string {
  if (error instanceof RootReplaced) return error.message;
  throw error;
}
