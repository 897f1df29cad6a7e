import { AsyncResource } from 'node:async_hooks';
import type { ToolResult } from '../contract/call.js';
import type { RunOptions } from '../contract/executor.js';
import { isToolError } from '../errors/tool-error.js';
import { hasIdentity } from '../journal/records/call-key.js';
import { refuseReady, UNRECORDED } from './answer/refuse-ready.js';
import { failure, notRun, reasonOf } from './answer/results.js';
import type { BatchScope } from './call/batch-scope.js';
import type { ReadyCall } from './call/evaluated-call.js';
import { attaches } from './call/run-options.js';
import type { EngineSettings } from './call/settings.js';
import { Execution, type ExecutionOwner } from './execute/execution.js';
import { type Stop, stoppedBefore } from './execute/stop.js';
import type { ConversationQueue, QueuedBatch } from './queue.js';
import type { ClaimTaker, Recorder } from './record/recorder.js';

/** What a runner has to know of its batch. */
export interface RunningBatch extends QueuedBatch {
  readonly scope: BatchScope;
  readonly options: RunOptions;
  readonly recorder: Recorder | undefined;
  readonly queue: ConversationQueue;
  /** Why the batch was told to stop, once it was. */
  readonly stopReason: Stop | undefined;
  /** Takes the answer of a call that `run` has not answered at once. Never throws. */
  answered(index: number, answer: ToolResult): void;
}

/**
 * Takes planned and approved calls from their turn in the queue to their answer: claimed, then executed. Holds what
 * runs now, so that it can be stopped.
 */
export class CallRunner implements ExecutionOwner, ClaimTaker {
  readonly #batch: RunningBatch;
  #running: Execution[] = NONE_RUNNING;
  /** Of the batch: what goes on after an answer goes on in it, wherever the answer came from. */
  #context: AsyncResource | undefined = undefined;
  #taken: Set<number> | undefined = undefined;

  constructor(batch: RunningBatch) {
    this.#batch = batch;
  }

  get queue(): ConversationQueue {
    return this.#batch.queue;
  }

  get executing(): readonly Execution[] {
    return this.#running;
  }

  /** Whether another process has the call: then its answer is not ours to record. */
  isTaken(index: number): boolean {
    return this.#taken?.has(index) === true;
  }

  /** Tells what runs to end. */
  stop(stop: Stop): void {
    for (const execution of [...this.#running]) execution.stop(stop);
  }

  /**
   * Runs one call; undefined where its answer comes later, through `answered`. Never throws. The fast path is here: it
   * is the call's turn, and the claim is there at once.
   */
  run(index: number, call: ReadyCall): ToolResult | undefined {
    try {
      const turn = this.#batch.queue.turn(this.#batch, call.effects);
      if (turn === undefined) return this.#claim(index, call);
      void this.#runAfter(turn, index, call);
      return undefined;
    } catch (error) {
      return unclaimable(call, error);
    }
  }

  async #runAfter(turn: Promise<void>, index: number, call: ReadyCall): Promise<void> {
    try {
      await turn;
    } catch (error) {
      this.#batch.answered(index, unclaimable(call, error));
      return;
    }
    this.#resume(index, call, () => this.#claim(index, call));
  }

  #claim(index: number, call: ReadyCall): ToolResult | undefined {
    const { recorder } = this.#batch;
    const mine = recorder === undefined ? true : recorder.claim(index, call, this);
    if (mine !== undefined) return mine ? this.#execute(index, call) : this.#takenElsewhere(index, call);
    this.#context ??= new AsyncResource('toolexec');
    return undefined;
  }

  claimed(index: number, call: ReadyCall, mine: boolean): void {
    if (mine) this.#resume(index, call, () => this.#execute(index, call));
    else this.#batch.answered(index, this.#takenElsewhere(index, call));
  }

  claimFailed(index: number, call: ReadyCall, error: unknown): void {
    this.#answerInContext(index, unclaimable(call, error));
  }

  /** Goes on after a wait, which may have taken a while: what was cancelled meanwhile has not started. */
  #resume(index: number, call: ReadyCall, step: () => ToolResult | undefined): void {
    let answer: ToolResult | undefined;
    try {
      const stop = this.#batch.stopReason;
      answer = stop === undefined ? step() : stoppedBefore(call.call, stop);
    } catch (error) {
      answer = unclaimable(call, error);
    }
    if (answer !== undefined) this.#batch.answered(index, answer);
  }

  #execute(index: number, ready: ReadyCall): ToolResult | undefined {
    const { scope, recorder, options } = this.#batch;
    let timeoutMs: number;
    try {
      timeoutMs = timeoutFor(ready, scope.settings, options);
    } catch (error) {
      const why = `${ready.call.name} cannot say how long it may take: ${reasonOf(error)}`;
      return notRun(ready.call, 'execution_failed', why);
    }
    scope.observer?.started(ready.call);
    const execution = new Execution({ ready, index, scope, timeoutMs, recorder }, this);
    // Not by push: an array that grows has room for seventeen, and most batches run one call at a time.
    if (this.#running.length === 0) this.#running = [execution];
    else this.#running.push(execution);
    const answer = execution.start();
    if (answer !== undefined) return answer;
    this.#context ??= new AsyncResource('toolexec');
    if (!execution.isPaused) scope.settings.timeLimits.start(execution, timeoutMs, execution.startedAt);
    return undefined;
  }

  ended(execution: Execution, index: number, late: ToolResult | undefined): void {
    this.#batch.scope.settings.timeLimits.end(execution);
    if (this.#running.length === 1 && this.#running[0] === execution) this.#running = NONE_RUNNING;
    else this.#running = this.#running.filter((other) => other !== execution);
    if (late !== undefined) this.#answerInContext(index, late);
  }

  #answerInContext(index: number, answer: ToolResult): void {
    this.#context ??= new AsyncResource('toolexec');
    this.#context.runInAsyncScope(this.#batch.answered, this.#batch, index, answer);
  }

  paused(execution: Execution): void {
    this.#batch.scope.settings.timeLimits.end(execution);
  }

  resumed(execution: Execution, leftMs: number): void {
    if (this.#running.includes(execution)) this.#batch.scope.settings.timeLimits.start(execution, leftMs);
  }

  idempotencyKey(index: number, { call }: ReadyCall): string {
    // Only where the caller has named it do ids mean the same call over repeated delivery.
    const { id, conversation } = this.#batch.scope;
    if (!attaches(this.#batch.options) || !hasIdentity(call)) return `${id}/${index}`;
    // The first slash ends the conversation: else "a/b" and "c" would share a key with "a" and "b/c".
    const escaped = (text: string): string => text.replaceAll('%', '%25').replaceAll('/', '%2F');
    // No escaped conversation ends with "%", so that no id of a provider's own shares a key with a made-up one.
    const turn = call.madeUp === true ? `%/${escaped(call.turn ?? '')}` : '';
    return `${escaped(conversation)}${turn}/${call.id}`;
  }

  #takenElsewhere(index: number, { call }: ReadyCall): ToolResult {
    this.#taken ??= new Set();
    this.#taken.add(index);
    const message =
      'Another process has taken this call. What came of it is in the journal, or not known yet.';
    return failure(call, 'outcome_unknown', message, 'maybe');
  }
}

/** Never changed. */
const NONE_RUNNING: Execution[] = [];

function unclaimable(ready: ReadyCall, error: unknown): ToolResult {
  const why = isToolError(error) ? error.message : String(error);
  return refuseReady(ready, 'journal_unavailable', UNRECORDED, why).result;
}

/** The longest delay that timers can wait, in milliseconds (about 24.8 days). */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * F003: the caller's word for this run (E038) beats an argument or the tool's own value, that beats a class that the configuration
 * names, that beats the tool's default, that beats the class, that beats the general default (D053, D117, D118).
 */
function timeoutFor(
  { tool, parsed }: ReadyCall,
  { timeouts }: EngineSettings,
  { timeoutMs }: RunOptions,
): number {
  if (timeoutMs !== undefined) return Math.min(timeoutMs, LONGEST_MS);
  const own = typeof tool.timeoutMs === 'function' ? tool.timeoutMs(parsed) : tool.timeoutMs;
  const ofClass = timeouts[tool.timeoutClass];
  const chosen = usable(own) ?? (ofClass.explicit ? undefined : usable(tool.defaultTimeoutMs)) ?? ofClass.ms;
  return Math.min(chosen, LONGEST_MS);
}

function usable(ms: number | undefined): number | undefined {
  return ms !== undefined && ms > 0 ? ms : undefined;
}
