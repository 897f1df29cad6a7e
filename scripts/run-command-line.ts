import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** The built command. */
export const MAIN = join(ROOT, 'dist', 'command', 'toolexec.cjs');

export interface CommandLineOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/**
 * Runs the built `toolexec` in the repository's folder, with a separate state directory and without a
 * terminal.
 */
export function runCommandLine(args: readonly string[]): CommandLineOutput {
  if (!existsSync(MAIN)) throw new Error('Cannot run toolexec: dist/ is missing. Run "npm run build" first.');
  const state = mkdtempSync(join(tmpdir(), 'toolexec-docs-'));
  try {
    const { stdout, stderr, status, error } = spawnSync(process.execPath, [MAIN, ...args], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { ...process.env, XDG_STATE_HOME: state, XDG_CONFIG_HOME: state, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    if (error !== undefined) throw error;
    return { stdout, stderr, exitCode: status };
  } finally {
    rmSync(state, { recursive: true, force: true });
  }
}
