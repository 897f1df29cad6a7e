import type { ToolResult } from '../contract/call.js';
import type { RunOptions } from '../contract/executor.js';
import type { PlacedEffect } from '../effects/conflicts.js';
import { isToolError } from '../errors/tool-error.js';
import { hasIdentity } from '../journal/call-key.js';
import type { BatchScope } from './execute/batch-scope.js';
import { Deadlines } from './execute/deadlines.js';
import { Execution } from './execute/execution.js';
import { type Stop, stoppedBefore } from './execute/stop.js';
import { timeoutFor } from './execute/timeout-for.js';
import type { ReadyCall } from './plan/judged-call.js';
import { reasonOf } from './record/reason-of.js';
import type { Recorder } from './record/recorder.js';
import { refuseReady, UNRECORDED } from './record/refuse-ready.js';
import { failure, notRun } from './record/results.js';
import { attaches } from './run-options.js';

interface Lane {
  readonly scope: BatchScope;
  readonly options: RunOptions;
  readonly recorder: Recorder | undefined;
  /** Of the conversation: calls that the tools make in it themselves do not wait there. */
  readonly queue: object;
  /** Resolves when it is the turn of a call with these effects; undefined where it is already. */
  readonly turn: (effects: readonly PlacedEffect[]) => Promise<void> | undefined;
  /** Why the batch was told to stop, once it was. */
  readonly stop: () => Stop | undefined;
}

/**
 * Takes planned and approved calls from their turn in the queue to their answer: claimed, then executed. Holds what
 * runs now, so that it can be stopped.
 */
export class CallRunner {
  readonly #lane: Lane;
  #running: Execution[] = NONE_RUNNING;
  /** Made when a call is not answered at once. */
  #deadlines: Deadlines | undefined;
  #taken: Set<number> | undefined;

  constructor(lane: Lane) {
    this.#lane = lane;
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

  /** All calls have their answers. */
  end(): void {
    this.#deadlines?.end();
  }

  /**
   * Runs one call. Never throws or rejects. The fast path is here: it is the call's turn, and the claim is there at
   * once; the same steps, each waited for, are `#runSlowly`.
   */
  run(index: number, call: ReadyCall): ToolResult | Promise<ToolResult> {
    try {
      const turn = this.#lane.turn(call.effects);
      if (turn !== undefined) return this.#runSlowly(index, call, turn);
      const claimed = this.#claim(index, call);
      if (claimed instanceof Promise) return this.#runSlowly(index, call, claimed);
      return claimed ? this.#execute(index, call) : this.#takenElsewhere(index, call);
    } catch (error) {
      return unclaimable(call, error);
    }
  }

  /** @param pending the call's turn, which says nothing, or its claim. */
  async #runSlowly(index: number, call: ReadyCall, pending: Promise<unknown>): Promise<ToolResult> {
    try {
      const answer = await pending;
      if (answer === false) return this.#takenElsewhere(index, call);
      // The wait may have taken a while; what was cancelled meanwhile has not started.
      const stop = this.#lane.stop();
      if (stop !== undefined) return stoppedBefore(call.call, stop);
      if (answer === true) return await this.#execute(index, call);
      return await this.#runSlowly(index, call, Promise.resolve(this.#claim(index, call)));
    } catch (error) {
      return unclaimable(call, error);
    }
  }

  #claim(index: number, call: ReadyCall): boolean | Promise<boolean> {
    return this.#lane.recorder?.claim(index, call) ?? true;
  }

  #execute(index: number, ready: ReadyCall): ToolResult | Promise<ToolResult> {
    const { scope, recorder, queue } = this.#lane;
    let timeoutMs: number;
    try {
      timeoutMs = timeoutFor(ready, scope.settings);
    } catch (error) {
      const why = `${ready.call.name} cannot say how long it may take: ${reasonOf(error)}`;
      return notRun(ready.call, 'execution_failed', why);
    }
    scope.observer?.started(ready.call);
    const idempotencyKey = this.#idempotencyKey(index, ready);
    const execution = new Execution(
      { ready, index, scope, timeoutMs, idempotencyKey, recorder },
      queue,
      this.#ended,
    );
    // Not by push: an array that grows has room for seventeen, and most batches run one call at a time.
    if (this.#running.length === 0) this.#running = [execution];
    else this.#running.push(execution);
    const answer = execution.start();
    if (!(answer instanceof Promise)) return answer;
    this.#deadlines ??= new Deadlines(scope.settings.clock, () => this.#running);
    this.#deadlines.watch(execution);
    return answer;
  }

  readonly #ended = (execution: Execution): void => {
    if (this.#running.length === 1 && this.#running[0] === execution) this.#running = NONE_RUNNING;
    else this.#running = this.#running.filter((other) => other !== execution);
  };

  #idempotencyKey(index: number, { call }: ReadyCall): string {
    // Only where the caller has named it do ids mean the same call over repeated delivery.
    const { id, conversation } = this.#lane.scope;
    if (!attaches(this.#lane.options) || !hasIdentity(call)) return `${id}/${index}`;
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
