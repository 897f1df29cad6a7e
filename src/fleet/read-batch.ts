import { isObject, isTextList } from '../base/normalize-options.js';
import type { ApprovalDecision } from '../contract/approval.js';
import type { ToolCall } from '../contract/call.js';
import type { Placement } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { ToolError } from '../errors/tool-error.js';
import type { PlacedDecision } from '../executor/approve/decide-placed.js';

/** A submitted batch, checked. */
export interface GivenBatch {
  readonly calls: readonly Pick<ToolCall, 'id' | 'name' | 'args'>[];
  /** If absent: the batch gets a new conversation, and submitting it again creates a new batch. */
  readonly conversation?: string;
  readonly placement: Pick<Placement, 'labels' | 'root' | 'startDeadlineMs' | 'priority' | 'timeoutMs'>;
}

const MOST_CALLS = 256;
const MOST_CHARACTERS = 512;

/** The body of `POST /v1/batches`. @throws ToolError `bad_args`, `limit_exceeded` */
export function readBatch(body: unknown): GivenBatch {
  const given = fieldsOf(body, 'The body', ['calls', 'conversation', 'options']);
  const { calls, conversation, options = {} } = given;
  if (!Array.isArray(calls) || calls.length === 0) throw wrong('calls must be a list of at least one call.');
  if (calls.length > MOST_CALLS)
    throw new ToolError('limit_exceeded', `A batch has at most ${MOST_CALLS} calls, got ${calls.length}.`);
  if (conversation !== undefined && !isName(conversation))
    throw wrong(`conversation must be a text of 1 to ${MOST_CHARACTERS} characters.`);
  return {
    calls: calls.map(readCall),
    ...(conversation === undefined ? {} : { conversation }),
    placement: readOptions(options),
  };
}

function readCall(given: unknown, index: number): GivenBatch['calls'][number] {
  const at = `calls[${index}]`;
  const { id, name, args = {} } = fieldsOf(given, at, ['id', 'name', 'args', 'reason']);
  if (!isName(id)) throw wrong(`${at}.id must be a text of 1 to ${MOST_CHARACTERS} characters.`);
  if (!isName(name)) throw wrong(`${at}.name must be the name of a tool.`);
  if (!isPlain(args)) throw wrong(`${at}.args must be an object.`);
  return { id, name, args };
}

function readOptions(given: unknown): GivenBatch['placement'] {
  const names = ['labels', 'root', 'startDeadlineMs', 'priority', 'timeoutMs'];
  const options = fieldsOf(given, 'options', names);
  const { labels, root } = options;
  if (labels !== undefined && !isTextList(labels)) throw wrong('options.labels must be a list of labels.');
  if (root !== undefined && !isName(root)) throw wrong('options.root must be a path.');
  for (const [name, least] of [
    ['startDeadlineMs', 1],
    ['priority', 0],
    ['timeoutMs', 1],
  ] as const) {
    const value = options[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= least))
      throw wrong(`options.${name} must be a whole number from ${least}.`);
  }
  // Each call was checked above.
  return options as GivenBatch['placement'];
}

/** The body of `POST /v1/batches/ID/decision`. @throws ToolError `bad_args` */
export function readDecision(body: unknown): PlacedDecision & { readonly by?: string } {
  const names = ['kind', 'ids', 'edits', 'reasons', 'reason', 'hashes', 'by'];
  const { hashes, by, ...decision } = fieldsOf(body, 'The body', names);
  const { kind, ids, edits = {}, reasons = {}, reason } = decision;
  if (kind !== 'approve_all' && kind !== 'deny_all' && kind !== 'approve_selected')
    throw wrong('kind must be "approve_all", "deny_all" or "approve_selected".');
  if (kind === 'approve_selected' && !isTextList(ids)) throw wrong('ids must be a list of call ids.');
  if (kind !== 'approve_selected' && (ids ?? decision.edits ?? decision.reasons) !== undefined)
    throw wrong(`ids, edits and reasons belong to "approve_selected", not to ${JSON.stringify(kind)}.`);
  if (!isPlain(edits) || !Object.values(edits).every(isPlain))
    throw wrong('edits must be an object with arguments by call id.');
  if (!isPlain(reasons) || !Object.values(reasons).every(isText))
    throw wrong('reasons must be an object with texts by call id.');
  if (hashes !== undefined && (!isPlain(hashes) || !Object.values(hashes).every(isText)))
    throw wrong('hashes must be an object with a hash of arguments by call id.');
  if (reason !== undefined && !isText(reason)) throw wrong('reason must be a text.');
  if (by !== undefined && !isName(by))
    throw wrong(`by must be a text of 1 to ${MOST_CHARACTERS} characters.`);
  return {
    // Each was checked above.
    decision: decision as unknown as ApprovalDecision,
    ...(hashes === undefined ? {} : { hashes: hashes as Record<string, string> }),
    ...(by === undefined ? {} : { by }),
  };
}

/** The body of `POST /v1/batches/ID/cancel`, which may be empty. @throws ToolError `bad_args` */
export function readCancel(body: unknown): { readonly calls?: readonly string[]; readonly reason?: string } {
  const { calls, reason } = fieldsOf(body ?? {}, 'The body', ['calls', 'reason']);
  if (calls !== undefined && !isTextList(calls)) throw wrong('calls must be a list of call ids.');
  if (reason !== undefined && !isText(reason)) throw wrong('reason must be a text.');
  return {
    ...(calls === undefined ? {} : { calls: calls as readonly string[] }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function fieldsOf(given: unknown, at: string, names: readonly string[]): JsonObject {
  if (!isPlain(given)) throw wrong(`${at} must be an object.`);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return given;
  throw wrong(`${at} has the unknown field ${JSON.stringify(unknown)}. Known: ${names.join(', ')}.`);
}

function isPlain(value: unknown): value is JsonObject {
  return isObject(value) && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isName(value: unknown): value is string {
  return isText(value) && value !== '' && value.length <= MOST_CHARACTERS;
}

function wrong(message: string): ToolError {
  return new ToolError('bad_args', message);
}
