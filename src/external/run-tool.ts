import { JsonTextError } from '../base/json-text-error.js';
import { parseJson } from '../base/parse-json.js';
import type { ToolContext } from '../contract/context.js';
import type { TraceContext } from '../contract/external.js';
import type { JsonObject } from '../contract/json.js';
import type { ToolOutput } from '../contract/tool.js';
import type { ToldProgram } from '../contract/tool-processes.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { ToolError } from '../errors/tool-error.js';
import type { Checker } from '../schema/checker.js';
import { decodeStrictly } from './decode-output.js';
import { toolEnvironment } from './describe-program.js';
import type { DescribedTool } from './described-tool.js';
import { StreamReader } from './read-stream.js';
import type { SchemaDocument } from './schema-document.js';

/** One call of one tool. */
export interface ExternalCall {
  readonly name: string;
  readonly path: string;
  readonly tool: DescribedTool;
  /**
   * Identifies the program file just before the call; undefined if it was not checked yet. Set once in place,
   * because a copy would read the signal.
   */
  print: string | undefined;
  readonly args: JsonObject;
  readonly ctx: ToolContext;
  /** Aborts when the call is stopped or the service is closed. Created on first use. */
  readonly signal: AbortSignal;
  /** The trace context for the program. */
  readonly trace: TraceContext | undefined;
  /** Limit for standard output. */
  readonly maxOutputBytes: number;
  /** Undefined: any JSON value is accepted. */
  readonly output: () => Checker | undefined;
}

/** Runs a call. Runners wrap each other: each gets the call and the next runner. */
export type CallRunner = (call: ExternalCall) => Promise<ToolOutput>;

const KEPT_ERROR_BYTES = 64 * 1024;
/** How many characters of standard error a message, and a success, show. */
const SHOWN_ERROR = 2_000;

/**
 * Starts one process for one call. Arguments on standard input, one JSON value on standard output, exit code
 * 0.
 * @throws ToolError `spawn_failed`.
 */
export const runTool: CallRunner = async (call) => {
  const { ctx, path, args, signal, maxOutputBytes } = call;
  if (signal.aborted) throw stopped(call);
  let errors = new TextDecoder();
  const broken = new AbortController();
  const openStream = (): StreamReader | undefined => {
    if (documentOf(call)?.streaming !== true) return undefined;
    const opened = new StreamReader(ctx, maxOutputBytes);
    opened.broken.addEventListener('abort', () => broken.abort());
    return opened;
  };
  let stream = openStream();
  const outcome = await ctx.processes.runProgram({
    file: path,
    args: [],
    cwd: ctx.cwd,
    env: environmentOf(call),
    // With a line end, because a shell's `read` fails without it.
    input: `${JSON.stringify(args)}\n`,
    signal: stream === undefined ? signal : AbortSignal.any([signal, broken.signal]),
    maxOutputBytes,
    keepErrorBytes: KEPT_ERROR_BYTES,
    onOutput: (from, chunk) =>
      from === 'stderr' ? ctx.emit(errors.decode(chunk, { stream: true }), 'stderr') : stream?.push(chunk),
    onRerun() {
      errors = new TextDecoder();
      stream = openStream();
    },
  });
  return toOutput(call, outcome, stream);
};

/** Undefined if the program has no description. */
export function documentOf({ tool: { description } }: ExternalCall): SchemaDocument | undefined {
  return description.status === 'ready' ? description.document : undefined;
}

function environmentOf({ ctx, trace }: ExternalCall): Readonly<Record<string, string>> {
  const env = toolEnvironment(ctx.processes.environment());
  return trace === undefined ? env : { ...env, ...traceVariables(trace) };
}

/** The environment variables of W3C Trace Context. */
function traceVariables(trace: TraceContext): Record<string, string> {
  const { traceparent, tracestate } = trace;
  return { TRACEPARENT: traceparent, ...(tracestate === undefined ? {} : { TRACESTATE: tracestate }) };
}

/** Turns the end of a process into the output of its call. */
function toOutput(call: ExternalCall, outcome: ToldProgram, stream: StreamReader | undefined): ToolOutput {
  const { exitCode, signal, stdout, notice, fault } = outcome;
  const said = shownError(outcome);
  const shown = (text: string): string => withNotice(text, notice, call.ctx.limits.maxOutputBytes);
  const metadata: JsonObject = {
    exit_code: exitCode,
    ...(signal === null ? {} : { signal }),
    ...(said === '' ? {} : { stderr: said }),
    ...outcome.metadata,
  };
  if (outcome.aborted && call.signal.aborted) {
    const error = stopped(call);
    if (!call.ctx.signal.aborted) throw error;
    // The executor adds why it was stopped; the partial output may show the cause.
    const text = [decodeStrictly(stdout) ?? '', said].filter((part) => part !== '').join('\n');
    return { text: shown(text), metadata, error: { code: error.code, message: error.message } };
  }
  const failed = (code: ErrorCode, why: string, hint?: string): ToolOutput => ({
    text: shown(decodeStrictly(stdout) ?? ''),
    metadata,
    error: {
      code,
      message: `${call.name} failed: ${why}${said === '' ? '' : `\n${said}`}`,
      ...(hint === undefined ? {} : { hint }),
      details: metadata,
    },
  });
  if (outcome.overflow) {
    const why = `it wrote more than ${call.maxOutputBytes} bytes, and was ended`;
    // The kept part of too much output is not an answer, and is not shown as one.
    return { ...failed('invalid_tool_output', why), text: notice };
  }
  // A program that violated the protocol was ended because of that, so this comes first.
  const broken = stream?.broken.aborted === true ? stream.end() : undefined;
  if (broken !== undefined && 'fault' in broken) return failed('invalid_tool_output', broken.fault);
  if (fault !== undefined) return failed(fault.code, fault.why, fault.hint);
  if (exitCode === null) return failed('execution_failed', `it was ended by ${signal ?? 'a signal'}`);
  if (exitCode !== 0) return failed('execution_failed', `exit code ${exitCode}`);
  const answer = stream?.end();
  if (answer !== undefined && 'error' in answer) return failed('execution_failed', answer.error);
  const result = answer === undefined ? readResult(stdout, call.output()) : readAnswer(answer, call.output());
  if ('fault' in result) return failed('invalid_tool_output', result.fault);
  if (notice === '') return { ...result, metadata };
  return { ...result, text: shown(result.text ?? JSON.stringify(result.structured)), metadata };
}

/** The notice after the text; or before it, if the text's end will be cut. */
function withNotice(text: string, notice: string, mostBytes: number): string {
  if (notice === '' || text === '') return text + notice;
  const isCut = Buffer.byteLength(text) + Buffer.byteLength(notice) + 2 > mostBytes;
  return isCut ? `${notice}\n\n${text}` : `${text.trimEnd()}\n\n${notice}`;
}

/** Why the call was stopped: the executor's reason, or the service was closed. */
export function stopped({ name, signal }: ExternalCall): ToolError {
  const { reason } = signal;
  return reason instanceof ToolError ? reason : new ToolError('cancelled', `${name} was cancelled.`);
}

function shownError({ stderr: { head, tail, omittedBytes, binary } }: ToldProgram): string {
  if (binary) return '';
  const text = (omittedBytes === 0 ? head + tail : tail).trim();
  return text.length <= SHOWN_ERROR ? text : `…${text.slice(-SHOWN_ERROR)}`;
}

type Result = { readonly structured: object; readonly text?: string } | { readonly fault: string };

/** A model could not read a result with deeper nesting. */
const LIMITS = { maxDepth: 256, maxValues: 5_000_000 };

/** Parses the single JSON value that a tool printed and checks it against the output schema. */
export function readResult(stdout: Uint8Array, output: Checker | undefined): Result {
  const text = decodeStrictly(stdout);
  if (text === undefined) return { fault: 'its output is not UTF-8 text' };
  if (text.trim() === '') return { fault: 'it printed nothing; one JSON value is expected' };
  let parsed: { readonly structured: unknown; readonly text?: string };
  try {
    parsed = parseValue(text);
  } catch (error) {
    const why = error instanceof JsonTextError ? error.detail : 'it cannot be read';
    return { fault: `its output is not one JSON value: ${why}` };
  }
  const fault = faultOf(parsed.structured, output);
  // Any JSON value is allowed; the executor reads it as such.
  return fault === undefined ? (parsed as Result) : { fault };
}

/** The same for a value in a line. */
export function readAnswer(
  answer: { readonly value: unknown } | { readonly fault: string },
  output: Checker | undefined,
): Result {
  if ('fault' in answer) return answer;
  const fault = faultOf(answer.value, output);
  return fault === undefined ? ({ structured: answer.value } as Result) : { fault };
}

function faultOf(value: unknown, output: Checker | undefined): string | undefined {
  const checked = output?.check(value);
  if (checked === undefined || checked instanceof Promise || checked.ok) return undefined;
  return checked.message.replace(/\.$/, '');
}

/** If a number has more digits than a double holds, the printed text keeps them all. */
function parseValue(text: string): { readonly structured: unknown; readonly text?: string } {
  try {
    return { structured: parseJson(text, LIMITS) };
  } catch (error) {
    const structured = parseJson(text, { ...LIMITS, keepsText: true });
    // A number too large for a double, or a key like `__proto__`, cannot be passed on.
    if (cannotBeGivenOn(structured)) throw error;
    return { structured, text: text.trim() };
  }
}

function cannotBeGivenOn(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, '__proto__') || Object.values(value).some(cannotBeGivenOn);
}
