import type { FileIntent } from '../../contract/files.js';
import type { CallEntry, CallRecord, Journal } from '../../contract/journal.js';
import type { ToolResult } from '../../contract/result.js';
import { isToolError } from '../../errors/tool-error.js';
import { noteIntent } from '../record/note-intent.js';
import { reasonOf } from '../record/reason-of.js';
import { failure } from '../record/results.js';
import type { EngineSettings } from '../settings.js';
import { toUndoData, undoneBy } from './undo-note.js';

const TOOL_NAME = 'undo';

/** An undo as the journal keeps it: a batch of one call, in the conversation of the call that is undone. */
export class UndoRecord {
  private constructor(
    readonly callId: string,
    private readonly key: string,
    private readonly undone: CallRecord,
    private readonly journal: Journal,
    private readonly settings: EngineSettings,
  ) {}

  static async begin(
    undone: CallRecord,
    { paths, tidy }: { readonly paths: readonly string[]; readonly tidy: readonly string[] },
    journal: Journal,
    settings: EngineSettings,
  ): Promise<UndoRecord> {
    const id = settings.createId();
    const { worker, clock } = settings;
    const { conversation } = undone;
    const entry: CallEntry = {
      callId: `undo_${id}`,
      toolName: TOOL_NAME,
      args: { call_id: undone.callId, conversation },
      effects: paths.map((path) => ({ kind: 'write', path })),
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
    // Says that it is an undo, whatever tools there are by the time somebody has to settle it.
    const data = toUndoData({ of: undone.key, tidy });
    await Promise.all([
      journal.claim(answer.key, worker, at),
      journal.note(answer.key, { kind: 'undo', data, at }),
    ]);
    return new UndoRecord(entry.callId, answer.key, undone, journal, settings);
  }

  intend(intent: FileIntent): Promise<void> {
    return noteIntent(this.journal, this.key, intent, this.settings.clock.now());
  }

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
    await Promise.all([
      this.journal.finish(this.key, result, at),
      this.journal.note(this.undone.key, undoneBy(this.callId, at)),
    ]);
  }

  async failed(error: unknown): Promise<void> {
    const code = isToolError(error) ? error.code : 'execution_failed';
    const call = { id: this.callId, name: TOOL_NAME };
    // What was begun is taken back before it fails; where that fails too, nobody can say how far it came.
    const result = failure(call, code, reasonOf(error), code === 'stale_file' ? 'no' : 'maybe');
    await this.journal.finish(this.key, result, this.settings.clock.now());
  }
}
