import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { listProcessIds, ownProcessId, readProcess } from './proc-table.js';

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

/**
 * Whether another program of the same pipe still runs: it is in the process group of this one, and neither of them
 * has started the other. A shell that waits for its pipe is no such program. False if there is no `/proc`.
 */
export function hasPipeNeighbour(self = ownProcessId): boolean {
  const group = readProcess(self)?.group;
  if (group === undefined) return false;
  const above = new Set(ancestorsOf(self));
  return listProcessIds().some((pid) => {
    if (pid === self || above.has(pid)) return false;
    const entry = readProcess(pid);
    return entry?.group === group && entry.alive && !ancestorsOf(pid).includes(self);
  });
}

function ancestorsOf(pid: number): readonly number[] {
  const found: number[] = [];
  for (let at = readProcess(pid)?.parent; at !== undefined && at > 0; at = readProcess(at)?.parent) {
    // Process ids are used again while this reads them.
    if (found.includes(at)) break;
    found.push(at);
  }
  return found;
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
