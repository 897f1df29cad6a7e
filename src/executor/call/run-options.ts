import {
  checkOptions,
  isBoolean,
  isFilledText,
  isObject,
  isWhole,
  type OptionRules,
  option,
  showGiven,
} from '../../base/normalize-options.js';
import type { PersonWhileRunning, ShownFile } from '../../contract/approval.js';
import type { ApproveOptions, ExecutorMode, RunOptions } from '../../contract/executor.js';
import type { BatchMessage } from '../../contract/journal.js';
import type { TraceContext } from '../../contract/telemetry.js';
import type { TicketOptions } from '../../contract/ticket.js';
import { ToolError } from '../../errors/tool-error.js';

const RULES: OptionRules<{ [K in keyof RunOptions]-?: RunOptions[K] | undefined }> = {
  signal: option(undefined, (value) => value instanceof AbortSignal, 'an AbortSignal'),
  dryRun: option(undefined, (value) => isBoolean(value) || value === 'preview', 'true, false or "preview"'),
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
  agent: option(undefined, isFilledText, 'a text that is not empty'),
  turn: option(undefined, isFilledText, 'a text that is not empty'),
  again: option(undefined, isBoolean, 'true or false'),
  failFast: option(undefined, isBoolean, 'true or false'),
  concurrency: option(undefined, isWhole(1), 'a whole number from 1'),
  parallel: option(undefined, isBoolean, 'true or false'),
  timeoutMs: option(
    undefined,
    (value) => typeof value === 'number' && Number.isFinite(value) && value > 0,
    'a number of milliseconds above 0',
  ),
  availableCapacityBytes: option(
    undefined,
    (value) => typeof value === 'number' && value >= 0,
    'a number of bytes from 0',
  ),
  approver: option(undefined, (value) => value === null || typeof value === 'function', 'a function or null'),
  whileRunning: option(undefined, isPerson, '{ approver?, asker? }, each a function'),
  message: option(
    undefined,
    isMessage,
    'an object with a text, and a model and a provider if they are known',
  ),
  origin: option(undefined, isObject, 'an object of plain data'),
  defer: option(undefined, (value) => isBoolean(value) || value === 'unasked', 'true, false or "unasked"'),
  ticket: option(undefined, isFilledText, 'a ticket that ask() has given'),
  trace: option(undefined, isTrace, '{ traceparent, tracestate?, baggage? }, each a text'),
};

function isTrace(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { traceparent, tracestate = '', baggage = '' } = value as Record<keyof TraceContext, unknown>;
  return [traceparent, tracestate, baggage].every((text) => typeof text === 'string');
}

function isPerson(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { approver, asker } = value as Partial<Record<keyof PersonWhileRunning, unknown>>;
  return [approver, asker].every((given) => given === undefined || typeof given === 'function');
}

function isMessage(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { text, model, provider } = value as Partial<Record<keyof BatchMessage, unknown>>;
  const isName = (name: unknown): boolean => name === undefined || typeof name === 'string';
  return typeof text === 'string' && isName(model) && isName(provider);
}

/**
 * Whether a call that was delivered before is answered from the record. This requires a conversation from the
 * caller.
 */
export function attaches({ conversation, again }: RunOptions): boolean {
  return conversation !== undefined && again !== true;
}

/** @throws ToolError `bad_args` if calls is not an array. */
export function checkCalls(calls: unknown): void {
  if (Array.isArray(calls)) return;
  throw new ToolError('bad_args', 'Cannot run calls: an array of { id, name, args } is expected.');
}

/** @param action the refused action: `run calls`. */
export function executorIsClosed(action: string): ToolError {
  return new ToolError('cancelled', `Cannot ${action}: the executor is closed. Create another one.`);
}

/** The error for a text that no result has as its `outputRef`. */
export function notAnOutput(outputRef: unknown): ToolError {
  const message = `Cannot read ${showGiven(outputRef)}: no result refers to such an output.`;
  return new ToolError('bad_args', message);
}

/** Whether the options ask for a preview, which commits no change. The options are not checked yet. */
export function isPreview(options: unknown): boolean {
  return isObject(options) && (options as RunOptions).dryRun === 'preview';
}

/** The error for a preview of a batch that is streamed or watched. */
export function onlyRun(): ToolError {
  return new ToolError('bad_args', "Cannot run calls: dryRun: 'preview' is for run() alone. Call preview().");
}

/** The error for adding to a batch that was already started or dropped. */
export function incomingIsOver(): ToolError {
  return new ToolError(
    'bad_args',
    'Cannot continue this batch: it was already started or dropped. Receive a new one.',
  );
}

const APPROVE_RULES: OptionRules<{ [K in keyof ApproveOptions]-?: ApproveOptions[K] | undefined }> = {
  ...RULES,
  shown: option(undefined, isShown, 'a list of { path, hash }'),
};

function isShown(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  return value.every((file: unknown) => {
    const { path, hash } = isObject(file) ? (file as Partial<Record<keyof ShownFile, unknown>>) : {};
    return typeof path === 'string' && typeof hash === 'string' && /^[0-9a-f]{64}$/i.test(hash);
  });
}

/** @throws ToolError `config_invalid`, which names the option and its allowed values. */
export function checkApproveOptions(options: ApproveOptions): void {
  checkOptions('options', options, APPROVE_RULES);
}

/** @throws ToolError if an approval could not run anything */
export function requireApprovable(
  batchId: string,
  { dryRun = false }: ApproveOptions,
  mode: ExecutorMode,
): void {
  if (dryRun !== false) {
    const message = `Cannot approve batch "${batchId}" as a dry run: what is approved runs. plan() says what its calls would do.`;
    throw new ToolError('bad_args', message);
  }
  if (mode === 'enabled') return;
  const message = `Cannot approve batch "${batchId}": nothing runs in mode ${mode}. It keeps waiting.`;
  throw new ToolError('tools_disabled', message);
}

const ASK_RULES: OptionRules<{ [K in keyof TicketOptions]-?: TicketOptions[K] | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
  agent: RULES.agent,
  signal: RULES.signal,
  askApprover: option(undefined, isBoolean, 'true or false'),
};

/** @throws ToolError `config_invalid`, which names the option and its allowed values. */
export function checkAskOptions(options: unknown): asserts options is TicketOptions {
  checkOptions('options', isObject(options) ? options : {}, ASK_RULES);
  if (isObject(options) && (options as Partial<TicketOptions>).conversation !== undefined) return;
  throw new ToolError(
    'config_invalid',
    'Cannot ask about a call: options.conversation is missing. A ticket is valid in one conversation.',
  );
}

/** @throws ToolError `config_invalid` for an option that arranges approval in another way. */
export function checkTicketOptions(options: RunOptions): void {
  const other = (['approver', 'defer', 'again', 'dryRun'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (other === undefined) return;
  const message = `Cannot run calls: options.ticket and options.${other} exclude each other.`;
  throw new ToolError('config_invalid', message);
}

/** @throws ToolError `config_invalid`, which names the option and its allowed values. */
export function checkRunOptions(options: RunOptions): void {
  checkOptions('options', options, RULES);
}
