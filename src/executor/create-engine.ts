import type { Plan } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { ConversationMemory } from '../contract/context.js';
import type {
  ApproveOptions,
  BatchRun,
  Executor,
  IncomingBatch,
  RecoveredBatch,
  RunOptions,
  UndoOptions,
  UndoReport,
  WaitingBatch,
  WaitingOptions,
} from '../contract/executor.js';
import type { DecisionKind, Journal } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import { ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock.js';
import { type DeferredBatch, findDeferred } from './approve/find-deferred.js';
import { listWaiting } from './approve/list-waiting.js';
import { ConversationMemories } from './conversation-memories.js';
import { EventStream } from './events/event-stream.js';
import { Observer } from './events/observer.js';
import type { BatchScope } from './execute/batch-scope.js';
import { watchStrayErrors } from './execute/stray-errors.js';
import { recordedCall } from './hold-calls.js';
import { judgeBatch } from './plan/judge-batch.js';
import { toPlan } from './plan/to-plan.js';
import { ConversationQueue } from './queue.js';
import { IncomingCalls } from './receive/incoming-calls.js';
import { causeOf } from './record/results.js';
import { shieldLogger } from './record/shields.js';
import { unrecordedResultsOf } from './record/unrecorded-results.js';
import { decideBatch } from './recover/decide-batch.js';
import { Recovery } from './recover/recovery.js';
import { Batch, cancelled } from './run-batch.js';
import { checkApproveOptions, checkCalls, checkRunOptions, executorIsClosed } from './run-options.js';
import type { EngineSettings } from './settings.js';
import { undoCall } from './undo/undo-call.js';
import { checkUndoOptions } from './undo/undo-options.js';

/** The part of an executor that runs calls: loaded with the first of them. */
export interface Engine extends Omit<Executor, 'definitions' | 'cache'> {
  /** @param id of the batch; left out: a new one. */
  start(calls: readonly ToolCall[], options?: RunOptions, id?: string): BatchRun;
  receive(options?: RunOptions, id?: string): IncomingBatch;
}

/**
 * The engine over complete settings. Programs use `createExecutor`, which chooses them.
 * @param onClose closes what was opened for this engine alone.
 */
export function createEngine(settings: EngineSettings, onClose: () => Promise<void>): Engine {
  return new CallEngine(settings, onClose);
}

/** How long answers that could not be recorded are tried once more. */
const LAST_TRY_MS = 2_000;

async function closeRecords(journal: Journal): Promise<void> {
  const unrecorded = unrecordedResultsOf(journal);
  if (unrecorded.size === 0) return;
  let forget = (): void => {};
  const late = new Promise<void>((resolve) => {
    forget = systemClock.after(LAST_TRY_MS, resolve);
  });
  await Promise.race([unrecorded.flush(), late]);
  forget();
  unrecorded.end();
}

const NO_OPTIONS: RunOptions = Object.freeze({});

/** A batch that has its id already, and its calls where they were recorded before. */
type Known = Pick<DeferredBatch, 'id'> &
  Partial<Pick<DeferredBatch, 'calls'>> &
  Pick<ApproveOptions, 'shown'>;

class CallEngine implements Engine {
  readonly #settings: EngineSettings;
  readonly #onClose: () => Promise<void>;
  readonly #memories: ConversationMemories;
  readonly #ownMemory: ConversationMemory = new Map();
  /** The conversation of those who name none. */
  readonly #ownConversation: string;
  /** Of conversations in which calls run now. */
  readonly #queues = new Map<string, ConversationQueue>();
  readonly #ownQueue: ConversationQueue;
  readonly #active = new Set<Batch>();
  readonly #undoing = new Set<Promise<unknown>>();
  readonly #recovery: Recovery;
  #closing: Promise<void> | undefined;

  constructor(settings: EngineSettings, onClose: () => Promise<void>) {
    this.#settings = {
      ...settings,
      logger: shieldLogger(settings.logger),
    };
    this.#memories = new ConversationMemories(this.#settings);
    this.#onClose = onClose;
    this.#ownQueue = new ConversationQueue(settings.covers);
    this.#recovery = new Recovery(this.#settings);
    this.#ownConversation = `executor:${settings.createId()}`;
  }

  async plan(calls: readonly ToolCall[], options: RunOptions = NO_OPTIONS): Promise<Plan> {
    checkCalls(calls);
    checkRunOptions(options);
    return toPlan(await judgeBatch(calls, this.#settingsFor(options)));
  }

  run(calls: readonly ToolCall[], options: RunOptions = NO_OPTIONS): Promise<ToolResult[]> {
    try {
      return this.#begin(calls, options).results;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  start(calls: readonly ToolCall[], options: RunOptions = NO_OPTIONS, id?: string): BatchRun {
    return this.#watched(calls, options, id === undefined ? undefined : { id });
  }

  #watched(calls: readonly ToolCall[], options: RunOptions, known: Known | undefined): BatchRun {
    const stream = new EventStream();
    const observer = new Observer(stream, this.#settings.clock);
    const { id, batch, results } = this.#begin(calls, options, observer, known);
    const ended = results.finally(() => stream.end());
    return {
      id,
      events: stream,
      results: ended,
      cancel: (reason) => batch.stop(cancelled(reason)),
    };
  }

  receive(options: RunOptions = NO_OPTIONS, id = this.#settings.createId()): IncomingBatch {
    checkRunOptions(options);
    this.#requireOpen('receive calls');
    const settings = this.#settingsFor(options);
    return new IncomingCalls({
      id,
      settings,
      options,
      conversation: options.conversation ?? this.#ownConversation,
      ensureSettled: () => this.#recovery.ensure(),
      begin: (calls, spoken) => this.#watched(calls, spoken, { id }),
    });
  }

  async execute(name: string, args: JsonObject, options: RunOptions = NO_OPTIONS): Promise<ToolResult> {
    const id = `call_${this.#settings.createId()}`;
    const [result] = await this.run([{ id, name, args }], options);
    if (result === undefined) throw new Error('a batch of one call has one result');
    return result;
  }

  async invoke(name: string, args: JsonObject, options: RunOptions = NO_OPTIONS): Promise<string> {
    const result = await this.execute(name, args, options);
    const { success, output, error } = result;
    if (success) return output;
    const { hint, details } = error;
    throw new ToolError(error.code, error.message, {
      ...(hint === undefined ? {} : { hint }),
      details: { ...details, output },
      cause: causeOf(result),
    });
  }

  async approve(batchId: string, options: ApproveOptions = NO_OPTIONS): Promise<BatchRun> {
    checkApproveOptions(options);
    this.#requireOpen('approve a batch');
    if (options.dryRun === true) {
      const message = `Cannot approve batch "${batchId}" as a dry run: what is approved runs. plan() says what its calls would do.`;
      throw new ToolError('bad_args', message);
    }
    const { journal, mode } = this.#settings;
    if (mode !== 'enabled') {
      const message = `Cannot approve batch "${batchId}": nothing runs in mode ${mode}. It goes on waiting.`;
      throw new ToolError('tools_disabled', message);
    }
    const deferred = await findDeferred(journal, batchId);
    const calls = deferred.calls.map(recordedCall);
    const { conversation, attach } = deferred;
    // What was to run anew does so under keys of its own, also when it is approved.
    // A call keeps the turn that it was recorded with.
    const { shown, turn: _, ...rest } = options;
    const seen = shown === undefined ? deferred : { ...deferred, shown };
    return this.#watched(calls, { ...rest, conversation, again: !attach }, seen);
  }

  async recover(): Promise<readonly RecoveredBatch[]> {
    this.#requireOpen('recover');
    watchStrayErrors(this.#settings.onStrayError);
    return this.#recovery.run();
  }

  async waiting(options: WaitingOptions = {}): Promise<readonly WaitingBatch[]> {
    this.#requireOpen('list what waits');
    return listWaiting(options, this.#settings);
  }

  async decide(batchId: string, kind: Exclude<DecisionKind, 'wait'>): Promise<void> {
    this.#requireOpen('decide');
    await decideBatch(batchId, kind, this.#settings);
  }

  async undo(callId: string, options: UndoOptions = {}): Promise<UndoReport> {
    checkUndoOptions(options);
    this.#requireOpen('undo');
    const undoing = undoCall(callId, options, this.#settings, this.#recovery.ensure());
    this.#undoing.add(undoing);
    try {
      return await undoing;
    } finally {
      this.#undoing.delete(undoing);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #shutDown(): Promise<void> {
    const active = [...this.#active];
    for (const batch of active) batch.stop(cancelled('the executor was closed'));
    // A tool that closes its own executor may still be inside the batch's first turn.
    await Promise.resolve();
    await Promise.all(active.map((batch) => batch.results()));
    await Promise.allSettled(this.#undoing);
    const { journal } = this.#settings;
    if (journal !== null) await closeRecords(journal);
    await this.#onClose();
  }

  #settingsFor({ agent }: RunOptions): EngineSettings {
    return agent === undefined ? this.#settings : { ...this.#settings, agent };
  }

  #requireOpen(action: string): void {
    if (this.#closing !== undefined) throw executorIsClosed(action);
  }

  #begin(
    calls: readonly ToolCall[],
    options: RunOptions,
    observer?: Observer,
    known?: Known,
  ): { readonly id: string; readonly batch: Batch; readonly results: Promise<ToolResult[]> } {
    checkCalls(calls);
    if (options !== NO_OPTIONS) checkRunOptions(options);
    this.#requireOpen('run calls');
    watchStrayErrors(this.#settings.onStrayError);
    const conversation = options.conversation ?? this.#ownConversation;
    const scope: BatchScope = {
      id: known?.id ?? this.#settings.createId(),
      settings: this.#settingsFor(options),
      conversation,
      memory: conversation === this.#ownConversation ? this.#ownMemory : this.#memories.of(conversation),
      dryRun: options.dryRun === true,
      message: options.message,
      origin: options.origin,
      deferred: known?.calls && { calls: known.calls, shown: known.shown ?? [] },
      observer,
      capacityBytes: options.availableCapacityBytes ?? Number.POSITIVE_INFINITY,
    };
    const queue = this.#queueOf(conversation);
    const batch = new Batch([...calls], scope, options, {
      recovery: this.#recovery,
      queue,
      ended: this.#ended,
    });
    this.#active.add(batch);
    return { id: scope.id, batch, results: batch.results() };
  }

  readonly #ended = (batch: Batch, { conversation }: BatchScope): void => {
    this.#active.delete(batch);
    if (conversation === this.#ownConversation) return;
    if (this.#queues.get(conversation)?.isEmpty === true) this.#queues.delete(conversation);
  };

  #queueOf(conversation: string): ConversationQueue {
    if (conversation === this.#ownConversation) return this.#ownQueue;
    let queue = this.#queues.get(conversation);
    if (queue === undefined) {
      queue = new ConversationQueue(this.#settings.covers);
      this.#queues.set(conversation, queue);
    }
    return queue;
  }
}
