import type { CallRecord, JournalNote } from '../contract/journal.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { isSideEffecting } from '../effects/traits.js';
import { approvedArgs, describeRecorded, summarizeRecorded } from '../executor/approve/describe-recorded.js';
import type { JournalArchive } from '../journal/open-archive.js';
import { drawPage } from '../page/draw-page.js';
import type { PageBatch, PageCall, PageDetail, PageOutcome, PageQuestion } from '../page/page-data.js';
import { systemClock } from '../platform/clock/clock.js';
import { readFileBytes } from '../platform/fs/read-file-bytes.js';
import { outputInWords } from '../providers/content-words.js';
import type { CliContext } from './cli-context.js';
import { asTyped } from './display/as-typed.js';
import { outcomeOf } from './display/describe-call.js';
import { type RecordedBatch, readWhole } from './recorded-batches.js';
import { originsOf } from './recorded-origins.js';
import { writeOutputFile } from './write-output-file.js';

export interface RecordedPage {
  readonly title: string;
  /** One line. */
  readonly about: string;
  readonly batches: readonly PageBatch[];
}

/**
 * Writes recorded batches as an HTML page, and reports its place.
 * @param file `-` for standard output
 * @throws UsageError if it cannot be written
 */
export async function writeRecordedPage(
  file: string,
  page: RecordedPage,
  archive: JournalArchive,
  context: CliContext,
): Promise<void> {
  const text = await drawPage({ ...page, madeAt: systemClock.now() }, (batch, places) =>
    loadDetails(archive, batch, places),
  );
  await writeOutputFile(file, text, context.stdio);
}

/** The data for the page's lines; outputs are read when they are drawn. */
export function toPageBatch(batch: RecordedBatch): PageBatch {
  const { id, conversation, at, message, decisions } = batch;
  return {
    id,
    conversation,
    at,
    ...(message === undefined ? {} : { said: message.text }),
    ...(message?.model === undefined ? {} : { model: message.model }),
    decisions,
    calls: batch.calls.map((call) => toPageCall(call, call.place, batch)),
  };
}

function toPageCall(
  record: CallRecord & { readonly notes: readonly JournalNote[] },
  place: number,
  batch: RecordedBatch,
): PageCall {
  const { toolName, callId, effects, result, acceptedAt, finishedAt, disposition, reason, notes } = record;
  const outcome = pageOutcome(record, batch);
  const ranMs = result === undefined ? 0 : result.executionTimeMs;
  const hasRun = outcome !== 'not run' && outcome !== 'waits' && outcome !== 'queued';
  // The start of a reading call is not recorded.
  const startedAt = record.startedAt ?? (hasRun && finishedAt !== undefined ? finishedAt - ranMs : undefined);
  const hasSideEffects = isSideEffecting(effects);
  const asked = questionOf(notes, outcome);
  return {
    place,
    toolName,
    callId,
    ...summarizeRecorded(record, notes),
    outcome,
    ...(result?.error === undefined
      ? {}
      : { error: { code: result.error.code, message: result.error.message } }),
    hasSideEffects,
    isSparedByRule: hasSideEffects && disposition === 'execute_now' && RULE_ALLOWS.test(reason),
    ...(record.batchId === batch.id ? {} : { repeats: record.batchId }),
    acceptedAt,
    ...(asked === undefined ? {} : { asked }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ranMs,
  };
}

/** As in the policy's reasons. */
const RULE_ALLOWS = /^A rule allows it: /;

function pageOutcome(record: CallRecord, { decision }: RecordedBatch): PageOutcome {
  const outcome = outcomeOf(record);
  const waits = outcome === 'queued' && decision === 'wait' && record.disposition === 'requires_confirmation';
  return waits ? 'waits' : outcome;
}

/** Undefined if there was no question. */
function questionOf(notes: readonly JournalNote[], outcome: PageOutcome): PageQuestion | undefined {
  const decided = notes.findLast(({ kind }) => kind === 'approval');
  if (decided === undefined) {
    const isOpen = outcome === 'waits' || notes.some(({ kind }) => kind === 'asked');
    return isOpen ? { isInAdvance: false } : undefined;
  }
  const { approved, by, reason } = decided.data;
  return {
    isInAdvance: typeof by === 'string' && by.startsWith('--'),
    decision: {
      approved: approved === true,
      at: decided.at,
      ...(typeof by === 'string' ? { by } : {}),
      ...(typeof reason === 'string' ? { reason } : {}),
    },
  };
}

/** How much of a file is compared with a call's version. */
const MOST_BYTES = 1024 * 1024;

async function loadDetails(
  archive: JournalArchive,
  { id }: PageBatch,
  places: readonly number[],
): Promise<readonly PageDetail[]> {
  const batch = archive.batch(id);
  if (batch === undefined) return [];
  const { calls } = readWhole(archive, batch);
  const contents = {
    kept: (hash: string) => archive.kept(hash),
    now: (path: string) => readQuietly(path),
  };
  const details: PageDetail[] = [];
  for (const place of places) {
    const call = calls[place];
    if (call !== undefined) details.push(await toDetail(call, contents));
  }
  return details;
}

function readQuietly(path: string): Uint8Array | undefined {
  try {
    return readFileBytes(path, { maxBytes: MOST_BYTES, acceptPipes: false });
  } catch {
    return undefined;
  }
}

async function toDetail(
  call: CallRecord & { readonly notes: readonly JournalNote[] },
  contents: Parameters<typeof describeRecorded>[2],
): Promise<PageDetail> {
  const { args, effects, disposition, result, notes } = call;
  const approved = approvedArgs(notes);
  const undo = notes.findLast(({ kind, data }) => kind === 'undo' && typeof data.by === 'string');
  return {
    picture: await describeRecorded(call, notes, contents),
    args: approved ?? args,
    isEdited: approved !== undefined && JSON.stringify(approved) !== JSON.stringify(args),
    effects,
    disposition,
    origin: originsOf(result),
    ...(result?.error?.hint === undefined ? {} : { hint: asTyped(result.error.hint) }),
    output: result === undefined ? '' : outputInWords(result),
    truncated: result?.truncated === true,
    ...(result?.outputRef === undefined ? {} : { outputRef: result.outputRef }),
    changes: changesOf(result?.metadata.changes),
    ...moreOf(result?.metadata.changes),
    ...(undo === undefined ? {} : { undoneBy: String(undo.data.by) }),
  };
}

const CHANGES = ['created', 'modified', 'deleted', 'refused', 'conflicts'];

/** The changes in a command's result. */
function changesOf(value: JsonValue | undefined): PageDetail['changes'] {
  if (!isObject(value)) return [];
  return CHANGES.flatMap((kind) => {
    const listed = value[kind];
    const paths = Array.isArray(listed) ? listed.map(toPath).filter((path) => path !== '') : [];
    return paths.length === 0 ? [] : [{ kind, paths }];
  });
}

function moreOf(value: JsonValue | undefined): Pick<PageDetail, 'moreChanges'> {
  return isObject(value) && typeof value.more === 'number' ? { moreChanges: value.more } : {};
}

function toPath(entry: JsonValue): string {
  if (typeof entry === 'string') return entry;
  if (!isObject(entry) || typeof entry.path !== 'string') return '';
  return typeof entry.reason === 'string' ? `${entry.path} (${entry.reason})` : entry.path;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
