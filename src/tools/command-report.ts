import type { JsonObject } from '../contract/json.js';
import type { CommandOutcome, KeptOutput } from '../contract/processes.js';
import type { ToolOutput } from '../contract/tool.js';
import { cutBytes } from './cut-bytes.js';
import { describeLimit, wallHint, wallMetadata, wallNotice } from './wall-report.js';

/** Bytes of each stream that a result's metadata repeats (F011). */
const METADATA_BYTES = 4096;

/** What a command printed, standard error behind a line `[stderr]`. */
export function printedText(stdout: string, stderr: string): string {
  if (stderr === '') return stdout;
  return stdout === '' ? `[stderr]\n${stderr}` : `${stdout}\n\n[stderr]\n${stderr}`;
}

/** The text of one stream; where bytes were left out, a note of how many stands in their place. */
export function streamText(kept: KeptOutput): string {
  if (kept.binary) return binaryNotice(kept.totalBytes);
  if (kept.omittedBytes === 0) return kept.head + kept.tail;
  return `${kept.head}\n... [${kept.omittedBytes} bytes left out] ...\n${kept.tail}`;
}

/** Stands for bytes that are no text: a model could do nothing with them. */
export function binaryNotice(bytes: number): string {
  return `[binary output: ${bytes} bytes, not shown]\n`;
}

/** Facts about a finished command, as results carry them. */
export function commandMetadata(outcome: CommandOutcome, workingDir: string): JsonObject {
  return {
    exit_code: outcome.exitCode,
    signal: outcome.signal,
    duration_ms: Math.round(outcome.durationMs),
    working_dir: workingDir,
    stdout: excerpt(outcome.stdout),
    stderr: excerpt(outcome.stderr),
    stdout_bytes: outcome.stdout.totalBytes,
    stderr_bytes: outcome.stderr.totalBytes,
    ...lineCounts(outcome),
    ...(outcome.stdout.binary || outcome.stderr.binary ? { binary: true } : {}),
    ...(outcome.survivors.length > 0 ? { survivors: [...outcome.survivors] } : {}),
    ...wallMetadata(outcome),
  };
}

/** Only where every line was kept: a count of some of them would mislead. */
function lineCounts({ stdout, stderr }: CommandOutcome): JsonObject {
  return {
    ...(isText(stdout) ? { stdout_lines: countLines(streamText(stdout)) } : {}),
    ...(isText(stderr) ? { stderr_lines: countLines(streamText(stderr)) } : {}),
  };
}

function isText({ omittedBytes, binary }: KeptOutput): boolean {
  return omittedBytes === 0 && !binary;
}

export function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}

function excerpt(kept: KeptOutput): string {
  if (kept.binary) return binaryNotice(kept.totalBytes);
  const whole = kept.head + kept.tail;
  if (kept.omittedBytes === 0 && Buffer.byteLength(whole, 'utf8') <= METADATA_BYTES) return whole;
  return cutBytes(kept.head, METADATA_BYTES / 2, 'start') + GAP + cutBytes(whole, METADATA_BYTES / 2, 'end');
}

const GAP = '\n... [cut] ...\n';

/** Whether some of what was printed is not in the result. */
export function isIncomplete({ stdout, stderr }: CommandOutcome): boolean {
  return !isText(stdout) || !isText(stderr);
}

/** Why a command counts as failed; undefined when it ended by itself with exit code 0. */
export function failureReason(outcome: CommandOutcome): string | undefined {
  if (outcome.aborted) return 'stopped before its end';
  if (outcome.exitCode === 0) return undefined;
  const limit = outcome.limit === undefined ? '' : `: ${describeLimit(outcome.limit)}`;
  if (outcome.exitCode !== null) return `exit code ${outcome.exitCode}${limit}`;
  return `ended by signal ${outcome.signal ?? 'unknown'}${limit}`;
}

/** The failure of a command as a tool's error; undefined when it ended by itself with exit code 0. */
export function commandError(
  outcome: CommandOutcome,
  message: (reason: string) => string,
): ToolOutput['error'] {
  const reason = failureReason(outcome);
  if (reason === undefined) return undefined;
  const { limit } = outcome;
  const hint = wallHint(outcome);
  return {
    code: 'execution_failed',
    message: message(reason),
    ...(hint === undefined ? {} : { hint }),
    ...(limit === undefined ? {} : { details: { limit: limit.limit, max: limit.max } }),
  };
}

/** What was printed, and behind it what the wall has kept from the command. */
export function withNotice(text: string, { wall }: Pick<CommandOutcome, 'wall'>): string {
  const notice = wallNotice(wall);
  if (notice === '') return text;
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}\n${notice}\n`;
}
