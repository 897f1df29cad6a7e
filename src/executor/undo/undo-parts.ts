import { AS_BEFORE, type SkippedFile } from '../../contract/executor.js';
import type { Journal, JournalNote } from '../../contract/journal.js';
import { LEFT_OUT_OF_JOURNAL } from '../../journal/redaction/left-out.js';
import type { RecoverySettings } from '../call/settings.js';
import { type NotedIntent, readIntent } from '../record/noted-change.js';
import { transactionsIn } from '../record/noted-transactions.js';
import { planUndo, type UndoPlan, type UndoWorld } from './plan-undo.js';
import { restoreFiles } from './restore-files.js';
import type { UndoRecord } from './undo-record.js';
import { planTransaction } from './undo-transactions.js';

/** A part of a call that is undone by itself: the transaction of a command, or the changes between two of them. */
export type UndoPart = { readonly intents: readonly NotedIntent[] } | { readonly directory: string };

/** The parts of a call that changed something, the last one first. */
export function readParts(notes: readonly JournalNote[]): readonly UndoPart[] {
  const kept = transactionsIn(notes).filter(({ state }) => state !== 'discarded');
  const directories = new Set<unknown>(kept.map(({ directory }) => directory));
  const parts: UndoPart[] = [];
  let intents: NotedIntent[] | undefined;
  for (const { kind, data } of notes) {
    const intent = kind === 'intent' ? readIntent(data) : undefined;
    if (intent !== undefined) {
      if (intents === undefined) {
        intents = [];
        parts.push({ intents });
      }
      intents.push(intent);
    } else if (kind === 'process' && directories.delete(data.transaction)) {
      parts.push({ directory: String(data.transaction) });
      intents = undefined;
    }
  }
  return parts.reverse();
}

/** The files that an undo restores, and those that stay. Paths are absolute. */
export interface PartReport {
  readonly restored: readonly string[];
  readonly skipped: readonly SkippedFile[];
}

export interface PlannedPart extends PartReport {
  /** Every path of the part. */
  readonly paths: readonly string[];
  /** Nothing can be restored. */
  readonly isEmpty: boolean;
  /** Undefined: the part is a transaction. */
  readonly files: UndoPlan | undefined;
  restore(undo: UndoRecord): Promise<PartReport>;
}

export interface PartWorld extends Omit<UndoWorld, 'sandbox'> {
  readonly journal: Journal;
  readonly settings: RecoverySettings;
  /** The call has arguments that the journal left out: its files stay. */
  readonly leavesOut: boolean;
}

/** Plans one part for the current state of its files. */
export async function planPart(part: UndoPart, world: PartWorld): Promise<PlannedPart> {
  const { settings, leavesOut } = world;
  if ('directory' in part) {
    const planned = await planTransaction(part.directory, settings.sandbox);
    return { ...planned, paths: pathsOf(planned), files: undefined };
  }
  const sandbox = settings.sandbox.byCanonicalPath();
  // The files may now hold text that was left out of the journal, and an undo would store the contents that it
  // replaces.
  const files = await planUndo(leavesOut ? [] : part.intents, { ...world, sandbox });
  const leftOut = leavesOut ? part.intents.flatMap(({ changes }) => changes.map(({ path }) => path)) : [];
  const report: PartReport = {
    restored: files.files.map(({ path }) => path),
    skipped: [
      ...files.skipped,
      ...[...new Set(leftOut)].map((path) => ({ path, reason: LEFT_OUT_OF_JOURNAL })),
    ],
  };
  return {
    ...report,
    paths: pathsOf(report),
    files,
    isEmpty: files.files.length + files.make.length + files.tidy.length === 0,
    async restore(undo) {
      await restoreFiles(files, undo, world);
      return report;
    },
  };
}

function pathsOf({ restored, skipped }: PartReport): readonly string[] {
  return [...restored, ...skipped.map(({ path }) => path)];
}

/** The report of parts that were planned together: an earlier part cannot know what a later one restores. */
export function mergeAtOnce(reports: readonly PartReport[]): PartReport {
  const restored = new Set(reports.flatMap((report) => report.restored));
  const skipped = new Map(reports.flatMap((report) => report.skipped.map((one) => [one.path, one])));
  return {
    restored: [...restored],
    skipped: [...skipped.values()].filter(({ path }) => !restored.has(path)),
  };
}

/** The report of parts that were undone in turn: the last one that names a path decides. */
export function mergeInTurn(reports: readonly PartReport[]): PartReport {
  const restored = new Set<string>();
  const skipped = new Map<string, SkippedFile>();
  for (const report of reports) {
    for (const path of report.restored) {
      restored.add(path);
      skipped.delete(path);
    }
    for (const one of report.skipped) {
      if (one.reason === AS_BEFORE && restored.has(one.path)) continue;
      restored.delete(one.path);
      skipped.set(one.path, one);
    }
  }
  return { restored: [...restored], skipped: [...skipped.values()] };
}
