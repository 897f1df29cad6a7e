import { onFirstUse } from '../../base/on-first-use.js';
import type { ToolSpec } from '../../contract/tool.js';
import { probeCommand } from '../probe-command.js';
import { TOOL_NAMES } from '../tool-names.js';
import { HEAD_CHARACTERS, TAIL_CHARACTERS } from './shorten-output.js';

export interface BashArgs {
  readonly command: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly description?: string;
  readonly working_dir?: string;
  readonly run_in_background?: boolean;
}

export const DEFAULT_TIMEOUT_MS = 120_000;
export const MAX_TIMEOUT_MS = 600_000;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['command'],
  properties: {
    command: { type: 'string', pattern: '\\S', description: 'The command line, as bash -c takes it.' },
    timeout: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_TIMEOUT_MS,
      description: `Milliseconds until the command is stopped. Default: ${DEFAULT_TIMEOUT_MS}.`,
    },
    description: { type: 'string', description: 'What the command does, in a few words, for the person.' },
    working_dir: {
      type: 'string',
      pattern: '\\S',
      description: 'Directory to run in, relative to the working directory, which is the default.',
    },
    run_in_background: {
      type: 'boolean',
      description:
        'Start it and return at once with a bash_id: bash_output reads what it prints, kill_shell ends it. ' +
        'It is stopped after "timeout" only where that is given.',
    },
  },
} as const;

/** `bash` (B001–B011, B019, B020, C025, F002 to F004): a command with everything it starts, or a background shell. */
export function bashTool(): ToolSpec<BashArgs> {
  return {
    name: 'bash',
    aliases: TOOL_NAMES.bash,
    title: 'Run Bash Command',
    description:
      'Runs a bash command and returns what it printed, standard error after a line "[stderr]". It gets no input. ' +
      `Of long output the first ${HEAD_CHARACTERS} and the last ${TAIL_CHARACTERS} characters are shown. ` +
      'A command that exits with another code than 0 has failed.',
    input: INPUT,
    category: 'execution',
    timeoutClass: 'commands',
    // In the background it is the shell's, not the call's.
    timeoutMs: (args) => (args.run_in_background === true ? undefined : args.timeout),
    defaultTimeoutMs: DEFAULT_TIMEOUT_MS,
    requiresApproval: true,
    risk: 'high',
    touches: ['run'],
    effects: (args) => [
      {
        kind: 'run',
        command: args.command,
        shell: 'bash',
        ...(args.working_dir === undefined ? {} : { cwd: args.working_dir }),
      },
    ],
    summarize: (args) => `Run command: ${args.command}`,
    execute: runBash,
    probe: probeCommand,
  };
}

const runBash = onFirstUse(async () => (await import('./run-bash.js')).runBash);
