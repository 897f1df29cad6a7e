import {
  isBoolean,
  isFilledText,
  normalizeOptions,
  type OptionRules,
  option,
} from '../../base/normalize-options.js';
import type { SkippedFile, UndoOptions, UndoReport } from '../../contract/executor.js';
import type { RestoredFile } from '../../contract/files.js';
import type { CallRecord, Journal } from '../../contract/journal.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import { hasLeftOut, LEFT_OUT_OF_JOURNAL } from '../../journal/redaction/left-out.js';
import { reasonOf } from '../answer/results.js';
import type { RecoverySettings } from '../call/settings.js';
import { type NotedIntent, readIntent } from '../record/noted-change.js';
import { planUndo, type UndoPlan } from './plan-undo.js';
import { NotKept, UndoRecord } from './undo-record.js';
import { type PlannedTransactionUndo, planTransactions, readTransactions } from './undo-transactions.js';

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
  const noted = await readIntents(record, journal);
  // The files may now hold text that was left out of the journal, and an undo would store the contents that
  // it replaces.
  const intents = hasLeftOut(record.args) ? [] : noted;
  const leftOut = noted.filter((intent) => !intents.includes(intent)).flatMap(({ changes }) => changes);
  const transactions = await readTransactions(record, journal);
  if (noted.length + transactions.length === 0) {
    throw refused(callId, 'it changed no files that were noted');
  }
  const sandbox = settings.sandbox.byCanonicalPath();
  const unkept = new Set<string>();
  const world = { sandbox, journal, unkept, contents: new Map<string, Uint8Array>() };
  for (let attempt = 1; ; attempt++) {
    const plan = await planUndo(intents, world);
    const undone = await planTransactions(transactions, settings.sandbox);
    const report = {
      callId,
      restored: [...plan.files.map(({ path }) => path), ...undone.flatMap(({ restored }) => restored)],
      skipped: [
        ...plan.skipped,
        ...[...new Set(leftOut.map(({ path }) => path))].map((path) => ({
          path,
          reason: LEFT_OUT_OF_JOURNAL,
        })),
        ...undone.flatMap(({ skipped }) => skipped),
      ],
    };
    const hasNothing = isEmpty(plan) && undone.every((one) => one.plan.changes.length === 0);
    if (dryRun || hasNothing) return report;
    try {
      const { undoId, failed } = await putBack(record, { plan, undone }, journal, settings);
      const lost = new Set(failed.map(({ path }) => path));
      return {
        ...report,
        restored: report.restored.filter((path) => !lost.has(path)),
        skipped: [...report.skipped, ...failed],
        undoId,
      };
    } catch (error) {
      if (error instanceof NotKept) for (const path of error.paths) unkept.add(path);
      else if (!isToolError(error, 'stale_file') || attempt >= MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Finds a call by its identity; if no turn is given, the newest call with this made-up id, started calls
 * first.
 */
async function findCall(
  callId: string,
  { conversation, turn }: UndoOptions,
  journal: Journal,
): Promise<CallRecord | undefined> {
  const named = await journal.find(conversation, callId, turn);
  if (named !== undefined || conversation === undefined || turn !== undefined) return named;
  let newest: CallRecord | undefined;
  for (const batch of await journal.batches({ conversation })) {
    const calls = await journal.batch(batch.id);
    const call = calls.findLast((each) => each.callId === callId && each.batchId === batch.id);
    if (call?.worker !== undefined) return call;
    newest ??= call;
  }
  return newest;
}

function isEmpty({ files, make, tidy }: UndoPlan): boolean {
  return files.length + make.length + tidy.length === 0;
}

async function readIntents({ key }: CallRecord, journal: Journal): Promise<readonly NotedIntent[]> {
  const notes = await journal.notes(key);
  return notes.flatMap(({ kind, data }) => {
    const intent = kind === 'intent' ? readIntent(data) : undefined;
    return intent === undefined ? [] : [intent];
  });
}

interface PutBack {
  readonly plan: UndoPlan;
  readonly undone: readonly PlannedTransactionUndo[];
}

/** @returns the id of the undo, and the files that could not be restored. */
async function putBack(
  record: CallRecord,
  { plan, undone }: PutBack,
  journal: Journal,
  settings: RecoverySettings,
): Promise<{ readonly undoId: string; readonly failed: readonly SkippedFile[] }> {
  const { files } = plan;
  const failed: SkippedFile[] = [];
  const undo = await UndoRecord.begin(record, plan, journal, settings);
  try {
    if (!isEmpty(plan)) await restoreFiles(plan, undo, { journal, settings });
    for (const one of undone) failed.push(...(await one.commit((data) => undo.note(data))));
  } catch (error) {
    await undo.failed(error);
    throw error;
  }
  const lost = new Set(failed.map(({ path }) => path));
  const restored = [...files.map(({ path }) => path), ...undone.flatMap((one) => one.restored)];
  await undo.done(restored.filter((path) => !lost.has(path)));
  return { undoId: undo.callId, failed };
}

interface UndoMeans {
  readonly journal: Journal;
  readonly settings: RecoverySettings;
}

/**
 * Removes files that are in the way first. If the other files cannot be restored, the removed ones are put
 * back.
 */
async function restoreFiles(plan: UndoPlan, undo: UndoRecord, means: UndoMeans): Promise<void> {
  const { files, obstacles, clearsFirst, make, tidy } = plan;
  const sandbox = means.settings.sandbox.byCanonicalPath();
  const intend = undo.intend.bind(undo);
  if (!clearsFirst) return sandbox.restore(files, { intend, make, tidy });
  const first = files.filter(({ path }) => obstacles.has(path));
  const modes = new Map(
    [...first.map(({ path }) => path), ...tidy].flatMap((path) => {
      const entry = sandbox.examine(path);
      return 'mode' in entry ? [[path, entry.mode] as const] : [];
    }),
  );
  await sandbox.restore(first, { intend, tidy });
  try {
    const rest = files.filter(({ path }) => !obstacles.has(path));
    await sandbox.restore(rest, { intend, make, tidy });
  } catch (error) {
    await bringBack(first, modes, means);
    throw error;
  }
}

/**
 * @throws ToolError `execution_failed` (`details.lost`) if the files cannot be put back; the journal keeps
 * their contents.
 */
async function bringBack(
  removed: readonly RestoredFile[],
  modes: ReadonlyMap<string, number>,
  { journal, settings }: UndoMeans,
): Promise<void> {
  const paths = removed.map(({ path }) => path);
  try {
    const files = await Promise.all(
      removed.map(async ({ path, expectedSha256 }) => {
        const bytes = expectedSha256 === null ? undefined : await journal.kept(expectedSha256);
        if (bytes === undefined) throw new Error(`the journal has forgotten ${quote(path)}`);
        const mode = modes.get(path);
        return { path, bytes, expectedSha256: null, ...(mode === undefined ? {} : { mode }) };
      }),
    );
    const make = [...modes].flatMap(([path, mode]) => (paths.includes(path) ? [] : [{ path, mode }]));
    await settings.sandbox.byCanonicalPath().restore(files, { make });
  } catch (cause) {
    const message = `Cannot put back ${paths.map(quote).join(', ')}: ${reasonOf(cause)}. Undo the call again.`;
    throw new ToolError('execution_failed', message, { details: { lost: paths }, cause });
  }
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
  dryRun: option(undefined, isBoolean, 'true or false'),
};
