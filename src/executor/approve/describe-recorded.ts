import { hash } from 'node:crypto';
import type { ApprovalRequest } from '../../contract/approval.js';
import type { Containment, Effect } from '../../contract/effect.js';
import type { CallRecord, JournalNote } from '../../contract/journal.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { Picture, PicturePart } from '../../contract/picture.js';
import { describeEffects, isRisk, riskOfEffects, uncontained } from '../../effects/traits.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../../journal/redaction/left-out.js';
import { summarizeText } from '../../output/clean-output.js';
import { type NotedChange, readIntent } from '../record/noted-change.js';
import { commandPart } from './command-part.js';
import { describeRequest } from './describe-request.js';
import { textOf } from './picture-parts.js';

/** Finds the contents of files again. */
export interface RecordedContents {
  /** The content that the journal keeps under this hash. */
  kept(hash: string): Uint8Array | undefined;
  /** The current content of a file; undefined if it cannot be read. */
  now(path: string): Uint8Array | undefined;
}

/** The one-line summary of a recorded call. It is cheap, because it reads no file. */
export function summarizeRecorded(
  { toolName, effects }: Pick<CallRecord, 'toolName' | 'effects'>,
  notes: readonly JournalNote[],
): Pick<Picture, 'title' | 'risk'> {
  const { title, risk } = describeRequest(
    requestOf({ toolName, effects, callId: '', args: {}, reason: '' }, notes, []),
  );
  return { title, risk };
}

/**
 * Draws a recorded call as the picture that the person saw in the question: its command lines split into
 * simple commands, and the difference of each file, from the contents that the journal keeps. Never rejects.
 */
export async function describeRecorded(
  record: CallRecord,
  notes: readonly JournalNote[],
  contents: RecordedContents,
): Promise<Picture> {
  const args = approvedArgs(notes) ?? record.args;
  const parts: PicturePart[] = [];
  for (const effect of record.effects) {
    if (effect.kind === 'run') parts.push(await commandPart(effect));
    if (effect.kind === 'fetch') parts.push({ kind: 'url', url: effect.url });
  }
  for (const change of changesIn(notes)) {
    // Content that was left out of the record is not read from the file either.
    parts.push(hasLeftOut(args) ? leftOutPart(change) : changePart(change, args, contents));
  }
  if (parts.length === 0) parts.push({ kind: 'arguments', json: args });
  return describeRequest(requestOf({ ...record, args }, notes, parts));
}

function requestOf(
  {
    callId,
    toolName,
    args,
    effects,
    reason,
  }: Pick<CallRecord, 'callId' | 'toolName' | 'args' | 'effects' | 'reason'>,
  notes: readonly JournalNote[],
  parts: readonly PicturePart[],
): ApprovalRequest {
  const words = summarizeText(describeEffects(toolName, effects));
  // The title already begins with the name.
  const summary = words.startsWith(`${toolName}: `)
    ? words.slice(toolName.length + 2)
    : words.replace(`${toolName} (touches nothing)`, 'touches nothing');
  return { callId, toolName, summary, ...riskIn(notes, effects), args, effects, reason, shown: [], parts };
}

/**
 * The risk and containment of a recorded call: from the note that began its transaction, else from its
 * deferred question, else from its effects.
 */
function riskIn(
  notes: readonly JournalNote[],
  effects: readonly Effect[],
): Pick<ApprovalRequest, 'risk' | 'containment'> {
  const risk = riskOfEffects(effects);
  const begun = notes.findLast(({ kind, data }) => kind === 'process' && data.state === 'begun')?.data;
  if (begun !== undefined) {
    const network = begun.network !== false;
    const isContained = risk === 'high' && !network;
    return { risk: isContained ? 'medium' : risk, containment: { transaction: true, network, undo: true } };
  }
  const told = notes.findLast(({ kind }) => kind === 'asked')?.data;
  if (told !== undefined && isRisk(told.risk) && isContainment(told.containment)) {
    return { risk: told.risk, containment: told.containment };
  }
  const undo = notes.some(({ kind }) => kind === 'intent');
  return { risk, containment: { ...uncontained(effects), undo } };
}

function isContainment(value: JsonValue | undefined): value is { [K in keyof Containment]: boolean } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { transaction, network, undo } = value as JsonObject;
  return [transaction, network, undo].every((each) => typeof each === 'boolean');
}

/** The arguments that a person put in place of the model's. */
export function approvedArgs(notes: readonly JournalNote[]): JsonObject | undefined {
  const args = notes.findLast(({ kind, data }) => kind === 'approval' && data.approved === true)?.data.args;
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? (args as JsonObject) : undefined;
}

/** One change for each file: from its state before the call to its state after it. */
function changesIn(notes: readonly JournalNote[]): readonly NotedChange[] {
  const byPath = new Map<string, NotedChange>();
  for (const { kind, data } of notes) {
    for (const change of (kind === 'intent' ? readIntent(data) : undefined)?.changes ?? []) {
      const first = byPath.get(change.path);
      byPath.set(change.path, first === undefined ? change : { ...first, after: change.after });
    }
  }
  return [...byPath.values()].filter(({ before, after }) => before !== after);
}

function leftOutPart({ path }: NotedChange): PicturePart {
  return { kind: 'unshown', path, why: LEFT_OUT_OF_JOURNAL, bytesBefore: undefined, bytesAfter: undefined };
}

function changePart(
  { path, before, after, preimage, movedFrom }: NotedChange,
  args: JsonObject,
  contents: RecordedContents,
): PicturePart {
  const old = preimage === undefined ? undefined : contents.kept(preimage);
  const left = after === null ? undefined : find(after, path, args, contents);
  const sizes = { bytesBefore: old?.length, bytesAfter: left?.length };
  if ((before !== null && old === undefined) || (after !== null && left === undefined)) {
    return { kind: 'unshown', path, why: 'its content is not in the journal', ...sizes };
  }
  const [was, is] = [textOf(old), textOf(left)];
  if (was === false || is === false)
    return { kind: 'unshown', path, why: 'it is not text, or too large to be shown', ...sizes };
  if (was === undefined) return { kind: 'file', path, text: is ?? '' };
  return {
    kind: 'diff',
    path,
    before: was,
    after: is,
    ...(movedFrom === undefined ? {} : { from: movedFrom }),
  };
}

/** Finds content by its hash: in the journal, among the arguments, or in the current file. */
function find(
  sha256: string,
  path: string,
  args: JsonObject,
  contents: RecordedContents,
): Uint8Array | undefined {
  const kept = contents.kept(sha256);
  if (kept !== undefined) return kept;
  for (const text of texts(args)) {
    const bytes = Buffer.from(text, 'utf8');
    if (hash('sha256', bytes) === sha256) return bytes;
  }
  const now = contents.now(path);
  return now !== undefined && hash('sha256', now) === sha256 ? now : undefined;
}

function* texts(value: JsonValue | undefined): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) yield* texts(item);
}
