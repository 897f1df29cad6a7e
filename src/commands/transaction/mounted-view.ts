import { findTrustedProgram } from '../../platform/process/find-program.js';
import { startView, type ViewProcess } from '../../platform/process/view-process.js';
import { openMountHolder } from '../sandbox/mount-holder.js';
import { type OverlayMount, type OverlayPrograms, overlayCommand } from './overlay-mount.js';

/**
 * Overlays mounted in the mount namespace of a process of ours; any number of programs can be started in it.
 */
export class MountedView {
  readonly #view: ViewProcess;
  readonly #nsenter: string;
  #ending: Promise<void> | undefined;

  private constructor(view: ViewProcess, nsenter: string) {
    this.#view = view;
    this.#nsenter = nsenter;
  }

  /** A text: the reason why there is none. */
  static async open(
    programs: OverlayPrograms,
    mounts: readonly OverlayMount[],
  ): Promise<MountedView | string> {
    const nsenter = findTrustedProgram('nsenter');
    if (nsenter === undefined) return 'nsenter (util-linux) is not installed';
    const holder = openMountHolder(false);
    try {
      for (const { root } of mounts) holder.inherit(root);
      const wait = ['/bin/sh', '-c', 'echo ready; read -r _'];
      const view = await startView([...overlayCommand(programs, mounts), ...wait], holder.places());
      return new MountedView(view, nsenter);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      holder.close();
    }
  }

  /** The prefix of its paths. */
  get root(): string {
    return this.#view.root;
  }

  /** Its process runs; programs already inside keep the overlays without it. */
  get isAlive(): boolean {
    return this.#view.isAlive;
  }

  /** Arguments before a program that runs in it. */
  enter(...options: readonly string[]): readonly string[] {
    const into = ['--target', `${this.#view.pid}`, '--user', '--mount', '--preserve-credentials'];
    return [this.#nsenter, ...into, ...options, '--'];
  }

  /** Resolves when its process is gone. The overlays are unmounted with the last program inside. */
  end(): Promise<void> {
    if (this.#ending === undefined) {
      const ending = this.#view.end().finally(() => ends.delete(ending));
      ends.add(ending);
      this.#ending = ending;
    }
    return this.#ending;
  }
}

const ends = new Set<Promise<void>>();

/** Resolves when all ending views are gone. */
export async function viewsEnded(): Promise<void> {
  await Promise.all(ends);
}
