import type { ToolCall } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import type { BatchMessage, CallRecord, JournalNote } from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';
import { madeUpIn } from '../call/calls.js';
import { attaches } from '../call/run-options.js';

/** The name under which the journal keeps a response that is coming in. */
export const RECEIVE = 'receive';

/** What is known of a response whose end never came. */
export interface ReceivedStream {
  /** Of the batch that it was to be. */
  readonly id: string;
  readonly conversation: string;
  readonly attach: boolean;
  /** Those that were whole, in order. */
  readonly calls: readonly ToolCall[];
  readonly message?: BatchMessage;
  /** The turn that their made-up ids belong to. Left out: the calls' own. */
  readonly turn?: string;
  readonly origin?: JsonObject;
}

/** Whether a record is not a call of a model, but the arriving of a response: people count their calls without it. */
export function isStreamRecord({ toolName, callId, disposition, batchId }: StreamLike): boolean {
  return toolName === RECEIVE && disposition === 'pre_resolved' && callId === streamCallId(batchId);
}

type StreamLike = Pick<CallRecord, 'toolName' | 'callId' | 'disposition' | 'batchId'>;

/** @param id of the batch that is recorded for the stream itself */
export function streamCallId(id: string): string {
  return `${RECEIVE}_${id}`;
}

export function toStreamArgs(batch: string, options: RunOptions): JsonObject {
  const { message, origin, turn } = options;
  const { text: _, ...by } = message ?? { text: '' };
  return {
    batch,
    attach: attaches(options),
    ...by,
    ...(turn === undefined ? {} : { turn }),
    ...(origin === undefined ? {} : { origin }),
  };
}

/** @throws ToolError `bad_args` for calls that are no plain data. */
export function toReceivedData(calls: readonly ToolCall[], said: string | undefined): JsonObject {
  try {
    const plain: JsonValue = JSON.parse(JSON.stringify(calls));
    return { calls: plain, ...(said === undefined ? {} : { said }) };
  } catch (cause) {
    throw new ToolError('bad_args', 'Cannot receive calls: they hold something that is no JSON.', { cause });
  }
}

/** Undefined for a call that is none of ours. */
export function readStream(record: CallRecord, notes: readonly JournalNote[]): ReceivedStream | undefined {
  const { batch: id, attach, model, provider, turn, origin } = record.args;
  const received = notes.filter(({ kind }) => kind === 'received');
  if (record.toolName !== RECEIVE || typeof id !== 'string' || received.length === 0) return undefined;
  const said = received.map(({ data }) => data.said).findLast((text) => typeof text === 'string');
  const by = {
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof provider === 'string' ? { provider } : {}),
  };
  return {
    id,
    conversation: record.conversation,
    attach: attach === true,
    calls: received.flatMap(({ data }) => (Array.isArray(data.calls) ? data.calls : [])).flatMap(toCall),
    ...(said === undefined && model === undefined ? {} : { message: { text: said ?? '', ...by } }),
    ...(typeof turn === 'string' ? { turn } : {}),
    ...(isJsonObject(origin) ? { origin } : {}),
  };
}

function toCall(value: JsonValue): readonly ToolCall[] {
  if (!isJsonObject(value)) return [];
  const { id, name, args, ...identity } = value;
  if (typeof id !== 'string' || typeof name !== 'string') return [];
  return [{ id, name, args: isJsonObject(args) ? args : {}, ...madeUpIn(identity) }];
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
