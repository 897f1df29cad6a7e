import type { ToolContext } from '../contract/context.js';
import { OUTPUT_LIMITS } from '../contract/output-limits.js';
import type { ShellReading, ShellSnapshot, ShellText } from '../contract/processes.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import {
  binaryNotice,
  countLines,
  describeLimit,
  printedText,
  sandboxNotice,
  shellMetadata,
  shellNotFound,
} from './command-report.js';
import { cutBytes, outputLimit } from './output-text.js';

export interface BashOutputArgs {
  readonly bash_id: string;
  readonly filter?: string;
}

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['bash_id'],
  properties: {
    bash_id: {
      type: 'string',
      pattern: '\\S',
      description: 'The bash_id that bash gave when it started the background shell.',
    },
    filter: {
      type: 'string',
      description:
        'A regular expression: only lines that it matches are shown, the others cannot be read any more.',
    },
  },
} as const;

/** `bash_output` (B021–B027, C024): the output of a background shell since the last read. */
export function bashOutputTool(): ToolSpec<BashOutputArgs> {
  return {
    name: 'bash_output',
    aliases: ['BashOutput'],
    title: 'Read Background Output',
    description:
      'Returns what a background shell has printed since the last call, standard error after a line "[stderr]", and ' +
      'whether it is still running.',
    input: INPUT,
    category: 'execution',
    timeoutClass: 'commands',
    touches: ['process'],
    effects: ({ bash_id }) => [{ kind: 'process', id: bash_id, access: 'read' }],
    summarize: ({ bash_id }) => `Read the output of background shell ${bash_id}`,
    execute: readOutput,
  };
}

async function readOutput({ bash_id: id, filter }: BashOutputArgs, ctx: ToolContext): Promise<ToolOutput> {
  const reading = await ctx.processes.readShell(id, filter === undefined ? {} : { filter });
  if (reading === undefined) return shellNotFound(id);
  const { shell, stdout, stderr } = reading;
  const dropped = stdout.droppedBytes + stderr.droppedBytes;
  const notice = sandboxNotice(shell.sandbox);
  const about = `[${state(shell)}. Duration: ${Math.round(shell.durationMs)}ms]${notice === '' ? '' : `\n${notice}`}`;
  const { text, ...cut } = bothEnds(shown(reading, filter), about, ctx);
  return {
    text: dropped === 0 ? text : `[${dropped} bytes of older output were not read in time]\n${text}`,
    ...cut,
    truncated: dropped > 0 || cut.truncated,
    metadata: {
      bash_id: id,
      ...shellMetadata(shell),
      stdout_lines: countLines(stdout.text),
      stderr_lines: countLines(stderr.text),
      ...(dropped > 0 ? { dropped_bytes: dropped } : {}),
      ...(filter === undefined ? {} : { filter }),
    },
  };
}

const { shellFactsBytes, fewestShellBytes } = OUTPUT_LIMITS;

/**
 * Keeps both ends of a long output, because a log's end shows its result. The facts about the shell come
 * first.
 */
function bothEnds(
  printed: string,
  about: string,
  ctx: ToolContext,
): { readonly text: string; readonly truncated: boolean; readonly outputRef?: string } {
  const room = outputLimit(ctx) - shellFactsBytes;
  if (Buffer.byteLength(printed, 'utf8') <= room) return { text: `${printed}\n${about}`, truncated: false };
  if (room < fewestShellBytes) return { text: `${about}\n${printed}`, truncated: false };
  const { text, outputRef } = ctx.processes.keepText(printed);
  const half = Math.floor(room / 2);
  const notice = `[Output truncated: ${Buffer.byteLength(text, 'utf8')} bytes in total; the first and the last ${half} are shown${where(outputRef)}]`;
  const shortened = `${cutBytes(text, half, 'start')}\n\n${notice}\n\n${cutBytes(text, half, 'end')}`;
  const shownText = `${about}\n${shortened}`;
  return { text: shownText, truncated: true, ...(outputRef === undefined ? {} : { outputRef }) };
}

function where(outputRef: string | undefined): string {
  return outputRef === undefined ? '' : `; read_file gives any part of it, path "${outputRef}"`;
}

function shown({ stdout, stderr }: ShellReading, filter: string | undefined): string {
  const text = printedText(textOf(stdout), textOf(stderr));
  if (text === '') return filter === undefined ? '(no new output)\n' : '(no new output that matches)\n';
  return text.endsWith('\n') ? text : `${text}\n`;
}

function textOf({ text, binary }: ShellText): string {
  return binary ? binaryNotice(Buffer.byteLength(text, 'utf8')) : text;
}

function state({ status, exitCode, signal, limit }: ShellSnapshot): string {
  const why = limit === undefined ? '' : `: ${describeLimit(limit)}`;
  if (exitCode !== null) return `Status: ${status}, exit code ${exitCode}${why}`;
  return signal === null ? `Status: ${status}${why}` : `Status: ${status}, signal ${signal}${why}`;
}
