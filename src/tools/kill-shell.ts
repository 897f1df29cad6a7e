import type { ToolContext } from '../contract/context.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { shellMetadata, shellNotFound } from './command-report.js';

export interface KillShellArgs {
  readonly shell_id: string;
}

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['shell_id'],
  properties: {
    shell_id: {
      type: 'string',
      pattern: '\\S',
      description: 'The bash_id that bash gave when it started the background shell.',
    },
  },
} as const;

/**
 * `kill_shell` (B028–B031, C032): ends a background shell and everything it started; its output stays
 * readable.
 */
export function killShellTool(): ToolSpec<KillShellArgs> {
  return {
    name: 'kill_shell',
    aliases: ['KillShell'],
    title: 'End Background Shell',
    description:
      'Ends a background shell and everything it has started. What it printed can still be read with bash_output.',
    input: INPUT,
    category: 'execution',
    timeoutClass: 'commands',
    requiresApproval: true,
    risk: 'medium',
    touches: ['process'],
    effects: ({ shell_id }) => [{ kind: 'process', id: shell_id }],
    summarize: ({ shell_id }) => `Kill background shell ${shell_id}`,
    execute: killShell,
  };
}

async function killShell({ shell_id: id }: KillShellArgs, ctx: ToolContext): Promise<ToolOutput> {
  const before = ctx.processes.findShell(id);
  if (before === undefined) return shellNotFound(id);
  const shell = (await ctx.processes.killShell(id)) ?? before;
  const metadata = { shell_id: id, ...shellMetadata(shell), already_stopped: !before.isRunning };
  if (!before.isRunning) return { text: `Shell ${id} was already stopped (${shell.status}).`, metadata };
  if (shell.survivors.length === 0) return { text: `Shell ${id} terminated (${shell.status}).`, metadata };
  const message = `Shell ${id} was told to end, but these processes could not be killed: ${shell.survivors.join(', ')}`;
  return { text: '', metadata, error: { code: 'execution_failed', message } };
}
