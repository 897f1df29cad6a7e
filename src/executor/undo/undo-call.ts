import {
  isBoolean,
  isFilledText,
  normalizeOptions,
  type OptionRules,
  option,
} from '../../base/normalize-options.js';
import type { UndoOptions, UndoReport } from '../../contract/executor.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import { hasLeftOut } from '../../journal/redaction/left-out.js';
import { reasonOf } from '../answer/results.js';
import type { RecoverySettings } from '../call/settings.js';
import {
  mergeAtOnce,
  mergeInTurn,
  type PartReport,
  type PartWorld,
  type PlannedPart,
  planPart,
  readParts,
  type UndoPart,
} from './undo-parts.js';
import { NotKept, UndoRecord } from './undo-record.js';

/** How many attempts are made when files change during the undo. */
const MAX_ATTEMPTS = 5;

/**
 * Restores the files of a call to their state before it: all files that can be restored, or none. Files that
 * were changed since are left alone and reported. The undo is recorded as a call, so that it can be undone
 * too.
 * @param recovered resolves when calls of dead processes are recovered
 * @throws ToolError and no other error: `bad_args` for a call that is unknown, still runs, or changed no
 * files; `execution_failed` (`details.errno`) if the file system refuses; `journal_unavailable`.
 */
export async function undoCall(
  callId: string,
  options: UndoOptions,
  settings: RecoverySettings,
  recovered: Promise<void> | undefined,
): Promise<UndoReport> {
  try {
    await recovered;
    return await undo(callId, options, settings);
  } catch (error) {
    if (isToolError(error)) throw error;
    throw new ToolError('execution_failed', `Cannot undo ${quote(callId)}: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
}

async function undo(callId: string, options: UndoOptions, settings: RecoverySettings): Promise<UndoReport> {
  if (typeof callId !== 'string' || callId === '') {
    throw new ToolError('bad_args', 'Cannot undo: the id of a call is a text that is not empty.');
  }
  const { journal } = settings;
  const { dryRun = false } = options;
  if (journal === null) throw refused(callId, 'nothing is recorded (journal: false)');
  const record = await findCall(callId, options, journal);
  if (record === undefined) throw refused(callId, 'the journal has no such call');
  if (record.worker !== undefined && record.state === 'running') {
    throw refused(callId, 'it is still running. Wait for it, or cancel it');
  }
  const parts = readParts(await journal.notes(record.key));
  if (parts.length === 0) throw refused(callId, 'it changed no files that were noted');
  const leavesOut = hasLeftOut(record.args);
  const world = { settings, journal, leavesOut, unkept: new Set<string>(), contents: new Map() };
  for (let attempt = 1; ; attempt++) {
    const planned: PlannedPart[] = [];
    for (const part of parts) planned.push(await planPart(part, world));
    if (dryRun || planned.every(({ isEmpty }) => isEmpty)) return { callId, ...mergeAtOnce(planned) };
    try {
      return { callId, ...(await putBack(record, parts, planned, world)) };
    } catch (error) {
      if (error instanceof NotKept) for (const path of error.paths) world.unkept.add(path);
      else if (!isToolError(error, 'stale_file') || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Finds the newest started delivery of a call: with `again` it may have run more than once. If no turn is given, and no
 * call has the id from its provider, this is the newest call with this made-up id.
 */
async function findCall(
  callId: string,
  { conversation, turn, batchId }: UndoOptions,
  journal: Journal,
): Promise<CallRecord | undefined> {
  if (batchId !== undefined) return deliveredIn(batchId, callId, journal);
  const named = await journal.find(conversation, callId, turn);
  if (conversation === undefined || (named === undefined && turn !== undefined)) return named;
  let newest: CallRecord | undefined;
  for (const { id } of await journal.batches({ conversation })) {
    const call = await deliveredIn(id, callId, journal);
    if (call === undefined || (named !== undefined && call.turn !== named.turn)) continue;
    if (call.worker !== undefined) return call;
    newest ??= call;
  }
  return named ?? newest;
}

async function deliveredIn(
  batchId: string,
  callId: string,
  journal: Journal,
): Promise<CallRecord | undefined> {
  const calls = await journal.batch(batchId);
  return calls.findLast((each) => each.callId === callId && each.batchId === batchId);
}

/**
 * Undoes the parts in turn. Each part is planned when the later parts of the call are undone, because only then its
 * files are as it left them.
 * @param planned the plans of the parts before anything was undone
 * @throws the error of a part, if nothing was undone before it
 */
async function putBack(
  record: CallRecord,
  parts: readonly UndoPart[],
  planned: readonly PlannedPart[],
  world: PartWorld,
): Promise<Pick<UndoReport, 'restored' | 'skipped' | 'undoId'>> {
  const undo = await UndoRecord.begin(record, planned[0]?.files, parts.length, world);
  const reports: PartReport[] = [];
  for (const [index, part] of parts.entries()) {
    try {
      const now = index === 0 ? planned[0] : await planPart(part, world);
      if (now === undefined) continue;
      if (index > 0 && now.files !== undefined) await undo.noteFiles(now.files);
      reports.push(now.isEmpty ? now : await now.restore(undo));
    } catch (error) {
      if (reports.every(({ restored }) => restored.length === 0)) {
        await undo.failed(error);
        throw error;
      }
      const reason = reasonOf(error);
      reports.push({
        restored: [],
        skipped: (planned[index]?.paths ?? []).map((path) => ({ path, reason })),
      });
    }
  }
  const report = mergeInTurn(reports);
  await undo.done(report.restored);
  return { ...report, undoId: undo.callId };
}

function refused(callId: string, why: string): ToolError {
  return new ToolError('bad_args', `Cannot undo ${quote(callId)}: ${why}.`);
}

function quote(callId: unknown): string {
  return typeof callId === 'string' ? `"${callId}"` : 'a call';
}

/**
 * @throws ToolError `config_invalid`, which names the option and its allowed values: a mistyped `dryRun` must
 * not start a real undo.
 */
export function checkUndoOptions(options: UndoOptions): void {
  normalizeOptions('options', options, RULES);
}

const RULES: OptionRules<{ [K in keyof UndoOptions]-?: UndoOptions[K] | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
  turn: option(undefined, isFilledText, 'a text that is not empty'),
  batchId: option(undefined, isFilledText, 'a text that is not empty'),
  dryRun: option(undefined, isBoolean, 'true or false'),
};
