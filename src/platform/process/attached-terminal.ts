import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Calls `handle` when the terminal of this program changes its size. The returned function ends that. */
export function onTerminalResize(handle: () => void): () => void {
  process.on('SIGWINCH', handle);
  return () => {
    process.removeListener('SIGWINCH', handle);
  };
}

/**
 * Saves the modes of this program's terminal. The returned function restores them, because a killed program
 * may leave keys without echo. Without a terminal, both do nothing.
 */
export function keepTerminalModes(): () => void {
  const modes = stty(['-g'])?.trim();
  return () => {
    if (modes !== undefined && /^[0-9a-fA-F:]+$/.test(modes)) stty([modes]);
  };
}

/** Whether another program reads the keys of this program's terminal one by one: a pager at the end of a pipe. */
export function isTerminalTaken(): boolean {
  return /(?:^|\s)-icanon\b/.test(stty(['-a']) ?? '');
}

function stty(args: readonly string[]): string | undefined {
  let terminal: number | undefined;
  try {
    terminal = openSync('/dev/tty', 'r');
    return execFileSync('stty', args, { stdio: [terminal, 'pipe', 'ignore'], encoding: 'utf8' });
  } catch {
    return undefined;
  } finally {
    if (terminal !== undefined) closeSync(terminal);
  }
}
