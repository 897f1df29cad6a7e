import type { ToolContext } from '../../contract/context.js';
import type { ShellReading, ShellSnapshot, ShellText } from '../../contract/processes.js';
import type { ToolOutput } from '../../contract/tool.js';
import { binaryNotice, countLines, printedText } from '../command-report.js';
import { outputLimit } from '../output-limit.js';
import { shellMetadata, shellNotFound } from '../shell-report.js';
import { describeLimit, wallNotice } from '../wall-report.js';
import type { BashOutputArgs } from './bash-output-tool.js';

export async function readOutput(
  { bash_id: id, filter }: BashOutputArgs,
  ctx: ToolContext,
): Promise<ToolOutput> {
  const reading = await ctx.processes.readShell(id, filter === undefined ? {} : { filter });
  if (reading === undefined) return shellNotFound(id);
  const { shell, stdout, stderr } = reading;
  const dropped = stdout.droppedBytes + stderr.droppedBytes;
  const notice = wallNotice(shell.wall);
  const about = `[${state(shell)}. Duration: ${Math.round(shell.durationMs)}ms]${notice === '' ? '' : `\n${notice}`}`;
  const printed = shown(reading, filter);
  // What is too long is cut at its end: what is known of the shell must not go with that.
  const isLong = Buffer.byteLength(printed, 'utf8') + STATE_BYTES > outputLimit(ctx);
  const text = isLong ? `${about}\n${printed}` : `${printed}\n${about}`;
  return {
    text: dropped === 0 ? text : `[${dropped} bytes of older output were not read in time]\n${text}`,
    truncated: dropped > 0,
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

/** More than is ever told of a shell besides its output. */
const STATE_BYTES = 2048;

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
