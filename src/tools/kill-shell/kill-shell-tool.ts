import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { TOOL_NAMES } from '../tool-names.js';

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

/** `kill_shell` (B028–B031, C032): ends a background shell with everything it has started; what it printed stays. */
export function killShellTool(): ToolSpec<KillShellArgs> {
  return {
    name: 'kill_shell',
    aliases: TOOL_NAMES.kill_shell,
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

const killShell = onFirstUse(async () => (await import('./kill-shell.js')).killShell);
