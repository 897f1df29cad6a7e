import type { JsonObject } from '../contract/json.js';
import type { ShellSnapshot } from '../contract/processes.js';
import type { ToolOutput } from '../contract/tool.js';
import { wallMetadata } from './wall-report.js';

/** Facts about a background shell, as results carry them. */
export function shellMetadata(shell: ShellSnapshot): JsonObject {
  return {
    command: shell.command,
    status: shell.status,
    is_running: shell.isRunning,
    done: !shell.isRunning,
    exit_code: shell.exitCode,
    signal: shell.signal,
    duration_ms: Math.round(shell.durationMs),
    working_dir: shell.cwd,
    ...(shell.survivors.length > 0 ? { survivors: [...shell.survivors] } : {}),
    ...wallMetadata(shell),
  };
}

/** B024, B030. */
export function shellNotFound(id: string): ToolOutput {
  const message = `Shell not found: ${id}. It has never been, or it ended long ago; bash with run_in_background starts one.`;
  return { text: '', error: { code: 'execution_failed', message } };
}
