import { resolve } from 'node:path';
import type { ToolContext } from '../../contract/context.js';
import type { CommandOutcome } from '../../contract/processes.js';
import type { ToolOutput, ToolSpec } from '../../contract/tool.js';
import { commandMetadata, failureReason, streamText } from '../command-report.js';
import { TOOL_NAMES } from '../tool-names.js';
import { HEAD_CHARACTERS, shortenOutput, TAIL_CHARACTERS } from './shorten-output.js';

export interface BashArgs {
  readonly command: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly description?: string;
  readonly working_dir?: string;
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
  },
} as const;

/** `bash` (B001–B011, C025, decisions 2 to 4): a command in the foreground, with everything it starts. */
export function bashTool(): ToolSpec<BashArgs> {
  return {
    name: 'bash',
    aliases: TOOL_NAMES.bash,
    description:
      'Runs a bash command and returns what it printed, standard error after a line "[stderr]". It gets no input. ' +
      `Of long output the first ${HEAD_CHARACTERS} and the last ${TAIL_CHARACTERS} characters are shown. ` +
      'A command that exits with another code than 0 has failed.',
    input: INPUT,
    category: 'execution',
    timeoutClass: 'commands',
    timeoutMs: (args) => args.timeout,
    defaultTimeoutMs: DEFAULT_TIMEOUT_MS,
    requiresApproval: true,
    risk: 'high',
    effects: (args) => [
      {
        kind: 'run',
        command: args.command,
        ...(args.working_dir === undefined ? {} : { cwd: args.working_dir }),
      },
    ],
    summarize: (args) => `Run command: ${args.command}`,
    execute: runBash,
  };
}

async function runBash(args: BashArgs, ctx: ToolContext): Promise<ToolOutput> {
  const outcome = await ctx.processes.run({
    shell: 'bash',
    command: args.command,
    ...(args.working_dir === undefined ? {} : { cwd: args.working_dir }),
  });
  const { text, truncated } = shortenOutput(printed(outcome), printedBytes(outcome));
  const metadata = {
    ...commandMetadata(outcome, resolve(ctx.cwd, args.working_dir ?? '.')),
    command: args.command,
    truncated,
    ...(args.description === undefined ? {} : { description: args.description }),
  };
  const reason = failureReason(outcome);
  if (reason === undefined) return { text, truncated, metadata };
  return { text, truncated, metadata, error: { code: 'execution_failed', message: failureMessage(reason) } };
}

function failureMessage(reason: string): string {
  return reason.startsWith('exit code') ? `Command failed with ${reason}` : `Command failed: ${reason}`;
}

function printed(outcome: CommandOutcome): string {
  const stdout = streamText(outcome.stdout);
  const stderr = streamText(outcome.stderr);
  if (stderr === '') return stdout;
  return stdout === '' ? `[stderr]\n${stderr}` : `${stdout}\n\n[stderr]\n${stderr}`;
}

/** Everything that was printed, where not all of it was kept; undefined when the kept text is the whole. */
function printedBytes({ stdout, stderr }: CommandOutcome): number | undefined {
  if (stdout.omittedBytes + stderr.omittedBytes === 0) return undefined;
  return stdout.totalBytes + stderr.totalBytes;
}
