import type { ToolResult } from '../../contract/call.js';
import type { FileIntent } from '../../contract/files.js';
import type { CallEntry, CallRecord, Journal } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import { isToolError, ToolError } from '../../errors/tool-error.js';
import { failure, reasonOf } from '../answer/results.js';
import type { RecoverySettings } from '../call/settings.js';
import { noteIntent } from '../record/noted-change.js';
import type { UndoPlan } from './plan-undo.js';
import { toUndoData, undoneBy } from './undo-note.js';

const TOOL_NAME = 'undo';

/**
 * The journal did not keep the contents that it was asked to keep, because a journal in memory has little
 * room.
 */
export class NotKept extends Error {
  constructor(readonly paths: readonly string[]) {
    super('the journal has no room for the current content of the files');
  }
}

export interface UndoMeans {
  readonly journal: Journal;
  readonly settings: RecoverySettings;
}

/** The journal record of an undo: a batch of one call, in the conversation of the undone call. */
export class UndoRecord {
  private constructor(
    readonly callId: string,
    private readonly key: string,
    private readonly undone: CallRecord,
    private readonly parts: number,
    private readonly journal: Journal,
    private readonly settings: RecoverySettings,
  ) {}

  /**
   * @param files the plan, if the first part consists of files
   * @param parts how many parts are undone in turn
   */
  static async begin(
    undone: CallRecord,
    files: UndoPlan | undefined,
    parts: number,
    { journal, settings }: UndoMeans,
  ): Promise<UndoRecord> {
    const id = settings.createId();
    const { worker, clock } = settings;
    const { conversation } = undone;
    const entry: CallEntry = {
      callId: `undo_${id}`,
      toolName: TOOL_NAME,
      args: { call_id: undone.callId, conversation },
      effects: (files?.files ?? []).map(({ path }) => ({ kind: 'write', path })),
      disposition: 'execute_now',
      reason: `the person takes back ${undone.toolName}`,
    };
    const accepting = journal.accept({
      id,
      conversation,
      attach: false,
      at: clock.now(),
      worker,
      calls: [entry],
    });
    const [answer] = await accepting;
    if (answer === undefined) throw new Error('a batch of one call has one answer');
    const at = clock.now();
    const undo = new UndoRecord(entry.callId, answer.key, undone, parts, journal, settings);
    await Promise.all([journal.claim(answer.key, worker, at), undo.noteFiles(files)]);
    return undo;
  }

  /**
   * Notes the directories of the files that are restored next. The note also identifies the call as an undo, whatever
   * tools exist when it is recovered.
   */
  async noteFiles(plan: UndoPlan | undefined): Promise<void> {
    const { files = [], obstacles, clearsFirst = false, make = [], tidy = [], makes = [] } = plan ?? {};
    const last = clearsFirst ? files.find(({ path }) => obstacles?.has(path) !== true)?.path : undefined;
    const note = { of: this.undone.key, make, tidy, makes, parts: this.parts };
    const data = toUndoData(last === undefined ? note : { ...note, last });
    await this.journal.note(this.key, { kind: 'undo', data, at: this.settings.clock.now() });
  }

  /**
   * Resolves when all contents that will be replaced are stored and can be read back.
   * @throws NotKept otherwise
   */
  async intend(intent: FileIntent): Promise<void> {
    await noteIntent(this.journal, this.key, intent, this.settings.clock.now());
    const lost: string[] = [];
    for (const { path, before, content } of intent.changes) {
      if (before === null) continue;
      if (content === undefined || (await this.journal.kept(before)) === undefined) lost.push(path);
    }
    if (lost.length > 0) throw new NotKept(lost);
  }

  /** Resolves when the note about one part of the undo is on disk. */
  async note(data: JsonObject): Promise<void> {
    await this.journal.note(this.key, { kind: 'process', data, at: this.settings.clock.now() });
  }

  /**
   * @throws ToolError `journal_unavailable` (`details.executed`: yes) if the files are restored but the
   * result cannot be recorded.
   */
  async done(paths: readonly string[]): Promise<void> {
    const count = paths.length === 1 ? '1 file' : `${paths.length} files`;
    const result: ToolResult = {
      callId: this.callId,
      toolName: TOOL_NAME,
      success: true,
      output: `Put back ${count} of ${this.undone.toolName} (${this.undone.callId}).`,
      truncated: false,
      executionTimeMs: 0,
      metadata: { undone: this.undone.callId, restored: [...paths] },
    };
    const at = this.settings.clock.now();
    try {
      await Promise.all([
        this.journal.finish(this.key, result, at, this.settings.worker),
        this.journal.note(this.undone.key, undoneBy(this.callId, at)),
      ]);
    } catch (error) {
      throw new ToolError(
        'journal_unavailable',
        `Undid "${this.undone.callId}" (${count}), but cannot record that: ${reasonOf(error)}`,
        { details: { executed: 'yes', restored: [...paths], undoId: this.callId }, cause: error },
      );
    }
  }

  /** Records that no file was restored. If `error` names lost files, the outcome is recorded as uncertain. */
  async failed(error: unknown): Promise<void> {
    const code = isToolError(error) ? error.code : 'execution_failed';
    const isHalfDone = isToolError(error) && error.details.lost !== undefined;
    const call = { id: this.callId, name: TOOL_NAME };
    const result = failure(call, code, reasonOf(error), isHalfDone ? 'maybe' : 'no');
    try {
      await this.journal.finish(this.key, result, this.settings.clock.now(), this.settings.worker);
    } catch (cause) {
      this.settings.logger.warn(
        { callId: this.callId, why: reasonOf(cause) },
        'a failed undo was not recorded',
      );
    }
  }
}
