import { types } from 'node:util';
import type { ContentBlock, Executed } from '../../contract/call.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { Tool, ToolOutput } from '../../contract/tool.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { isToolError, type ToolError } from '../../errors/tool-error.js';
import { isJsonObjectText } from '../../output/clean-output.js';
import { compiledTool } from '../declare/compiled-tool.js';
import { readContent } from './read-content.js';
import { readJson } from './read-json.js';
import { reasonOf } from './results.js';

/** What came of running a tool, before it is cleaned and cut. */
export interface Outcome {
  readonly text: string;
  readonly metadata?: JsonObject;
  readonly structured?: JsonValue;
  /** Copied and checked. Without a text, the output says it in words. */
  readonly content?: readonly ContentBlock[];
  readonly truncatable: boolean;
  /** The tool has left some of it out already. */
  readonly truncated?: boolean;
  /** Where all of it can be read. */
  readonly outputRef?: string;
  readonly error?: OutcomeError;
}

export interface OutcomeError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly details?: JsonObject;
  readonly executed: Executed;
  /** What was thrown, for programs in this process. */
  readonly cause?: unknown;
}

/**
 * Reads what a tool returned: a text, an output (an object with `text`, `content`, `structured` or `error`), or any other
 * JSON value. Everything else is `invalid_tool_output`; it did run.
 */
export function fromReturn(value: unknown, tool: Tool): Outcome | Promise<Outcome> {
  if (typeof value === 'string') {
    if (tool.output === undefined) return { text: value, truncatable: true };
    const onlyText = 'it promises structured output, and returned only text';
    return checkStructured({ text: value, structured: value, truncatable: true }, tool, onlyText);
  }
  if (value === undefined) {
    return invalid(tool, 'it returned undefined. Return a string, a JSON value (null is one) or { text }');
  }
  let plain: Outcome | Fault;
  try {
    plain = isOutput(value) ? readOutput(value) : readValue(value);
  } catch (error) {
    return invalid(tool, `it cannot be read: ${reasonOf(error)}`);
  }
  if ('fault' in plain) return invalid(tool, plain.fault, plain.text);
  return tool.output === undefined || plain.error !== undefined ? plain : checkStructured(plain, tool);
}

/** Stands for an outcome that cannot be made a result: the text stays, and the error, if it was one, without details. */
export function unusable(outcome: Outcome, tool: Tool, why: unknown): Outcome {
  const fault = `its metadata, structured output or details are no JSON: ${reasonOf(why)}`;
  const { error, ...answer } = invalid(tool, fault, outcome.text);
  if (outcome.error === undefined) return { ...answer, ...(error === undefined ? {} : { error }) };
  const { code, message, executed } = outcome.error;
  return { ...answer, error: { code, message, executed } };
}

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
      error: {
        code,
        message: code === 'execution_failed' ? failureMessage(toolName, message) : message,
        ...(typeof hint === 'string' ? { hint } : {}),
        ...(isObject(details) ? { details: details as JsonObject } : {}),
        executed: executedBy(code, details),
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

/** D061: a tool's JSON error goes as it is. */
function failureMessage(toolName: string, message: string): string {
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
  return code === 'cancelled' ? 'maybe' : 'yes';
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

interface Fault {
  readonly fault: string;
  readonly text?: string;
}

/** Each of these says that an object is an output, and no value. */
const OUTPUT_PARTS = ['text', 'content', 'structured', 'error'];

function isOutput(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value) && OUTPUT_PARTS.some((part) => part in value);
}

function readValue(value: unknown): Outcome | Fault {
  const read = readJson(value);
  if ('fault' in read) return read;
  return { text: JSON.stringify(read.value), structured: read.value, truncatable: true };
}

const AS_VALUE = 'A value that has such a part of its own is returned as { structured: value }';

/** Reads every part once: a getter may say something else the second time. */
function readOutput(value: object): Outcome | Fault {
  const {
    text: given,
    content: blocks,
    metadata,
    structured: claimed,
    truncatable,
    truncated,
    outputRef,
    error,
  } = value as { [K in keyof ToolOutput]: unknown };
  if (given !== undefined && typeof given !== 'string') {
    return { fault: `text must be a string, got ${kindOf(given)}. ${AS_VALUE}` };
  }
  const content = blocks === undefined ? undefined : readContent(blocks, false);
  if (typeof content === 'string') return { fault: `${content}. ${AS_VALUE}`, text: given ?? '' };
  const read = claimed === undefined ? undefined : readJson(claimed);
  if (read !== undefined && 'fault' in read) {
    return { fault: `structured output: ${read.fault}`, text: given ?? '' };
  }
  const says = read === undefined || content !== undefined ? '' : JSON.stringify(read.value);
  const text = given ?? says;
  if (metadata !== undefined && (!isObject(metadata) || Array.isArray(metadata))) {
    return { fault: `metadata must be an object, got ${kindOf(metadata)}`, text };
  }
  const failed = error === undefined ? undefined : readError(error);
  if (typeof failed === 'string') return { fault: failed, text };
  return {
    text,
    truncatable: truncatable !== false,
    ...(truncated === true ? { truncated } : {}),
    ...(typeof outputRef === 'string' ? { outputRef } : {}),
    ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
    ...(read === undefined ? {} : { structured: read.value }),
    ...(content === undefined ? {} : { content }),
    ...(failed === undefined ? {} : { error: failed }),
  };
}

function readError(error: unknown): OutcomeError | string {
  if (!isObject(error)) return 'error must be { message, code? }';
  const { message, hint, code, details } = error as { readonly [key: string]: unknown };
  if (typeof message !== 'string') return 'error must be { message, code? }';
  if (code !== undefined && !isErrorCode(code)) return `"${String(code)}" is no error code`;
  return {
    code: code ?? 'execution_failed',
    message,
    ...(typeof hint === 'string' ? { hint } : {}),
    ...(isObject(details) ? { details: details as JsonObject } : {}),
    executed: 'yes',
  };
}

/** @param otherwise what is wrong with it where the schema refuses it; default: as the schema says it. */
function checkStructured(outcome: Outcome, tool: Tool, otherwise?: string): Outcome | Promise<Outcome> {
  const checker = compiledTool(tool).output;
  if (checker === undefined) return outcome;
  if (outcome.structured === undefined) {
    return invalid(tool, 'it promises structured output, and returned none', outcome.text);
  }
  const outcomeOf = (checked: { readonly ok: boolean; readonly message?: string }): Outcome =>
    checked.ok
      ? outcome
      : invalid(tool, otherwise ?? checked.message ?? 'structured output is not valid', outcome.text);
  const failed = (error: unknown): Outcome =>
    invalid(tool, `its schema cannot check it: ${reasonOf(error)}`, outcome.text);
  try {
    const checked = checker.check(outcome.structured);
    return checked instanceof Promise ? checked.then(outcomeOf, failed) : outcomeOf(checked);
  } catch (error) {
    return failed(error);
  }
}

function invalid(tool: Tool, what: string, text = ''): Outcome {
  const message = `${tool.name} returned an invalid result: ${what.replace(/\.$/, '')}.`;
  return { text, truncatable: true, error: { code: 'invalid_tool_output', message, executed: 'yes' } };
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
