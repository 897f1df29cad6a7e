import type { ToolCall } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import type { BatchMessage, CallRecord, JournalNote } from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import { ToolError } from '../../errors/tool-error.js';
import { madeUpIn } from '../call/calls.js';
import { attaches } from '../call/run-options.js';

/** The tool name under which the journal records an arriving response. */
export const RECEIVE = 'receive';

/** The known parts of a response that was interrupted. */
export interface ReceivedStream {
  /** The id of the batch that the calls were to form. */
  readonly id: string;
  readonly conversation: string;
  readonly attach: boolean;
  /** The calls that arrived completely, in order. */
  readonly calls: readonly ToolCall[];
  readonly message?: BatchMessage;
  /** The turn of their made-up ids. If absent: each call's own turn. */
  readonly turn?: string;
  readonly origin?: JsonObject;
}

/**
 * Whether a record stands for an arriving response and not for a model's call. Counts of calls that people
 * see leave it out.
 */
export function isStreamRecord({ toolName, callId, disposition, batchId }: StreamLike): boolean {
  return toolName === RECEIVE && disposition === 'pre_resolved' && callId === streamCallId(batchId);
}

type StreamLike = Pick<CallRecord, 'toolName' | 'callId' | 'disposition' | 'batchId'>;

/** @param id the id of the batch that records the stream itself */
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

/** @throws ToolError `bad_args` for calls that are not plain data. */
export function toReceivedData(calls: readonly ToolCall[], said: string | undefined): JsonObject {
  try {
    const plain: JsonValue = JSON.parse(JSON.stringify(calls));
    return { calls: plain, ...(said === undefined ? {} : { said }) };
  } catch (cause) {
    throw new ToolError('bad_args', 'Cannot receive calls: they hold something that is not JSON.', { cause });
  }
}

/** Undefined if the record is not of an arriving response. */
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
