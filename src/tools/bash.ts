import { resolve } from 'node:path';
import { normalizeOptions, rulesOf } from '../base/normalize-options.js';
import type { ToolContext } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import { OUTPUT_LIMITS } from '../contract/output-limits.js';
import type { CommandOutcome } from '../contract/processes.js';
import { type OptionsIn, SETTINGS } from '../contract/settings.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import {
  commandError,
  commandMetadata,
  isIncomplete,
  printedText,
  probeCommand,
  sandboxMetadata,
  started,
  streamText,
  WHAT_LASTS,
  withNotice,
} from './command-report.js';

export interface BashArgs {
  readonly command: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly description?: string;
  readonly working_dir?: string;
  readonly run_in_background?: boolean;
  readonly expose_ports?: readonly number[];
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
    expose_ports: {
      type: 'array',
      maxItems: 5,
      items: { type: 'integer', minimum: 1, maximum: 65_535 },
      description:
        'Ports of servers in the background that the person wants to open in a browser; the person is asked for each. ' +
        'Later commands reach them at localhost without this.',
    },
  },
} as const;

export type BashOptions = OptionsIn<'executor.builtins.bash'>;

const RULES = rulesOf<Required<BashOptions>>(SETTINGS['executor.builtins.bash']);

/**
 * `bash` (B001–B011, B019, B020, C025, F002 to F004): runs a command with everything it starts, or a
 * background shell.
 */
export function bashTool(options: BashOptions = {}): ToolSpec<BashArgs> {
  const { approval } = normalizeOptions('bash', options, RULES);
  return {
    name: 'bash',
    aliases: ['Bash'],
    title: 'Run Bash Command',
    description:
      'Runs a bash command and returns what it printed, standard error after a line "[stderr]". It gets no input. ' +
      `Of long output the first ${HEAD_CHARACTERS} and the last ${TAIL_CHARACTERS} characters are shown. ` +
      'A command that exits with a code other than 0 has failed. ' +
      WHAT_LASTS,
    input: INPUT,
    category: 'execution',
    contained: true,
    background: (args) => args.run_in_background === true,
    timeoutClass: 'commands',
    // In the background it limits the shell, not the call.
    timeoutMs: (args) => (args.run_in_background === true ? undefined : args.timeout),
    defaultTimeoutMs: DEFAULT_TIMEOUT_MS,
    requiresApproval: true,
    // A background shell writes through.
    approval: (args) => (args.run_in_background === true ? 'before' : approval),
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

function runBash(args: BashArgs, ctx: ToolContext): Promise<ToolOutput> {
  return args.run_in_background === true ? startShell(args, ctx) : runToItsEnd(args, ctx);
}

async function startShell(args: BashArgs, ctx: ToolContext): Promise<ToolOutput> {
  const { id, cwd, status, sandbox } = await started(
    ctx.processes.startShell({
      ...commandOf(args),
      ...(args.timeout === undefined ? {} : { timeoutMs: args.timeout }),
    }),
  );
  const ports = await exposePorts(args, ctx);
  const said =
    status === 'killed'
      ? `Background shell ${id} was ended at once: the call was stopped while it started.`
      : `Started background shell ${id}. Read its output with bash_output, end it with kill_shell.`;
  return {
    text: [said, ...ports.lines].join('\n'),
    metadata: {
      bash_id: id,
      status,
      working_dir: cwd,
      ...saidBy(args),
      ...(sandbox === undefined ? {} : sandboxMetadata({ sandbox })),
      ...ports.metadata,
    },
  };
}

async function runToItsEnd(args: BashArgs, ctx: ToolContext): Promise<ToolOutput> {
  const outcome = await started(ctx.processes.run({ ...commandOf(args), clean: true }));
  const printed = printedText(streamText(outcome.stdout), streamText(outcome.stderr));
  const totalBytes = printedBytes(outcome);
  const isKeptLate = outcome.outputRef === undefined && totalBytes === undefined && isShortened(printed);
  const outputRef = isKeptLate ? ctx.processes.keepText(printed).outputRef : outcome.outputRef;
  const short = shortenOutput(printed, totalBytes, outputRef);
  const truncated = short.truncated || isIncomplete(outcome);
  const ports = await exposePorts(args, ctx);
  const text = [short.text, ...ports.lines].join('\n');
  const shown = {
    text: withNotice(text, outcome, ctx.limits.maxOutputBytes),
    truncated,
    metadata: {
      ...commandMetadata(outcome, resolve(ctx.cwd, args.working_dir ?? '.')),
      truncated,
      ...saidBy(args),
      ...ports.metadata,
    },
    ...(outputRef === undefined ? {} : { outputRef }),
  };
  const error = commandError(outcome, failureMessage);
  return error === undefined ? shown : { ...shown, error };
}

/** One question per port, because the person may agree to one port and not to another. */
async function exposePorts(
  { expose_ports: ports = [] }: BashArgs,
  { processes }: ToolContext,
): Promise<{ readonly lines: readonly string[]; readonly metadata: JsonObject }> {
  const lines: string[] = [];
  const exposed: JsonObject[] = [];
  for (const port of new Set(ports)) {
    const answer = await processes.exposePort(port);
    if (typeof answer === 'string') lines.push(`[Port ${port} is not exposed: ${answer}.]`);
    else {
      lines.push(`[Port ${port} is exposed to this machine: ${answer.url}]`);
      exposed.push({ ...answer });
    }
  }
  return { lines, metadata: exposed.length === 0 ? {} : { exposed_ports: exposed } };
}

function commandOf({ command, working_dir: cwd }: BashArgs) {
  return { shell: 'bash', command, ...(cwd === undefined ? {} : { cwd }) } as const;
}

function saidBy({ command, description }: BashArgs): JsonObject {
  return { command, ...(description === undefined ? {} : { description }) };
}

function failureMessage(reason: string): string {
  return reason.startsWith('exit code') ? `Command failed with ${reason}` : `Command failed: ${reason}`;
}

/** The number of bytes that were printed, if not all were kept; undefined if the kept text is complete. */
function printedBytes({ stdout, stderr }: CommandOutcome): number | undefined {
  if (stdout.omittedBytes + stderr.omittedBytes === 0) return undefined;
  return stdout.totalBytes + stderr.totalBytes;
}

const { headCharacters: HEAD_CHARACTERS, tailCharacters: TAIL_CHARACTERS } = OUTPUT_LIMITS;

function isShortened(text: string): boolean {
  return indexAfter(text, HEAD_CHARACTERS) < text.length;
}

/**
 * Shortens output of more than 30000 characters to the first 30000, a notice with the size, and the last 2000
 * (of the rest). `totalBytes` is given if `text` is only a part of the output, `outputRef` if all of it can
 * be read.
 */
export function shortenOutput(
  text: string,
  totalBytes?: number,
  outputRef?: string,
): { text: string; truncated: boolean } {
  const headEnd = indexAfter(text, HEAD_CHARACTERS);
  if (headEnd === text.length) return { text, truncated: false };
  const rest = text.slice(headEnd);
  const tail = rest.slice(indexBefore(rest, TAIL_CHARACTERS));
  const size =
    totalBytes === undefined
      ? `${HEAD_CHARACTERS + countCharacters(rest)} characters`
      : `${totalBytes} bytes`;
  const remedy = outputRef === undefined ? '' : `; read_file gives any part of it, path "${outputRef}"`;
  const notice =
    `\n\n[Output truncated: ${size} in total; ` +
    `the first ${HEAD_CHARACTERS} and the last ${countCharacters(tail)} characters are shown${remedy}]\n\n`;
  return { text: text.slice(0, headEnd) + notice + tail, truncated: true };
}

/** The index after the first `count` characters. */
function indexAfter(text: string, count: number): number {
  if (text.length <= count) return text.length;
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left--) at += isPairAt(text, at) ? 2 : 1;
  return at;
}

/** The index of the first of the last `count` characters. */
function indexBefore(text: string, count: number): number {
  let at = text.length;
  for (let left = count; left > 0 && at > 0; left--) at -= at > 1 && isPairAt(text, at - 2) ? 2 : 1;
  return at;
}

function countCharacters(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; count++) at += isPairAt(text, at) ? 2 : 1;
  return count;
}

function isPairAt(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
