import type { ToolContext } from '../../contract/context.js';
import type { ToolOutput } from '../../contract/tool.js';
import { shellMetadata, shellNotFound } from '../shell-report.js';
import type { KillShellArgs } from './kill-shell-tool.js';

export async function killShell({ shell_id: id }: KillShellArgs, ctx: ToolContext): Promise<ToolOutput> {
  const before = ctx.processes.findShell(id);
  if (before === undefined) return shellNotFound(id);
  const shell = (await ctx.processes.killShell(id)) ?? before;
  const metadata = { shell_id: id, ...shellMetadata(shell), already_stopped: !before.isRunning };
  if (!before.isRunning) return { text: `Shell ${id} was already stopped (${shell.status}).`, metadata };
  if (shell.survivors.length === 0) return { text: `Shell ${id} terminated (${shell.status}).`, metadata };
  const message = `Shell ${id} was told to end, but these processes could not be killed: ${shell.survivors.join(', ')}`;
  return { text: '', metadata, error: { code: 'execution_failed', message } };
}
