import type { ToolCall } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import type { ToolResult } from '../../contract/result.js';
import { isToolError } from '../../errors/tool-error.js';
import { hashArguments } from '../../schema/hash-arguments.js';
import type { ReadyCall } from '../plan/judged-call.js';
import { reasonOf } from '../record/reason-of.js';
import type { Recorder } from '../record/recorder.js';
import { failure, notRun } from '../record/results.js';
import { attaches } from '../run-options.js';
import type { Agreements } from './admission.js';
import type { BatchParts } from './batch-parts.js';
import type { CallOwner, CallParts } from './call-parts.js';
import { CallRun } from './call-run.js';
import { Deadlines, type Timed } from './deadlines.js';
import { type Stop, stoppedOutcome } from './stop.js';
import { timeoutFor } from './timeout-for.js';

/** Who is handed the answers that come later than `start` returns. */
export interface CallTaker {
  answered(index: number, result: ToolResult): void;
}

/** Starts the calls of a batch: checks what was approved, claims them in the journal, runs them, can stop them. */
export class CallStarter implements CallOwner, Agreements {
  readonly #parts: BatchParts;
  readonly #taker: CallTaker;
  #running: Timed[] = NONE_RUNNING;
  /** Made when a call is not answered at once. */
  #deadlines: Deadlines | undefined;
  #approved: Map<number, string> | undefined;
  #taken: Set<number> | undefined;

  constructor(parts: BatchParts, taker: CallTaker) {
    this.#parts = parts;
    this.#taker = taker;
  }

  /** Only exactly the arguments with this hash may run. */
  approve(index: number, argsHash: string): void {
    this.#approved ??= new Map();
    this.#approved.set(index, argsHash);
  }

  /** Tells what runs to end; what starts later looks at the switch. */
  stop(stop: Stop): void {
    for (const run of [...this.#running]) run.stop(stop);
  }

  /** All calls have their answers. */
  end(): void {
    this.#deadlines?.end();
  }

  /** The answer, where it is there at once; else the taker is handed it. */
  start(index: number, ready: ReadyCall): ToolResult | undefined {
    const { stopping, recorder } = this.#parts;
    if (stopping.stop !== undefined) return stoppedBefore(ready.call, stopping.stop);
    const approved = this.#approved?.get(index);
    if (approved !== undefined && approved !== hashArguments(ready.call.args)) {
      return notRun(ready.call, 'user_denied', 'The arguments are not those that were approved.');
    }
    if (recorder === undefined) return this.#run(index, ready);
    let claimed: boolean | Promise<boolean>;
    try {
      claimed = recorder.claim(index, ready);
    } catch (error) {
      return unclaimable(ready, error);
    }
    if (!(claimed instanceof Promise)) return this.#runClaimed(index, ready, claimed);
    claimed.then(
      (mine) => this.#goOn(recorder, index, ready, mine),
      (error: unknown) => {
        recorder.break(error);
        this.#taker.answered(index, unclaimable(ready, error));
      },
    );
    return undefined;
  }

  /** With the claim everything that was asked for earlier is on disk, or is known not to be. */
  #goOn(recorder: Recorder, index: number, ready: ReadyCall, mine: boolean): void {
    const { accepted } = recorder;
    if (accepted !== undefined) {
      void accepted.then(() => this.#goOn(recorder, index, ready, mine));
      return;
    }
    let result: ToolResult | undefined;
    try {
      recorder.requireWhole();
      result = this.#runClaimed(index, ready, mine);
    } catch (error) {
      result = unclaimable(ready, error);
    }
    if (result !== undefined) this.#taker.answered(index, result);
  }

  #runClaimed(index: number, ready: ReadyCall, mine: boolean): ToolResult | undefined {
    if (!mine) {
      this.#taken ??= new Set();
      this.#taken.add(index);
      const message =
        'Another process has taken this call. What came of it is in the journal, or not known yet.';
      return failure(ready.call, 'outcome_unknown', message, 'maybe');
    }
    // The claim may have taken a while; what was cancelled meanwhile has not started.
    const { stop } = this.#parts.stopping;
    return stop === undefined ? this.#run(index, ready) : stoppedBefore(ready.call, stop);
  }

  /** Whether another process has it: then its answer is not ours to record. */
  isTaken(index: number): boolean {
    return this.#taken?.has(index) === true;
  }

  ended(run: Timed, { index }: CallParts, late: ToolResult | undefined): void {
    if (this.#running.length === 1 && this.#running[0] === run) this.#running = NONE_RUNNING;
    else this.#running = this.#running.filter((other) => other !== run);
    if (late !== undefined) this.#taker.answered(index, late);
  }

  late({ index, ready }: CallParts, result: ToolResult): void {
    this.#parts.recorder?.finish(index, ready.call, result);
  }

  get intend(): CallOwner['intend'] {
    const { recorder } = this.#parts;
    return recorder === undefined ? undefined : ({ index }, intent) => recorder.intend(index, intent);
  }

  noteProcess({ index, ready }: CallParts, data: JsonObject): void {
    this.#parts.recorder?.note(index, ready.call.id, 'process', data);
  }

  idempotencyKey({ index, ready: { call } }: CallParts): string {
    // Only where the caller has named it do ids mean the same call over repeated delivery.
    const { options, scope } = this.#parts;
    if (!attaches(options)) return `${scope.id}/${index}`;
    // The first slash ends the conversation: else "a/b" and "c" would share a key with "a" and "b/c".
    const conversation = scope.conversation.replaceAll('%', '%25').replaceAll('/', '%2F');
    return `${conversation}/${call.id}`;
  }

  #run(index: number, ready: ReadyCall): ToolResult | undefined {
    const { scope } = this.#parts;
    let timeoutMs: number;
    try {
      timeoutMs = timeoutFor(ready, scope.settings);
    } catch (error) {
      const why = `${ready.call.name} cannot say how long it may take: ${reasonOf(error)}`;
      return notRun(ready.call, 'execution_failed', why);
    }
    scope.observer?.started(ready.call);
    const run = new CallRun({ ready, index, scope, timeoutMs, owner: this });
    // Not by push: an array that grows has room for seventeen, and most batches run one call at a time.
    if (this.#running.length === 0) this.#running = [run];
    else this.#running.push(run);
    const answer = run.start();
    if (answer === undefined) {
      this.#deadlines ??= new Deadlines(scope.settings.clock, () => this.#running);
      this.#deadlines.watch(run);
    }
    return answer;
  }
}

/** Never changed. */
const NONE_RUNNING: Timed[] = [];

/** How a call is answered that was stopped before it started. */
export function stoppedBefore(call: Pick<ToolCall, 'id' | 'name'>, stop: Stop): ToolResult {
  const { error } = stoppedOutcome(stop, call.name, 'no');
  return notRun(call, error.code, error.message, error.details);
}

function unclaimable(ready: ReadyCall, error: unknown): ToolResult {
  const why = isToolError(error) ? error.message : String(error);
  return notRun(ready.call, 'journal_unavailable', `Nothing was run: ${why}`);
}
