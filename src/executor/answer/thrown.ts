import { types } from 'node:util';
import type { Executed } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import { isJsonObjectText } from '../../output/clean-output.js';
import type { Outcome, OutcomeError } from './outcome.js';

/**
 * Reads the value that a tool threw. A ToolError keeps its code and message; any other Error is a failure of
 * the tool. A programming error, or a value that is not an Error, is a panic.
 */
export function fromThrow(thrown: unknown, toolName: string): Outcome {
  try {
    if (!isToolError(thrown))
      return isFailure(thrown) ? failed(toolName, describeThrown(thrown), thrown) : panic(thrown);
    const { code: said, message, hint, details }: { readonly [K in keyof ToolError]: unknown } = thrown;
    if (typeof message !== 'string') return panic(thrown);
    const code = isErrorCode(said) ? said : 'execution_failed';
    return {
      text: '',
      truncatable: true,
      ...(thrown instanceof NothingDone ? { metadata: thrown.metadata } : {}),
      error: {
        code,
        message: code === 'execution_failed' ? failureMessage(toolName, message) : message,
        ...(typeof hint === 'string' ? { hint } : {}),
        ...(isObject(details) ? { details: details as JsonObject } : {}),
        executed: thrown instanceof NothingDone ? 'no' : executedBy(code, details),
        cause: thrown,
      },
    };
  } catch {
    // Reading the thrown value throws.
    return panic(thrown);
  }
}

function failed(toolName: string, message: string, cause: unknown): Outcome {
  const error: OutcomeError = {
    code: 'execution_failed',
    message: failureMessage(toolName, message),
    executed: 'yes',
    cause,
  };
  return { text: '', truncatable: true, error };
}

/**
 * D061: a JSON error of a tool passes unchanged. An empty message gets a sentence when the result is made.
 */
function failureMessage(toolName: string, message: string): string {
  if (message.trim() === '') return '';
  return isJsonObjectText(message) ? message : `${toolName} failed: ${message}`;
}

/** These errors mean that the program is wrong, not that an operation failed. */
const PROGRAMMING_ERRORS: ReadonlySet<unknown> = new Set([
  'TypeError',
  'ReferenceError',
  'RangeError',
  'SyntaxError',
  'AssertionError',
]);

/** Whether the value is an Error, from any realm, that is not a programming error. */
function isFailure(thrown: unknown): boolean {
  if (!isError(thrown)) return false;
  if ('code' in thrown && thrown.code === 'ERR_ASSERTION') return false;
  // The prototypes carry the names, in every realm and for subclasses. Other errors carry the name as an own
  // property.
  for (let at: unknown = thrown; isObject(at); at = Object.getPrototypeOf(at)) {
    const own: unknown = Object.getOwnPropertyDescriptor(at, 'name')?.value;
    if (PROGRAMMING_ERRORS.has(own)) return false;
  }
  return true;
}

function isError(thrown: unknown): thrown is object {
  if (thrown instanceof Error || types.isNativeError(thrown)) return true;
  return Object.prototype.toString.call(thrown) === '[object DOMException]';
}

function executedBy(code: ErrorCode, details: unknown): Executed {
  if (BEFORE_THE_START.has(code) && saysNo(details)) return 'no';
  // A cancelled operation may have had an effect before it was cancelled.
  return code === 'cancelled' || saysMaybe(details) ? 'maybe' : 'yes';
}

/**
 * Reports that the tool of a call was never asked. Only the executor throws this error; after an error of the
 * tool itself, the tool may have acted already.
 */
export class NothingDone extends ToolError {
  /** Becomes part of the result's metadata. */
  readonly metadata: JsonObject;

  constructor(
    code: ErrorCode,
    message: string,
    options: ConstructorParameters<typeof ToolError>[2],
    metadata: JsonObject,
  ) {
    super(code, message, options);
    this.metadata = metadata;
  }
}

/** Codes for an operation that never started. The tool may have started another operation before it. */
const BEFORE_THE_START: ReadonlySet<ErrorCode> = new Set([
  'spawn_failed',
  'schema_fetch_failed',
  'circuit_open',
]);

/** Whether the tool says that nothing else was done besides the operation that could not start. */
function saysNo(details: unknown): boolean {
  return isObject(details) && 'executed' in details && details.executed === 'no';
}

/**
 * Whether the tool says that the effect is unknown: a tool that works through a remote service may not know
 * the outcome.
 */
function saysMaybe(details: unknown): boolean {
  return isObject(details) && 'executed' in details && details.executed === 'maybe';
}

/**
 * Longer than the shown part of a panic: the message is cut again after cleaning, so that no half of a secret
 * remains.
 */
const PANIC_CHARACTERS = 16_384;

/**
 * D055, D058: the message is bounded here, then cleaned and cut with the result. The stack goes only to the
 * log.
 */
export function panic(thrown: unknown): Outcome {
  const message = `Tool panicked: ${describeThrown(thrown).slice(0, PANIC_CHARACTERS)}`;
  return {
    text: '',
    truncatable: true,
    error: { code: 'tool_panicked', message, executed: 'yes', cause: thrown },
  };
}

/** @param replaced name of the built-in, on which all code depends, that the tool has replaced */
export function replacedPanic(replaced: string): Outcome {
  return panic(
    new Error(`it replaced ${replaced}. All code of this process depends on that, so it was restored.`),
  );
}

/** The stack text. Use it only in the log. */
export function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } catch {
    return 'a value that cannot be shown';
  }
}

function describeThrown(thrown: unknown): string {
  try {
    if (!isObject(thrown)) return String(thrown);
    const { message } = thrown as { readonly message?: unknown };
    if (typeof message === 'string' && message !== '') return message;
    if (isError(thrown)) return describeSilentError(thrown);
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    // A thrown value can itself throw while it is read (a proxy, a getter, a cycle).
    return 'a value that cannot be shown';
  }
}

/** Describes an error without a message by its collected errors, its code or its name. */
function describeSilentError(error: object): string {
  const { errors, code, name } = error as { readonly [key: string]: unknown };
  const gathered = Array.isArray(errors) ? errors.map(describeThrown).join('; ') : '';
  if (gathered !== '') return gathered;
  return typeof code === 'string' && code !== '' ? code : String(name);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
