import { createHash, randomUUID } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type { ToolResult } from '../contract/call.js';
import type { Effect } from '../contract/effect.js';
import { type IntendedChange, MAX_KEPT_CONTENT_BYTES, type Sandbox } from '../contract/files.js';
import type { CallKey, CallRecord, Journal, Worker } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import type { Tool } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import type { OwnToolName } from '../executor/load-own-tool.js';
import {
  type NotedChange,
  type NotedIntent,
  type NotedState,
  noteIntent,
  readIntent,
  stateAfter,
  stateBefore,
  stateOf,
} from '../executor/record/noted-change.js';
import { entryStat } from '../platform/fs/fs-entry.js';
import type { FileChangeCall } from './map-tool.js';

/** A call of an agent that changes files. */
export interface ChangingCall {
  readonly id: string;
  /** The agent gives calls no ids: equal calls of a session share this id, and their order distinguishes them. */
  readonly isMadeUp: boolean;
  readonly session: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly reason: string;
  readonly isAsked: boolean;
  readonly changes: readonly FileChangeCall[];
}

export interface RecordWorld {
  readonly journal: Journal;
  readonly sandbox: Sandbox;
  readonly loadTool: (name: OwnToolName) => Promise<Tool>;
  /** The agent: while it lives, the call may be running. */
  readonly worker: Worker;
  readonly now: () => number;
}

/**
 * Keeps the files that an agent's tool is about to change, as our own tools do, so that `undo` can restore them. The
 * call stays open until the agent reports its end, or dies.
 * @throws ToolError `journal_unavailable`; then the call must not be let through
 */
export async function recordBegin(call: ChangingCall, world: RecordWorld): Promise<void> {
  const { journal, worker, now } = world;
  const changes = (await Promise.all(call.changes.map((one) => intendedBy(one, world)))).flat();
  const effects = changes.map(
    ({ path, after }): Effect => ({ kind: after === null ? 'delete' : 'write', path }),
  );
  const accepted = await journal.accept({
    id: `${now().toString(36).padStart(9, '0')}-${randomUUID().slice(0, 18)}`,
    conversation: call.session,
    attach: true,
    at: now(),
    worker,
    calls: [
      {
        callId: call.isMadeUp ? await nextId(call, world) : call.id,
        toolName: call.toolName,
        args: call.args,
        effects,
        disposition: call.isAsked ? 'requires_confirmation' : 'execute_now',
        reason: call.reason,
      },
    ],
  });
  const [answer] = accepted;
  if (answer === undefined || answer.kind === 'waits' || answer.kind === 'conflict')
    throw notAccepted(answer?.kind);
  // The same document again. The first one recorded the state before the call, unless its hook was killed before that.
  if (answer.kind === 'known' && (answer.record.state === 'done' || (await isNoted(answer.key, world))))
    return;
  await journal.claim(answer.key, worker, now());
  const made = [...new Set(changes.flatMap(({ path }) => missingAbove(path)))].sort();
  await noteIntent(
    journal,
    answer.key,
    { op: 'writeAll', changes, ...(made.length === 0 ? {} : { made }) },
    now(),
  );
  await journal.sync();
}

async function isNoted(key: CallKey, { journal }: RecordWorld): Promise<boolean> {
  return (await journal.notes(key)).some(({ kind }) => kind === 'intent');
}

/**
 * The id of a call that the agent does not identify. An equal call whose end was never reported counts as over; it is
 * unknown whether it ran.
 */
async function nextId({ id, session }: ChangingCall, world: RecordWorld): Promise<string> {
  const { open, next } = await equalCalls(session, id, world);
  if (open !== undefined)
    await finish(
      open,
      { success: undefined, why: 'The agent began an equal call before it reported an end.' },
      world,
    );
  return next;
}

/** The calls that an agent without ids has made with the same tool and input. */
async function equalCalls(
  session: string,
  id: string,
  { journal }: RecordWorld,
): Promise<{ readonly open: CallRecord | undefined; readonly next: string }> {
  for (let count = 1; ; count++) {
    const next = count === 1 ? id : `${id}_${count}`;
    const record = await journal.find(session, next);
    if (record === undefined) return { open: undefined, next };
    if (record.state !== 'done') return { open: record, next: `${id}_${count + 1}` };
  }
}

function notAccepted(kind: string | undefined): ToolError {
  const why =
    kind === 'conflict'
      ? 'a call with this id and other arguments is recorded'
      : 'an earlier call of this session waits for a decision: toolexec journal recover';
  return new ToolError('journal_unavailable', `The call cannot be recorded: ${why}.`, {
    details: { executed: 'no' },
  });
}

/** Records the end of a call. Does nothing if its beginning was not recorded. */
export async function recordEnd(
  {
    session,
    id,
    isMadeUp,
    error,
  }: Pick<ChangingCall, 'session' | 'id' | 'isMadeUp'> & { readonly error?: string },
  world: RecordWorld,
): Promise<void> {
  const record = isMadeUp
    ? (await equalCalls(session, id, world)).open
    : await world.journal.find(session, id);
  if (record === undefined || record.state === 'done') return;
  await finish(record, error === undefined ? { success: true } : { success: false, why: error }, world);
}

/** Ends the calls whose end the agent never reported, when its turn or session has ended. */
export async function closeOpen(session: string, world: RecordWorld): Promise<void> {
  for (const record of await world.journal.unfinished(session)) {
    if (record.worker?.id !== world.worker.id) continue;
    await finish(record, { success: undefined }, world);
  }
}

interface Ending {
  /** Undefined: the agent has not reported it. */
  readonly success: boolean | undefined;
  readonly why?: string;
}

async function finish(record: CallRecord, ending: Ending, world: RecordWorld): Promise<void> {
  const { journal, now } = world;
  const notes = await journal.notes(record.key);
  const intents = notes.flatMap(({ kind, data }) => (kind === 'intent' ? (readIntent(data) ?? []) : []));
  // If the call may never have run, the cause of an unexpected text is unknown.
  const changed =
    ending.why !== undefined && ending.success === undefined ? false : await correct(record, intents, world);
  await journal.finish(record.key, resultOf(record, ending, changed), now(), record.worker ?? 'queued');
  await journal.sync();
}

/**
 * Records the final contents of files if they differ from the predicted ones. @returns whether any of them
 * changed
 */
async function correct(
  { key }: CallRecord,
  intents: readonly NotedIntent[],
  { journal, sandbox, now }: RecordWorld,
): Promise<boolean> {
  let hasChanged = false;
  for (const { op, changes, made } of intents) {
    const others: NotedChange[] = [];
    for (const change of changes) {
      const state = stateAt(change.path, sandbox);
      if (state === stateBefore(change)) continue;
      hasChanged = true;
      if (state !== stateAfter(change, changes)) others.push({ ...change, after: state });
    }
    if (others.length > 0)
      await journal.note(key, {
        kind: 'intent',
        data: JSON.parse(JSON.stringify({ op, changes: others, made })),
        at: now(),
      });
  }
  return hasChanged;
}

function resultOf({ callId, toolName, startedAt }: CallRecord, ending: Ending, changed: boolean): ToolResult {
  const base = {
    callId,
    toolName,
    output: '',
    truncated: false,
    executionTimeMs: 0,
    metadata: { agent: true },
  };
  if (ending.success === true) return { ...base, success: true };
  if (ending.success === undefined && ending.why !== undefined) {
    const error = { code: 'outcome_unknown', message: ending.why, details: { executed: 'maybe' } } as const;
    return { ...base, success: false, error };
  }
  if (ending.success === false) {
    const details = { executed: changed ? 'yes' : 'no' };
    return {
      ...base,
      success: false,
      error: { code: 'execution_failed', message: ending.why ?? 'it failed', details },
    };
  }
  const [code, executed, message] = changed
    ? (['outcome_unknown', 'maybe', 'The agent did not report its end; its files have changed.'] as const)
    : (['cancelled', 'no', 'The agent did not report its end; its files are as they were.'] as const);
  return {
    ...base,
    success: false,
    error: { code, message, details: { executed } },
    executionTimeMs: startedAt === undefined ? 0 : base.executionTimeMs,
  };
}

/** The predicted contents of the files that a call would change, and their current contents. */
async function intendedBy(call: FileChangeCall, world: RecordWorld): Promise<readonly IntendedChange[]> {
  const foreseen = 'path' in call ? [{ path: call.path, bytes: undefined }] : await foresee(call, world);
  return Promise.all(foreseen.map(({ path, bytes }) => intended(path, bytes, world.sandbox)));
}

interface Foreseen {
  readonly path: string;
  /** Null: the file is removed. Undefined: its new content is unknown. */
  readonly bytes: Uint8Array | null | undefined;
}

async function foresee(
  { tool: name, args }: Exclude<FileChangeCall, { readonly path: string }>,
  { loadTool, sandbox }: RecordWorld,
): Promise<readonly Foreseen[]> {
  const tool = await loadTool(name);
  const at = { cwd: sandbox.cwd, files: sandbox.files, signal: new AbortController().signal };
  try {
    const changes = await tool.previewChanges?.(args, at);
    if (changes !== undefined && changes.length > 0)
      return changes.map(({ path, bytes }) => ({ path, bytes }));
  } catch {
    // Our tool would fail: the agent's may do something else.
  }
  return typeof args.path === 'string'
    ? [{ path: args.path, bytes: undefined }]
    : pathsIn(tool, args, sandbox);
}

/** From the effects that the tool declares. */
function pathsIn(tool: Tool, args: JsonObject, { cwd }: Sandbox): readonly Foreseen[] {
  const effects = tool.effects?.(args, { cwd }) ?? [];
  return effects.flatMap((effect) =>
    effect.kind === 'write' || effect.kind === 'delete' ? [{ path: effect.path, bytes: undefined }] : [],
  );
}

async function intended(asked: string, bytes: Foreseen['bytes'], sandbox: Sandbox): Promise<IntendedChange> {
  const path = sandbox.resolve(resolve(sandbox.cwd, asked), 'write');
  const stat = entryStat(path);
  const mode = stat?.isFile() === true ? stat.mode & 0o7777 : undefined;
  const isKept = mode !== undefined && largeState(path) === undefined;
  const content = isKept ? await sandbox.files.read(path) : undefined;
  // Of the content that is kept: another agent may be writing the file.
  const before = content === undefined ? stateAt(path, sandbox) : sha256(content);
  const after = bytes === undefined ? before : bytes === null ? null : sha256(bytes);
  return {
    path,
    before,
    after,
    ...(mode === undefined ? {} : { beforeMode: mode, afterMode: mode }),
    ...(content === undefined ? {} : { content }),
  };
}

function stateAt(path: string, sandbox: Sandbox): NotedState {
  return largeState(path) ?? stateOf(sandbox.examine(path));
}

/**
 * The state of a file whose content is too large to be kept; undefined for others. Its hash would be useless for an
 * undo, and can take longer than an agent waits for its hook.
 */
function largeState(path: string): string | undefined {
  const stat = entryStat(path);
  if (stat?.isFile() !== true || stat.size <= MAX_KEPT_CONTENT_BYTES) return undefined;
  return `large ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Directories that are created with a file, outermost first. */
function missingAbove(path: string): readonly string[] {
  const missing: string[] = [];
  for (let at = dirname(path); entryStat(at) === undefined && at !== dirname(at); at = dirname(at))
    missing.unshift(at);
  return missing;
}
