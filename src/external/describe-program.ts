import { dirname } from 'node:path';
import { runProgram } from '../commands/run-program.js';
import type { JsonSchema } from '../contract/json.js';
import type { ProgramOutcome } from '../contract/programs.js';
import { isToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import { whyNoProgram } from '../platform/fs/program-file.js';
import { decodeStrictly } from './decode-output.js';
import { plainText } from './plain-text.js';
import type { SchemaDocument } from './schema-document.js';
import { parseSchemaDocument, SchemaDocumentError } from './schema-document.js';

/** The result of asking a program for its description. */
export type Description =
  | { readonly status: 'ready'; readonly document: SchemaDocument; readonly text: string }
  | { readonly status: 'schema-unknown' | 'error'; readonly reason: string };

/** E039: a slow program must not delay the start. */
export const SCHEMA_TIMEOUT_MS = 5_000;
const MAX_SCHEMA_BYTES = 1024 * 1024;
const KEPT_ERROR_BYTES = 8 * 1024;

export interface DescribeRequest {
  readonly name: string;
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

/** Runs `PATH --schema` for at most 5 s. Never rejects: a failed start is a result too. */
export async function describeProgram(request: DescribeRequest): Promise<Description> {
  const { name, path, env, signal, timeoutMs = SCHEMA_TIMEOUT_MS } = request;
  const flaw = whyNoProgram(path);
  if (flaw !== undefined) return { status: 'error', reason: `Cannot start "${path}": ${flaw}` };
  const late = new AbortController();
  const forget = systemClock.after(timeoutMs, () => late.abort());
  try {
    const outcome = await runProgram({
      file: path,
      args: ['--schema'],
      cwd: dirname(path),
      env: toolEnvironment(env),
      input: '',
      signal: AbortSignal.any([signal, late.signal]),
      maxOutputBytes: MAX_SCHEMA_BYTES,
      keepErrorBytes: KEPT_ERROR_BYTES,
    });
    const fault = faultOf(outcome, late.signal.aborted ? timeoutMs : undefined);
    if (fault !== undefined) return { status: 'schema-unknown', reason: fault };
    return readDescription(decodeStrictly(outcome.stdout) ?? '', name);
  } catch (error) {
    return { status: 'error', reason: isToolError(error) ? error.message.replace(/\.$/, '') : String(error) };
  } finally {
    forget();
  }
}

/** D120: both variables tell a tool that it was started for one call, not as a server. */
export const MODE_VARIABLES = { TOOLEXEC_TOOL_MODE: 'subprocess', GIBSON_TOOL_MODE: 'subprocess' } as const;

/**
 * The environment of a program. The same input gives the same object, so it is transferred once for many
 * starts.
 */
export function toolEnvironment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  let whole = environments.get(env);
  if (whole === undefined) {
    whole = Object.freeze({ ...env, ...MODE_VARIABLES });
    environments.set(env, whole);
  }
  return whole;
}

const environments = new WeakMap<object, Readonly<Record<string, string>>>();

/** Parses the description that a program printed. */
export function readDescription(
  text: string,
  name: string,
  options: { readonly isKnown?: boolean } = {},
): Description {
  try {
    return { status: 'ready', document: parseSchemaDocument(text, name, options), text };
  } catch (error) {
    if (!(error instanceof SchemaDocumentError)) throw error;
    return { status: 'schema-unknown', reason: `--schema: ${error.message}` };
  }
}

function faultOf(outcome: ProgramOutcome, timeoutMs: number | undefined): string | undefined {
  const { exitCode, signal, overflow, aborted, stdout, stderr } = outcome;
  if (overflow) return `--schema: it printed more than ${MAX_SCHEMA_BYTES} bytes`;
  if (timeoutMs !== undefined) return `--schema: it did not end within ${timeoutMs} ms`;
  if (aborted) return '--schema: it was interrupted';
  const said = lastLine(stderr.head + stderr.tail);
  if (exitCode !== 0) {
    const end =
      exitCode === null ? `it was ended by ${signal ?? 'a signal'}` : `it ended with exit code ${exitCode}`;
    return `--schema: ${end}${said === '' ? '' : `: ${said}`}`;
  }
  return decodeStrictly(stdout) === undefined ? '--schema: its output is not UTF-8 text' : undefined;
}

function lastLine(text: string): string {
  return plainText(text.trim().split('\n').at(-1) ?? '').slice(0, 300);
}

/** The schema of a tool without a description: any object. */
export const ANY_OBJECT: JsonSchema = Object.freeze({ type: 'object' });
