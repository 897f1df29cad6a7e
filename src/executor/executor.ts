import type { NarrowOptions } from '../contract/agent-runner.js';
import type { Plan } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { Transcript } from '../contract/conversation.js';
import type {
  ApproveOptions,
  BatchRun,
  DecideOptions,
  Executor,
  ExecutorMode,
  IncomingBatch,
  Preview,
  ReadOutputOptions,
  RunOptions,
  UndoOptions,
  UndoReport,
  WaitingOptions,
} from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import type { RecoveredBatch, WaitingBatch } from '../contract/open-batch.js';
import type { ResultCache } from '../contract/outputs.js';
import type { AskedTicket, TicketOptions } from '../contract/ticket.js';
import type { ToolDefinition } from '../contract/tool.js';
import { beginCalls, endCalls, keepLanguage, withLanguage } from '../platform/runtime/intrinsics.js';
import { outputOf } from './answer/results.js';
import { cancelled } from './answer/stopped.js';
import { askTicket } from './approve/ask-ticket.js';
import { resumeDeferred } from './approve/find-deferred.js';
import { listWaiting } from './approve/list-waiting.js';
import { picturePlan } from './approve/picture-parts.js';
import { NO_CACHE } from './cache/create-result-cache.js';
import type { BatchScope } from './call/batch-scope.js';
import { copyCalls, unchecked } from './call/calls.js';
import {
  checkApproveOptions,
  checkAskOptions,
  checkCalls,
  checkRunOptions,
  executorIsClosed,
  isPreview,
  onlyRun,
} from './call/run-options.js';
import type { ExecutorSettings } from './call/settings.js';
import { shieldLogger } from './call/shields.js';
import { watchUnhandledErrors } from './call/unhandled-errors.js';
import { closeAll, closeRecords, UnfinishedWork } from './closing.js';
import { Conversations } from './conversations.js';
import { narrowSettings, withRunOptions } from './declare/narrow-settings.js';
import { readDefinitions, shownDefinitions, showsDefinitions } from './declare/shown-definitions.js';
import { EventStream } from './events/event-stream.js';
import { Observer } from './events/observer.js';
import type { ExecutorParts, Known } from './executor-parts.js';
import { planBatch } from './plan/plan-batch.js';
import type { BatchPart } from './preview-calls.js';
import { ConversationQueue } from './queue.js';
import { IncomingCalls } from './receive/incoming-calls.js';
import { markClean, readOutput, withOrigins } from './record/conversation-origins.js';
import { decideWaiting, type WaitingDecision } from './recover/decide-batch.js';
import { Recovery } from './recover/recovery.js';
import { Batch } from './run-batch.js';
import { hasTicket, runWithTicket } from './run-with-ticket.js';
import { transcriptOf } from './transcript.js';
import { checkUndoOptions, undoCall } from './undo/undo-call.js';

const NO_OPTIONS: RunOptions = Object.freeze({});

/** An executor with complete settings. Programs use `createExecutor`, which chooses them. */
export class ToolExecutor implements Executor {
  readonly #settings: ExecutorSettings;
  readonly #parts: ExecutorParts;
  readonly #conversations: Conversations;
  /** The batches of this executor and of its parts. */
  readonly #active: Set<Batch>;
  readonly #unfinished: UnfinishedWork;
  readonly #recovery: Recovery;
  /** The executor that this one is a part of; it is closed together with that one. */
  readonly #whole: ToolExecutor | undefined;
  #checking: Promise<void> | undefined;
  /** The examples of rules have not been checked yet, or have failed. */
  #isUnchecked: boolean;
  #closing: Promise<void> | undefined;

  constructor(settings: Omit<ExecutorSettings, 'partOf'>, parts: ExecutorParts, whole?: ToolExecutor) {
    this.#settings = {
      ...settings,
      logger: shieldLogger(settings.logger),
      partOf: (part) => new ToolExecutor(part, { ...parts, agentTools: undefined }, whole ?? this),
    };
    this.#parts = parts;
    this.#whole = whole;
    const shown = (): readonly ToolDefinition[] => shownDefinitions(this.#settings, parts.definitions);
    showsDefinitions(this, settings.registry, shown);
    this.#isUnchecked = parts.checkExamples !== undefined;
    if (whole === undefined) {
      this.#conversations = new Conversations(this.#settings);
      this.#active = new Set();
      this.#unfinished = new UnfinishedWork();
      this.#recovery = new Recovery(this.#settings);
    } else {
      this.#conversations = whole.#conversations;
      this.#active = whole.#active;
      this.#unfinished = whole.#unfinished;
      this.#recovery = whole.#recovery;
    }
  }

  async plan(calls: readonly ToolCall<unknown>[], options: RunOptions = NO_OPTIONS): Promise<Plan> {
    checkCalls(calls);
    checkRunOptions(options);
    return withLanguage(async () => {
      const held = copyCalls(calls);
      const { memory, settings: own } = this.#scopeOf(options);
      if (this.#isUnchecked) await this.#check();
      return picturePlan(await planBatch(held, await withOrigins(own, memory)), own);
    });
  }

  async preview(calls: readonly ToolCall<unknown>[], options: RunOptions = NO_OPTIONS): Promise<Preview> {
    checkCalls(calls);
    checkRunOptions(options);
    this.#requireOpen('preview calls');
    const held = copyCalls(calls);
    if (this.#isUnchecked) await this.#check();
    const { previewCalls } = await import('./preview-calls.js');
    return withLanguage(() =>
      previewCalls({
        calls: held,
        options,
        settings: this.#settingsFor(options),
        memory: this.#conversations.memoryOf(options.conversation),
        run: (how, part) => this.#admit(held, how, undefined, undefined, part).results(),
      }),
    );
  }

  run(calls: readonly ToolCall<unknown>[], options: RunOptions = NO_OPTIONS): Promise<ToolResult[]> {
    try {
      if (hasTicket(options)) return this.#redeemed(calls, options).results.then((all) => [...all]);
      if (isPreview(options)) return this.#tryOut(calls, options);
      if (!this.#isUnchecked) return this.#admit(calls, options).results();
      return this.#admit(calls, options).resultsAfter(this.#check());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The results of a preview that is discarded. */
  async #tryOut(calls: readonly ToolCall<unknown>[], options: RunOptions): Promise<ToolResult[]> {
    await using preview = await this.preview(calls, options);
    return [...preview.results];
  }

  start(calls: readonly ToolCall<unknown>[], options: RunOptions = NO_OPTIONS): BatchRun {
    if (hasTicket(options)) return this.#redeemed(calls, options);
    return this.#watched(calls, options, undefined);
  }

  #redeemed(calls: readonly ToolCall<unknown>[], options: RunOptions): BatchRun {
    this.#requireOpen('run calls');
    return runWithTicket(calls, options, {
      id: this.#settings.createId(),
      settings: this.#settingsFor(options),
      scope: (how) => this.#scopeOf(how),
      reserve: () => this.#conversations.reserve(options.conversation),
      run: (held, how, known) => this.#watched(held, how, known),
    });
  }

  #watched(calls: readonly ToolCall<unknown>[], options: RunOptions, known: Known | undefined): BatchRun {
    const stream = new EventStream();
    const observer = new Observer(stream, this.#settings.clock);
    // Starts only after the caller has the batch: if the batch is cancelled immediately, nothing runs.
    const batch = this.#admit(calls, options, observer, known);
    const results = stream.endWith(batch.resultsAfter(this.#isUnchecked ? this.#check() : Promise.resolve()));
    beginCalls();
    // A caller that only reads the events receives the error there.
    results.then(endCalls, endCalls);
    return {
      id: batch.scope.id,
      events: stream,
      results,
      cancel: (reason) => batch.stop(cancelled(reason)),
    };
  }

  receive(options: RunOptions = NO_OPTIONS): IncomingBatch {
    checkRunOptions(options);
    this.#requireOpen('receive calls');
    const settings = this.#settingsFor(options);
    const id = settings.createId();
    return new IncomingCalls({
      id,
      settings,
      options,
      conversation: options.conversation ?? this.#conversations.own,
      ensureRecovered: () => this.#recovery.ensure(),
      begin: (calls, spoken) => this.#watched(calls, spoken, { id }),
    });
  }

  async execute(name: string, args: JsonObject, options: RunOptions = NO_OPTIONS): Promise<ToolResult> {
    const id = `call_${this.#settings.createId()}`;
    const result = (await this.run([{ id, name, args }], options))[0];
    if (result === undefined) throw new Error('a batch of one call has one result');
    return result;
  }

  async invoke(name: string, args: JsonObject, options: RunOptions = NO_OPTIONS): Promise<string> {
    return outputOf(await this.execute(name, args, options));
  }

  async approve(batchId: string, options: ApproveOptions = NO_OPTIONS): Promise<BatchRun> {
    checkApproveOptions(options);
    this.#requireOpen('approve a batch');
    const { calls, how, known } = await withLanguage(() => resumeDeferred(batchId, options, this.#settings));
    return this.#watched(calls, how, known);
  }

  /** Tries to run a recorded call as a worker of a fleet. The answer is `pending` if the call has to wait for a person. */
  take(call: ToolCall, taken: NonNullable<Known['taken']>, options: RunOptions): Promise<ToolResult[]> {
    return this.#admit([call], options, undefined, { id: taken.record.batchId, taken }).results();
  }

  /** Used by workers of a fleet. */
  get recovery(): Pick<Recovery, 'reap' | 'recoverLost'> {
    return this.#recovery;
  }

  definitions(): readonly ToolDefinition[] {
    // Frameworks modify the schemas that they receive, so they get copies.
    return structuredClone(readDefinitions(this)) as ToolDefinition[];
  }

  get mode(): ExecutorMode {
    return this.#settings.mode;
  }

  get limits(): { readonly maxToolIterationsPerUserTurn: number } {
    return this.#settings.limits;
  }

  transcript(conversation: string): Transcript {
    return transcriptOf(conversation, this.#settings);
  }

  narrow(options: NarrowOptions = {}): Executor {
    const { agentTools } = this.#parts;
    const adds = options?.agents !== undefined && agentTools !== undefined;
    const settings = adds
      ? { ...this.#settings, registry: agentTools(this.#settings.registry) }
      : this.#settings;
    const isChosen = adds || options?.tools !== undefined;
    const parts = {
      ...this.#parts,
      agentTools: isChosen ? undefined : agentTools,
      checkExamples: this.#isUnchecked ? this.#parts.checkExamples : undefined,
    };
    return new ToolExecutor(narrowSettings(settings, options), parts, this.#whole ?? this);
  }

  async readOutput(outputRef: string, options: ReadOutputOptions = {}): Promise<Uint8Array> {
    this.#requireOpen('read an output');
    return readOutput(outputRef, options ?? {}, this.#settings, (name) => this.#conversations.memoryOf(name));
  }

  async mark(conversation: string | undefined, state: 'clean'): Promise<void> {
    this.#requireOpen('mark a conversation');
    markClean(this.#conversations.memoryOf(conversation), state);
  }

  get cache(): ResultCache {
    return this.#settings.cache ?? NO_CACHE;
  }

  async recover(): Promise<readonly RecoveredBatch[]> {
    this.#requireOpen('recover');
    watchUnhandledErrors(this.#settings.onUnhandledError);
    return withLanguage(() => this.#recovery.run());
  }

  async waiting(options: WaitingOptions = {}): Promise<readonly WaitingBatch[]> {
    this.#requireOpen('list what waits');
    return withLanguage(() =>
      listWaiting(options, this.#settings, (name) => this.#conversations.memoryOf(name)),
    );
  }

  async ask(call: ToolCall<unknown>, options: TicketOptions): Promise<AskedTicket> {
    checkAskOptions(options);
    this.#requireOpen('ask about a call');
    const { signal: own, askApprover: asksApprover = false } = options;
    const closed = this.#unfinished.signal;
    // A combined signal stays registered at the executor's own one, and most questions have no signal.
    const signal = own === undefined ? closed : AbortSignal.any([own, closed]);
    const [held] = copyCalls([call]);
    if (this.#isUnchecked) await this.#check();
    const scope = this.#scopeOf(options);
    const parts = { scope, signal, asksApprover, recovery: this.#recovery };
    return this.#unfinished.add(withLanguage(() => askTicket(held as ToolCall, parts)));
  }

  async decide(batchId: string, decision: WaitingDecision, options: DecideOptions = {}): Promise<void> {
    this.#requireOpen('decide');
    await withLanguage(() => decideWaiting(batchId, decision, options, this.#settings));
  }

  async undo(callId: string, options: UndoOptions = {}): Promise<UndoReport> {
    checkUndoOptions(options);
    this.#requireOpen('undo');
    const undoing = withLanguage(() => undoCall(callId, options, this.#settings, this.#recovery.ensure()));
    return this.#unfinished.add(undoing);
  }

  close(): Promise<void> {
    // A part has opened nothing itself.
    this.#closing ??= this.#whole === undefined ? this.#shutDown() : this.#stopBatches();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #stopBatches(): Promise<void> {
    const active = [...this.#active].filter(({ owner }) => this.#whole === undefined || owner === this);
    for (const batch of active) batch.stop({ cause: 'closed' });
    // A tool that closes its own executor may still run in the first turn of the batch.
    await Promise.resolve();
    await Promise.all(active.map((batch) => batch.results()));
  }

  async #shutDown(): Promise<void> {
    await this.#stopBatches();
    await this.#unfinished.end();
    const { journal } = this.#settings;
    if (journal !== null) await closeRecords(journal);
    await closeAll(this.#parts.owned);
  }

  #settingsFor(options: RunOptions): ExecutorSettings {
    return withRunOptions(this.#settings, options);
  }

  #requireOpen(action: string): void {
    if (this.#closing !== undefined || (this.#whole ?? this).#closing !== undefined)
      throw executorIsClosed(action);
  }

  /** A batch that is in the queue of its conversation and has not started. */
  #admit(
    calls: readonly ToolCall<unknown>[],
    options: RunOptions,
    observer?: Observer,
    known?: Known,
    part?: BatchPart,
  ): Batch {
    keepLanguage();
    checkCalls(calls);
    if (options !== NO_OPTIONS) checkRunOptions(options);
    if (isPreview(options)) throw onlyRun();
    this.#requireOpen('run calls');
    watchUnhandledErrors(this.#settings.onUnhandledError);
    const scope = this.#scopeOf(options, known, observer, part);
    const shared = this.#conversations.queueOf(scope.conversation);
    const queue = part?.isApart === true ? new ConversationQueue(this.#settings.covers) : shared;
    const isLate = this.#isUnchecked || observer !== undefined;
    // The caller may change calls and options before a batch that starts later.
    const [own, asked] = isLate ? [copyCalls(calls), { ...options }] : [calls.map(unchecked), options];
    const batch = new Batch(own, scope, asked, {
      recovery: this.#recovery,
      queue,
      place: known?.place,
      owner: this,
      ended: this.#ended,
    });
    this.#active.add(batch);
    beginCalls();
    return batch;
  }

  #scopeOf(options: RunOptions, known?: Known, observer?: Observer, part?: BatchPart): BatchScope {
    return this.#conversations.scopeOf(this.#settingsFor(options), options, { known, observer, part });
  }

  async #check(): Promise<void> {
    this.#checking ??= this.#parts.checkExamples?.();
    await this.#checking;
    this.#isUnchecked = false;
  }

  readonly #ended = (batch: Batch, { conversation }: BatchScope): void => {
    this.#active.delete(batch);
    this.#conversations.left(conversation);
    endCalls();
  };
}
