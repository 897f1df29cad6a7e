import type { Clock } from '../contract/context.js';
import type { CommandTree } from './command-tree.js';

export interface TreeWatch {
  /** Resolves when there are more processes than allowed. */
  readonly tooMany: Promise<void>;
  end(): void;
}

/** Remembers the command's descendants now and then, more and more seldom; looks again sooner where they are counted. */
export function watchTree(tree: CommandTree, clock: Clock, most = Number.POSITIVE_INFINITY): TreeWatch {
  const longestPauseMs = Number.isFinite(most) ? 200 : 500;
  let pauseMs = 10;
  let stop = clock.after(pauseMs, look);
  let tell: () => void = () => {};
  const tooMany = new Promise<void>((resolve) => {
    tell = resolve;
  });
  function look(): void {
    tree.remember();
    if (tree.count() > most) {
      tell();
      return;
    }
    pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    stop = clock.after(pauseMs, look);
  }
  return { tooMany, end: () => stop() };
}
