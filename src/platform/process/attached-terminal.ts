import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';

/** Calls `handle` when the terminal of this program has another size. The returned function stops that. */
export function onTerminalResize(handle: () => void): () => void {
  process.on('SIGWINCH', handle);
  return () => {
    process.removeListener('SIGWINCH', handle);
  };
}

/**
 * What the terminal of this program is set to now. The returned function sets it so again: a program that was killed leaves
 * keys without echo. Both do nothing where there is no terminal.
 */
export function keepTerminalModes(): () => void {
  const modes = stty(['-g'])?.trim();
  return () => {
    if (modes !== undefined && /^[0-9a-fA-F:]+$/.test(modes)) stty([modes]);
  };
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
