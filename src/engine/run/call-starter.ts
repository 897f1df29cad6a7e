import type { ToolCall } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { ToolResult } from '../../contract/result.js';
import { isToolError } from '../../errors/tool-error.js';
import { hashArguments } from '../../schema/hash-arguments.js';
import type { ReadyCall } from '../plan/judged-call.js';
import { reasonOf } from '../record/reason-of.js';
import type { Recorder } from '../record/recorder.js';
import { failure, notRun } from '../record/results.js';
import type { BatchScope } from './batch-scope.js';
import type { CallOwner, CallParts, Stoppable } from './call-parts.js';
import { CallRun } from './call-run.js';
import { type Stop, stoppedOutcome } from './stop.js';
import { timeoutFor } from './timeout-for.js';

/** Starts the calls of a batch: checks what was approved, claims them in the journal, runs them, can stop them. */
export class CallStarter implements CallOwner {
  readonly #scope: BatchScope;
  readonly #recorder: Recorder | undefined;
  /** Only where the caller has named it: then ids mean the same call over repeated delivery. */
  readonly #conversation: string | undefined;
  #running: Stoppable[] = [];
  #approved: Map<number, string> | undefined;
  #stop: Stop | undefined;
  #taken: Set<number> | undefined;

  constructor(scope: BatchScope, recorder: Recorder | undefined, conversation: string | undefined) {
    this.#scope = scope;
    this.#recorder = recorder;
    this.#conversation = conversation;
  }

  /** Only exactly the arguments with this hash may run. */
  approve(index: number, argsHash: string): void {
    this.#approved ??= new Map();
    this.#approved.set(index, argsHash);
  }

  stop(stop: Stop): void {
    this.#stop ??= stop;
    for (const run of [...this.#running]) run.stop(stop);
  }

  start(index: number, ready: ReadyCall): ToolResult | Promise<ToolResult> {
    if (this.#stop !== undefined) return stoppedBefore(ready.call, this.#stop);
    const approved = this.#approved?.get(index);
    if (approved !== undefined && approved !== hashArguments(ready.call.args)) {
      return notRun(ready.call, 'user_denied', 'The arguments are not those that were approved.');
    }
    if (this.#recorder === undefined) return this.#run(index, ready);
    let claimed: boolean | Promise<boolean>;
    try {
      claimed = this.#recorder.claim(index, ready);
    } catch (error) {
      return unclaimable(ready, error);
    }
    if (!(claimed instanceof Promise)) return this.#runClaimed(index, ready, claimed);
    return claimed.then(
      (mine) => this.#runClaimed(index, ready, mine),
      (error: unknown) => unclaimable(ready, error),
    );
  }

  #runClaimed(index: number, ready: ReadyCall, mine: boolean): ToolResult | Promise<ToolResult> {
    if (!mine) {
      this.#taken ??= new Set();
      this.#taken.add(index);
      const message =
        'Another process has taken this call. What came of it is in the journal, or not known yet.';
      return failure(ready.call, 'outcome_unknown', message, 'maybe');
    }
    // The claim may have taken a while; what was cancelled meanwhile has not started.
    return this.#stop === undefined ? this.#run(index, ready) : stoppedBefore(ready.call, this.#stop);
  }

  /** Whether another process has it: then its answer is not ours to record. */
  isTaken(index: number): boolean {
    return this.#taken?.has(index) === true;
  }

  ended(run: Stoppable): void {
    const place = this.#running.indexOf(run);
    if (place !== -1) this.#running.splice(place, 1);
  }

  late({ index, ready }: CallParts, result: ToolResult): void {
    this.#recorder?.finish(index, ready.call, result);
  }

  get intend(): CallOwner['intend'] {
    const recorder = this.#recorder;
    return recorder === undefined ? undefined : ({ index }, intent) => recorder.intend(index, intent);
  }

  noteProcess({ index, ready }: CallParts, data: JsonObject): void {
    this.#recorder?.note(index, ready.call.id, 'process', data);
  }

  idempotencyKey({ index, ready: { call } }: CallParts): string {
    return this.#conversation === undefined
      ? `${this.#scope.id}/${index}`
      : `${this.#conversation}/${call.id}`;
  }

  #run(index: number, ready: ReadyCall): ToolResult | Promise<ToolResult> {
    let timeoutMs: number;
    try {
      timeoutMs = timeoutFor(ready, this.#scope.settings);
    } catch (error) {
      const why = `${ready.call.name} cannot say how long it may take: ${reasonOf(error)}`;
      return notRun(ready.call, 'execution_failed', why);
    }
    this.#scope.observer?.started(ready.call);
    const run = new CallRun({ ready, index, scope: this.#scope, timeoutMs, owner: this });
    // Not by push: an array that grows has room for seventeen, and most batches run one call at a time.
    if (this.#running.length === 0) this.#running = [run];
    else this.#running.push(run);
    return run.answer();
  }
}

/** How a call is answered that was stopped before it started. */
export function stoppedBefore(call: Pick<ToolCall, 'id' | 'name'>, stop: Stop): ToolResult {
  const { error } = stoppedOutcome(stop, call.name, 'no');
  return notRun(call, error.code, error.message, error.details);
}

function unclaimable(ready: ReadyCall, error: unknown): ToolResult {
  const why = isToolError(error) ? error.message : String(error);
  return notRun(ready.call, 'journal_unavailable', `Nothing was run: ${why}`);
}
