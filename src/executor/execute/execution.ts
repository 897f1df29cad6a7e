import type { Executed, ToolResult } from '../../contract/call.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import { ToolError } from '../../errors/tool-error.js';
import { systemClock } from '../../platform/clock/clock.js';
import type { Limited } from '../../platform/clock/time-limits.js';
import { afterFirstTurn, afterLaterTurn, beginTool, endTool } from '../../platform/runtime/intrinsics.js';
import { adoptResult, markFinal } from '../answer/adopt-result.js';
import { finalizeAnyway } from '../answer/finalize-anyway.js';
import { fromReturn, type Outcome } from '../answer/outcome.js';
import { notRun, reasonOf } from '../answer/results.js';
import { type Stop, stoppedOutcome } from '../answer/stopped.js';
import { fromThrow, panic, replacedPanic, stackOf } from '../answer/thrown.js';
import { timeoutFor } from '../call/timeout-for.js';
import { type CallScope, runInScope } from '../call/unhandled-errors.js';
import { type CacheVisit, visitCache } from './cached-reads.js';
import { middlewareThrew, runMiddleware } from './run-middleware.js';
import { runTool } from './run-tool.js';
import { CallHandles, type CallParts, type HandlesOwner } from './tool-context.js';

/** How long a stopped tool may take to return its output. */
const GRACE_MS = 50;
/** How long a stopped tool may take while its commands are being killed. */
const PROCESS_GRACE_MS = 2_500;
/** Additional time for middleware to unwind. */
const UNWIND_MS = 100;

/**
 * One call from its start to its only result.
 *
 * 1. There is exactly one result, whether the tool returns, throws, hangs or ignores its signal. The first
 *   end counts; after it, the tool's handles no longer work.
 * 2. Producing the result cannot fail: if a cache, a schema or the cleaning fails, the result is different,
 *   but there is one. Grace periods use the system's timers.
 * 3. After the result, no timer of the execution remains.
 * 4. An outcome that the tool produces after the result is recorded as late and changes nothing.
 * 5. The call's time limit pauses while the call waits for the person.
 */
export class Execution implements CallScope, HandlesOwner, Limited {
  dueAt = 0;
  readonly #parts: CallParts;
  readonly #handles: CallHandles;
  readonly #startedAt: number;
  #timeoutMs = 0;
  /** The number of current waits for the person, and the time that was left when the first one began. */
  #waits = 0;
  #leftMs = 0;
  #stop: Stop | undefined = undefined;
  #cache: CacheVisit | undefined = undefined;
  #hasStarted = false;
  /** The tool is counted among the running tools, which may replace built-ins that all code depends on. */
  #isCounted = false;
  /** The tool's own result, before middleware. */
  #own: ToolResult | undefined = undefined;
  #toolEnded: ((own: ToolResult | Promise<ToolResult>) => void) | undefined = undefined;
  #isAnswered = false;
  #clearGrace: (() => void) | undefined = undefined;
  #clearUnwind: (() => void) | undefined = undefined;
  /** Answers the call even if its middleware has not returned. Undefined: there is no middleware. */
  #giveUp: (() => void) | undefined = undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#handles = new CallHandles(parts, this);
    this.#startedAt = parts.scope.settings.clock.monotonic();
  }

  get queue(): object {
    return this.#parts.queue;
  }

  get effects(): readonly PlacedEffect[] {
    return this.#parts.ready.effects;
  }

  /** Runs the call. Call this once, and `end` when there is a result. Never rejects. */
  run(): Promise<ToolResult> {
    const { ready, scope, options } = this.#parts;
    const { timeLimits, middleware } = scope.settings;
    try {
      this.#timeoutMs = timeoutFor(ready, scope.settings, options);
    } catch (error) {
      const why = `${ready.call.name} cannot say how long it may take: ${reasonOf(error)}`;
      return Promise.resolve(notRun(ready.call, 'execution_failed', why));
    }
    scope.observer?.started(ready.call);
    timeLimits.start(this, this.#timeoutMs, this.#startedAt);
    return middleware.length === 0 ? this.#runTool() : this.#runMiddleware();
  }

  /** Ends the execution when the call has its result. */
  end(): void {
    this.#isAnswered = true;
    this.#parts.scope.settings.timeLimits.end(this);
    this.#clearGrace?.();
    this.#clearUnwind?.();
    if (this.#own === undefined) {
      this.#handles.close();
      this.#abort(new Error('the call is answered'));
    }
  }

  /** Stops the call. It is answered after a short grace period, even if its tool ignores the signal. */
  stop(stop: Stop): void {
    this.#lookForReplaced(afterLaterTurn);
    if (this.#isAnswered || this.#stop !== undefined) return;
    this.#stop = stop;
    const graceMs = this.#handles.lease.processes > 0 ? PROCESS_GRACE_MS : GRACE_MS;
    if (this.#own === undefined)
      this.#clearGrace = systemClock.after(graceMs, () => this.#end(NOTHING_RETURNED));
    if (this.#giveUp !== undefined) this.#clearUnwind = systemClock.after(graceMs + UNWIND_MS, this.#giveUp);
    const { error } = stoppedOutcome(stop, this.#parts.ready.call.name, 'maybe');
    this.#abort(new ToolError(error.code, error.message));
  }

  /** Stops the call because its time is over. */
  over(): void {
    this.stop({ cause: 'timeout', timeoutMs: this.#timeoutMs });
  }

  /** Handles an error of the tool that escaped through a timer or a floating promise. */
  unhandledError(error: unknown): void {
    this.#lookForReplaced(afterLaterTurn);
    this.#log('tool threw outside of its call', error);
    this.#end(panic(error));
  }

  async whilePaused<T>(wait: () => Promise<T>): Promise<T> {
    const { clock, timeLimits } = this.#parts.scope.settings;
    if (this.#waits++ === 0) {
      this.#leftMs = this.dueAt - clock.monotonic();
      timeLimits.end(this);
    }
    try {
      return await wait();
    } finally {
      if (--this.#waits === 0 && !this.#isAnswered) timeLimits.start(this, this.#leftMs);
    }
  }

  /** Returns the tool's own result: its outcome, or the reason why it was stopped. */
  #runTool(): Promise<ToolResult> {
    return new Promise((resolve) => {
      this.#cache = visitCache(this.#parts, (error) => this.#log('the cache failed', error));
      const { cached } = this.#cache;
      if (cached === undefined) {
        this.#toolEnded = resolve;
        this.#hasStarted = true;
        void runInScope(this, () => this.#callTool());
      } else {
        this.#handles.close();
        this.#own = cached;
        resolve(cached);
      }
    });
  }

  /** Runs the tool in the scope of the call, so that its unhandled errors reach this execution. */
  async #callTool(): Promise<void> {
    try {
      const value = await this.#takeFirstTurn();
      this.#leaveTool();
      const outcome = fromReturn(value, this.#parts.ready.tool);
      this.#end(outcome instanceof Promise ? await outcome : outcome);
    } catch (error) {
      this.#leaveTool();
      this.#log('tool threw', error);
      this.#end(fromThrow(error, this.#parts.ready.call.name));
    }
  }

  #takeFirstTurn(): unknown {
    beginTool();
    this.#isCounted = true;
    try {
      return runTool(this.#parts, this.#handles);
    } finally {
      this.#lookForReplaced(afterFirstTurn);
    }
  }

  #leaveTool(): void {
    this.#lookForReplaced(afterLaterTurn);
    if (this.#isCounted) endTool();
    this.#isCounted = false;
  }

  /** Restores built-ins that the tool has replaced, and makes the call fail with that reason. */
  #lookForReplaced(putBack: () => string | undefined): void {
    const replaced = this.#isCounted ? putBack() : undefined;
    if (replaced !== undefined) this.#end(replacedPanic(replaced));
  }

  /** Records the tool's outcome. Only the first outcome counts; a later one before the answer is ignored. */
  #end(outcome: Outcome): void {
    const { recorder, index, ready } = this.#parts;
    if (this.#isAnswered) {
      if (outcome !== NOTHING_RETURNED)
        void recorder?.finishLate(index, ready.call, this.#finalized(outcome));
    } else if (this.#own === undefined) {
      this.#clearGrace?.();
      this.#handles.close();
      this.#own = this.#result(outcome);
      this.#cache?.update(this.#own);
      const isBusy = this.#handles.lease.processes > 0;
      this.#toolEnded?.(isBusy ? this.#afterProcesses(this.#own) : this.#own);
    }
  }

  /**
   * Delays the answer until the call's commands have ended: the tool did not wait for them, or they are being
   * killed.
   */
  async #afterProcesses(own: ToolResult): Promise<ToolResult> {
    const idle = this.#handles.lease.idle();
    this.#abort(new Error('the call is answered'));
    const given = new Promise<void>((resolve) => {
      this.#clearGrace = systemClock.after(PROCESS_GRACE_MS, resolve);
    });
    await Promise.race([idle, given]);
    return own;
  }

  // The abort runs the tool's own listeners. An error in them counts as the tool's, and an existing answer stays.
  #abort(reason: Error): void {
    runInScope(this, () => this.#handles.abort(reason));
  }

  #runMiddleware(): Promise<ToolResult> {
    return new Promise((resolve) => {
      this.#giveUp = () => {
        const { output: text, metadata } = this.#own ?? { output: '', metadata: {} };
        resolve(this.#result({ ...NOTHING_RETURNED, text, metadata }));
      };
      const { ready, scope, queue } = this.#parts;
      runMiddleware({
        ready,
        scope,
        handles: this.#handles,
        inner: { queue },
        innermost: () => this.#runInnermost(),
        adopt: (answer) => this.#adopt(answer),
      }).then(resolve, (error: unknown) => {
        this.#log('middleware threw', error);
        resolve(this.#result(middlewareThrew(error, this.#executedSoFar())));
      });
    });
  }

  async #runInnermost(): Promise<ToolResult> {
    if (this.#stop !== undefined || this.#isAnswered) return markFinal(this.#result(NOTHING_RETURNED));
    return markFinal(await this.#runTool());
  }

  #adopt(result: unknown): ToolResult {
    if (this.#stop !== undefined && !this.#hasStarted) return this.#result(NOTHING_RETURNED);
    const { ready, scope } = this.#parts;
    return adoptResult(result, { ready, scope, executed: this.#executedSoFar(), own: this.#own });
  }

  #executedSoFar(): Executed {
    if (!this.#hasStarted) return 'no';
    return this.#own !== undefined && this.#stop === undefined ? 'yes' : 'maybe';
  }

  #result(outcome: Outcome): ToolResult {
    const { hasLeftNothing } = this.#handles;
    if (this.#stop !== undefined) {
      // The output that the tool returned before the stop is kept; the error reports the stop.
      const executed = this.#hasStarted && !hasLeftNothing ? 'maybe' : 'no';
      const { error } = stoppedOutcome(this.#stop, this.#parts.ready.call.name, executed);
      return this.#finalized({ ...outcome, error });
    }
    const { error } = outcome;
    if (error === undefined || !hasLeftNothing) return this.#finalized(outcome);
    return this.#finalized({ ...outcome, error: { ...error, executed: 'no' } });
  }

  #finalized(outcome: Outcome): ToolResult {
    const { ready, scope } = this.#parts;
    const elapsed = scope.settings.clock.monotonic() - this.#startedAt;
    return finalizeAnyway(outcome, ready, scope, elapsed, (error) => {
      this.#log('a result could not be cleaned', error);
    });
  }

  #log(what: string, error: unknown): void {
    const { call } = this.#parts.ready;
    const data = { callId: call.id, tool: call.name, stack: stackOf(error) };
    this.#parts.scope.settings.logger.warn(data, what);
  }
}

/** The outcome of a tool that was stopped and did not return. */
const NOTHING_RETURNED: Outcome = Object.freeze({ text: '', truncatable: true });
