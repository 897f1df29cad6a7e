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
import { middlewarePanic, runMiddleware } from './run-middleware.js';
import { runTool } from './run-tool.js';
import { CallHandles, type CallParts, type HandlesOwner } from './tool-context.js';

/** How long a stopped tool may take to return what it has. */
const GRACE_MS = 50;
/** The same while its commands are being killed. */
const PROCESS_GRACE_MS = 2_500;
/** What middleware gets on top, to unwind. */
const UNWIND_MS = 100;

/**
 * One call from its start to its one result.
 *
 * 1. There is exactly one result, whatever the tool does: returns, throws, hangs, ignores its signal. The first ending
 *    counts; the tool's handles die with it.
 * 2. The step that answers cannot fail: a cache, a schema or a cleaner that breaks changes the result, not that there
 *    is one. Grace periods are measured by the system's own timers.
 * 3. Once there is a result, no timer of the execution is left.
 * 4. What the tool comes to after that is recorded as late and changes nothing.
 * 5. The call's time stands still while it waits for the person.
 */
export class Execution implements CallScope, HandlesOwner, Limited {
  dueAt = 0;
  readonly #parts: CallParts;
  readonly #handles: CallHandles;
  readonly #startedAt: number;
  #timeoutMs = 0;
  /** How often the call waits for the person now, and the time that was left when it began to. */
  #waits = 0;
  #leftMs = 0;
  #stop: Stop | undefined = undefined;
  #cache: CacheVisit | undefined = undefined;
  #hasStarted = false;
  /** Among the tools that run, and may replace what all code depends on. */
  #isCounted = false;
  /** The tool's own result, before middleware. */
  #own: ToolResult | undefined = undefined;
  #toolEnded: ((own: ToolResult | Promise<ToolResult>) => void) | undefined = undefined;
  #isAnswered = false;
  #clearGrace: (() => void) | undefined = undefined;
  #clearUnwind: (() => void) | undefined = undefined;
  /** Answers the call although its middleware has not come back. Undefined: there is none. */
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

  /** Runs the call; to be called once, and `end` when there is a result. Never rejects. */
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

  /** The call has its result. */
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

  /** Stops the call. It is answered after a short grace, whether its tool listens or not. */
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

  /** Its time is over. */
  over(): void {
    this.stop({ cause: 'timeout', timeoutMs: this.#timeoutMs });
  }

  /** An error of the tool that escaped through a timer or a floating promise. */
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

  /** The tool's own result: what it came to, or what cut it short. */
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

  /** Runs in the scope of the call, so that its errors find the way back here. */
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

  /** What a tool has replaced is put back; its own answer says so. */
  #lookForReplaced(putBack: () => string | undefined): void {
    const replaced = this.#isCounted ? putBack() : undefined;
    if (replaced !== undefined) this.#end(replacedPanic(replaced));
  }

  /** The tool has come to its end. The first one counts: what it does between that and the answer changes neither. */
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

  /** The tool has not waited for its commands, or they are being killed: they end before the call has its answer. */
  async #afterProcesses(own: ToolResult): Promise<ToolResult> {
    const idle = this.#handles.lease.idle();
    this.#abort(new Error('the call is answered'));
    const given = new Promise<void>((resolve) => {
      this.#clearGrace = systemClock.after(PROCESS_GRACE_MS, resolve);
    });
    await Promise.race([idle, given]);
    return own;
  }

  // The tool's own listeners run in here: what they throw is the tool's, and an answer that is there by then stays.
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
        resolve(this.#result(middlewarePanic(error, this.#executedSoFar())));
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
      // What the tool returned before it was stopped is kept; the error says that it was stopped.
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

/** The outcome of a tool that was stopped and never came back. */
const NOTHING_RETURNED: Outcome = Object.freeze({ text: '', truncatable: true });
