import type { ToolContext } from '../contract/context.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import {
  commandError,
  commandMetadata,
  isIncomplete,
  probeCommand,
  started,
  streamText,
  WHAT_LASTS,
  withNotice,
} from './command-report.js';

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

/** `run_command` (D073, F002): `sh -c` in the working directory with standard input closed. */
export function runCommandTool(): ToolSpec<RunCommandArgs> {
  return {
    name: 'run_command',
    title: 'Run Command',
    description:
      'Runs a shell command (sh -c) in the working directory and returns what it printed, standard error after a ' +
      'line "[stderr]". It gets no input. A command that exits with a code other than 0 has failed. ' +
      WHAT_LASTS,
    input: INPUT,
    category: 'execution',
    contained: true,
    background: false,
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

async function runInSh(args: RunCommandArgs, ctx: ToolContext): Promise<ToolOutput> {
  const outcome = await started(ctx.processes.run({ shell: 'sh', command: args.command, clean: true }));
  const stdout = streamText(outcome.stdout);
  const stderr = streamText(outcome.stderr);
  const text = withNotice(
    stderr === '' ? stdout : `${stdout}\n\n[stderr]\n${stderr}`,
    outcome,
    ctx.limits.maxOutputBytes,
  );
  const metadata = commandMetadata(outcome, ctx.cwd);
  const error = commandError(outcome, (reason) => `run_command failed: ${reason}`);
  const { outputRef } = outcome;
  const shown = {
    text,
    truncated: isIncomplete(outcome),
    metadata,
    ...(outputRef === undefined ? {} : { outputRef }),
  };
  return error === undefined ? shown : { ...shown, error };
}
