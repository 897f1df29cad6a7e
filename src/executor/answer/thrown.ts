import { types } from 'node:util';
import type { Executed } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import { isJsonObjectText } from '../../output/clean-output.js';
import type { Outcome, OutcomeError } from './outcome.js';

/**
 * Reads what a tool threw: a ToolError speaks for itself, any other Error is a failure of the tool. A programming error
 * and what is no Error is a panic.
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
    // It throws when it is looked at.
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

/** D061: a tool's JSON error goes as it is. An empty one gets a sentence where it becomes a result. */
function failureMessage(toolName: string, message: string): string {
  if (message.trim() === '') return '';
  return isJsonObjectText(message) ? message : `${toolName} failed: ${message}`;
}

/** Errors that say that the program is wrong, and not that what it tried has failed. */
const PROGRAMMING_ERRORS: ReadonlySet<unknown> = new Set([
  'TypeError',
  'ReferenceError',
  'RangeError',
  'SyntaxError',
  'AssertionError',
]);

/** An Error of any realm that is no programming error. */
function isFailure(thrown: unknown): boolean {
  if (!isError(thrown)) return false;
  if ('code' in thrown && thrown.code === 'ERR_ASSERTION') return false;
  // The prototypes carry the names, in every realm and for subclasses; an own name is how others say the same.
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
  // How far what was broken off had come is not known.
  return code === 'cancelled' || saysMaybe(details) ? 'maybe' : 'yes';
}

/** Says of a call that its tool was not even asked. Only the executor throws it: a tool may have done something before. */
export class NothingDone extends ToolError {
  /** Goes to the result. */
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

/** Codes of what was never started; a tool may have started something else before. */
const BEFORE_THE_START: ReadonlySet<ErrorCode> = new Set([
  'spawn_failed',
  'schema_fetch_failed',
  'circuit_open',
]);

/** What could not be started has done nothing, where its tool says that this was all. */
function saysNo(details: unknown): boolean {
  return isObject(details) && 'executed' in details && details.executed === 'no';
}

/** A tool whose work is done elsewhere may not know what has become of it. */
function saysMaybe(details: unknown): boolean {
  return isObject(details) && 'executed' in details && details.executed === 'maybe';
}

/** More than is shown of a panic: it is cut when it is clean, so that no half of a secret stays. */
const PANIC_CHARACTERS = 16_384;

/** D055, D058: the message is bounded here, cleaned and cut with the result; the stack goes to the log alone. */
export function panic(thrown: unknown): Outcome {
  const message = `Tool panicked: ${describeThrown(thrown).slice(0, PANIC_CHARACTERS)}`;
  return {
    text: '',
    truncatable: true,
    error: { code: 'tool_panicked', message, executed: 'yes', cause: thrown },
  };
}

/** @param replaced what the tool has replaced of what all code depends on, by name */
export function replacedPanic(replaced: string): Outcome {
  return panic(
    new Error(`it replaced ${replaced}. All code of this process depends on that: it was put back.`),
  );
}

/** For the log alone. */
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
    // A thrown value can itself throw when it is looked at (a proxy, a getter, a cycle).
    return 'a value that cannot be shown';
  }
}

/** An error without a message: what it gathers, its code, or its name. */
function describeSilentError(error: object): string {
  const { errors, code, name } = error as { readonly [key: string]: unknown };
  const gathered = Array.isArray(errors) ? errors.map(describeThrown).join('; ') : '';
  if (gathered !== '') return gathered;
  return typeof code === 'string' && code !== '' ? code : String(name);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
