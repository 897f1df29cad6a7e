import type { Clock } from '../contract/clock.js';
import type { CommandTree } from './command-tree.js';

/** Remembers the command's descendants now and then, more and more seldom. Returns what ends it. */
export function watchTree(tree: CommandTree, clock: Clock): () => void {
  let pauseMs = 10;
  let stop = clock.after(pauseMs, look);
  function look(): void {
    tree.remember();
    pauseMs = Math.min(2 * pauseMs, 500);
    stop = clock.after(pauseMs, look);
  }
  return () => stop();
}
