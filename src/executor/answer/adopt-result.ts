import type { Executed, ToolFailure, ToolResult } from '../../contract/call.js';
import type { Origin } from '../../contract/origin.js';
import { isErrorCode } from '../../errors/catalogue.js';
import { isOrigin } from '../../patterns/origin.js';
import { textBeside } from '../../providers/content-words.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import { finalize, isUncut } from './finalize.js';
import { readContent } from './read-content.js';
import { causeOf, failure } from './results.js';

export interface Adoption {
  readonly ready: ReadyCall;
  readonly scope: BatchScope;
  readonly executed: Executed;
  /** The result that the tool itself produced, before middleware. */
  readonly own: ToolResult | undefined;
}

/**
 * Checks and cleans the value that middleware returned for a call. The value must be a result. It is cleaned
 * and cut like any other result, but an output that its tool has already limited is not cut again.
 */
export function adoptResult(value: unknown, { ready, scope, executed, own }: Adoption): ToolResult {
  if (isFinal(value)) return value;
  const result = readResult(value);
  if (result === undefined) {
    const message = `${ready.tool.name} gave no usable result.`;
    const hint =
      'Middleware returned a value that is not a result. It must return the result of next(), or an object of the same shape.';
    return markFinal(failure(ready.call, 'invalid_tool_output', message, executed, { hint }));
  }
  const { error, structured, outputRef, content } = result;
  const truncatable = own === undefined || !isUncut(own) || own.output !== result.output;
  const final = finalize(
    {
      text: textOf(result, own),
      metadata: result.metadata,
      truncatable,
      ...(structured === undefined ? {} : { structured }),
      ...(content === undefined ? {} : { content }),
      ...(typeof outputRef === 'string' ? { outputRef } : {}),
      ...(error === undefined
        ? {}
        : { error: { ...error, executed: executedOf(error) ?? executed, cause: causeFor(error, own) } }),
    },
    { ...ready, origin: originOf(result, ready) },
    scope,
    result.executionTimeMs,
    result.truncated,
  );
  return markFinal(final);
}

/**
 * Middleware belongs to the host program, so it may say where a result came from, for example when it replays
 * a recording.
 */
function originOf({ metadata: { origin }, error }: ToolResult, ready: ReadyCall): readonly Origin[] {
  if (Array.isArray(origin) && origin.every(isOrigin)) return origin;
  return error !== undefined && executedOf(error) === 'no' ? [] : ready.origin;
}

/**
 * When the output only describes the content blocks in words, it is written again, because middleware may
 * have changed the blocks.
 */
function textOf(result: ToolResult, own: ToolResult | undefined): string {
  if (result.content === undefined) return result.output;
  return result.output === own?.output ? textBeside(own) : textBeside(result);
}

/**
 * If middleware passes on the tool's error inside a new result, the error keeps the value that the tool
 * threw.
 */
function causeFor(error: ToolFailure['error'], own: ToolResult | undefined): unknown {
  return own?.error?.message === error.message ? causeOf(own) : undefined;
}

/**
 * Results that `finalize` has produced. If middleware returns one unchanged, it is not cleaned a second time.
 */
const finalized = new WeakSet<object>();

/** Freezes the result: text written into it later would be neither cleaned nor cut. */
export function markFinal<R extends ToolResult>(result: R): R {
  finalized.add(result);
  Object.freeze(result.metadata);
  if (result.error !== undefined) {
    Object.freeze(result.error.details);
    Object.freeze(result.error);
  }
  return Object.freeze(result);
}

function isFinal(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && finalized.has(value);
}

function executedOf({ details }: ToolFailure['error']): Executed | undefined {
  const said = details?.executed;
  return said === 'no' || said === 'yes' || said === 'maybe' ? said : undefined;
}

/**
 * Copies a value that looks like a result and reads each part once. Returns undefined if the value is not a
 * result.
 */
function readResult(value: unknown): ToolResult | undefined {
  if (!isObject(value)) return undefined;
  const { success, output, error, metadata, executionTimeMs, truncated, structured, outputRef, content } =
    value as Partial<ToolFailure>;
  const blocks = content === undefined ? undefined : readContent(content, true);
  if (typeof blocks === 'string') return undefined;
  if (typeof output !== 'string' || !isObject(metadata) || Array.isArray(metadata)) return undefined;
  if (typeof executionTimeMs !== 'number' || !(executionTimeMs >= 0)) return undefined;
  const base = {
    callId: '',
    toolName: '',
    output,
    metadata,
    executionTimeMs,
    truncated: truncated === true,
    ...(structured === undefined ? {} : { structured }),
    ...(outputRef === undefined ? {} : { outputRef }),
    ...(blocks === undefined ? {} : { content: blocks }),
  };
  if (error === undefined) return (success as unknown) === true ? { ...base, success: true } : undefined;
  const read = success === false ? readError(error) : undefined;
  return read === undefined ? undefined : { ...base, success: false, error: read };
}

function readError(error: unknown): ToolFailure['error'] | undefined {
  if (!isObject(error)) return undefined;
  const { code, message, hint, details } = error as Partial<ToolFailure['error']>;
  if (!isErrorCode(code) || typeof message !== 'string') return undefined;
  return {
    code,
    message,
    ...(typeof hint === 'string' ? { hint } : {}),
    ...(isObject(details) ? { details } : {}),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
