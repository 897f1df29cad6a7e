import type { ContentBlock, Executed } from '../../contract/call.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { Tool, ToolOutput } from '../../contract/tool.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { compiledTool } from '../declare/compiled-tool.js';
import { readContent } from './read-content.js';
import { readJson } from './read-json.js';
import { reasonOf } from './results.js';

/** The outcome of running a tool, before cleaning and cutting. */
export interface Outcome {
  readonly text: string;
  readonly metadata?: JsonObject;
  readonly structured?: JsonValue;
  /** Copied and checked. If there is no text, the output describes the blocks in words. */
  readonly content?: readonly ContentBlock[];
  readonly truncatable: boolean;
  /** The tool itself has already left part of the output out. */
  readonly truncated?: boolean;
  /** Where the whole output can be read. */
  readonly outputRef?: string;
  readonly error?: OutcomeError;
}

export interface OutcomeError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly details?: JsonObject;
  readonly executed: Executed;
  /** The value that was thrown, for programs in this process. */
  readonly cause?: unknown;
}

/**
 * Reads the value that a tool returned: a text, an output (an object with `text`, `content`, `structured` or
 * `error`), or any other JSON value. Every other value gives `invalid_tool_output`, and the call counts as
 * executed.
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

/**
 * Replaces an outcome that cannot be turned into a result. The text stays; an error stays too, but without
 * its details.
 */
export function unusable(outcome: Outcome, tool: Tool, why: unknown): Outcome {
  const fault = `its metadata, structured output or details are not JSON: ${reasonOf(why)}`;
  const { error, ...answer } = invalid(tool, fault, outcome.text);
  if (outcome.error === undefined) return { ...answer, ...(error === undefined ? {} : { error }) };
  const { code, message, executed } = outcome.error;
  return { ...answer, error: { code, message, executed } };
}

interface Fault {
  readonly fault: string;
  readonly text?: string;
}

/** An object with one of these keys is read as an output, not as a plain JSON value. */
const OUTPUT_PARTS = ['text', 'content', 'structured', 'error'];

function isOutput(value: unknown): value is object {
  return isObject(value) && !Array.isArray(value) && OUTPUT_PARTS.some((part) => part in value);
}

function readValue(value: unknown): Outcome | Fault {
  const read = readJson(value);
  if ('fault' in read) return read;
  return { text: JSON.stringify(read.value), structured: read.value, truncatable: true };
}

const AS_VALUE = 'Return a value that itself has such a member as { structured: value }';

/** Reads every part once, because a getter may return something else the second time. */
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
  if (code !== undefined && !isErrorCode(code)) return `"${String(code)}" is not an error code`;
  return {
    code: code ?? 'execution_failed',
    message,
    ...(typeof hint === 'string' ? { hint } : {}),
    ...(isObject(details) ? { details: details as JsonObject } : {}),
    executed: 'yes',
  };
}

/**
 * @param otherwise the reason to report if the schema refuses the value; default: the schema's own message.
 */
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
