import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { probeCommand } from '../probe-command.js';
import { TOOL_NAMES } from '../tool-names.js';

export interface RunCommandArgs {
  readonly command: string;
}

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['command'],
  properties: {
    command: { type: 'string', pattern: '\\S', description: 'The command line, as sh -c takes it.' },
  },
} as const;

/** `run_command` (D073, F002): `sh -c` in the working directory, standard input closed. */
export function runCommandTool(): ToolSpec<RunCommandArgs> {
  return {
    name: 'run_command',
    aliases: TOOL_NAMES.run_command,
    title: 'Run Command',
    description:
      'Runs a shell command (sh -c) in the working directory and returns what it printed, standard error after a ' +
      'line "[stderr]". It gets no input. A command that exits with another code than 0 has failed.',
    input: INPUT,
    category: 'execution',
    timeoutClass: 'commands',
    requiresApproval: true,
    risk: 'high',
    touches: ['run'],
    effects: (args) => [{ kind: 'run', command: args.command, shell: 'sh' }],
    summarize: (args) => `Run command: ${args.command}`,
    execute: runInSh,
    probe: probeCommand,
  };
}

const runInSh = onFirstUse(async () => (await import('./run-in-sh.js')).runInSh);
