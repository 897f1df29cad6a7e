import type { Executed, ToolResult } from '../../contract/call.js';
import type { MiddlewareContext } from '../../contract/context.js';
import type { PlacedEffect } from '../../effects/conflicts.js';
import { ToolError } from '../../errors/tool-error.js';
import { systemClock } from '../../platform/clock/clock.js';
import type { Limited } from '../../platform/clock/time-limits.js';
import { afterFirstTurn, afterLaterTurn, beginTool, endTool } from '../../platform/runtime/intrinsics.js';
import { adoptResult, markFinal } from '../answer/adopt-result.js';
import { finalizeAnyway } from '../answer/finalize-anyway.js';
import { fromReturn, type Outcome } from '../answer/outcome.js';
import { fromThrow, panic, replacedPanic, stackOf } from '../answer/thrown.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import { type CallScope, runInScope } from '../call/unhandled-errors.js';
import { type CacheVisit, forgetReads, visitCache } from './cached-reads.js';
import { middlewarePanic, runMiddleware } from './run-middleware.js';
import { abort, follow, isThenable, runTool } from './run-tool.js';
import { type Stop, stoppedOutcome } from './stop.js';
import type { CallParts, HandlesOwner } from './tool-context.js';
import { CallHandles } from './tool-context.js';

/** How long a tool may take to return what it has, once it was told to stop. */
const GRACE_MS = 50;
/** The same while its commands are being killed. */
const PROCESS_GRACE_MS = 2_500;
/** What middleware gets on top, to unwind. */
const UNWIND_MS = 100;

/** What has started a call. */
export interface ExecutionOwner {
  /** In which the call has its turn. */
  readonly queue: object;
  /** Made when a tool asks for it: most do not. */
  idempotencyKey(index: number, ready: ReadyCall): string;
  /** Called once. @param late the answer, unless `start` gives it. */
  ended(execution: Execution, index: number, late: ToolResult | undefined): void;
  /** Its time stands still. */
  paused(execution: Execution): void;
  /** It goes on. */
  resumed(execution: Execution, leftMs: number): void;
}

/**
 * One call from its start to its one answer.
 *
 * 1. There is exactly one answer, whatever the tool does: returns, throws, hangs, ignores its signal.
 * 2. The step that answers cannot fail: a cache, a schema or a cleaner that breaks changes the answer, not that there
 *    is one. Grace periods are measured by the system's own timers.
 * 3. Once answered, no timer of its own is left and every handle of the tool is dead.
 * 4. What the tool returns after the answer is recorded as late and changes nothing.
 */
export class Execution implements CallScope, HandlesOwner, Limited {
  place = -1;
  dueAt: number;
  readonly startedAt: number;
  readonly timeoutMs: number;
  readonly #owner: ExecutionOwner;
  readonly #parts: CallParts;
  readonly #handles: CallHandles;
  /** A person is waited for, so often at once; this much time was left. */
  #pause: { count: number; readonly leftMs: number } | undefined = undefined;
  /** `start` has returned without the answer. */
  #isLate = false;
  /** Takes the tool's result into the middleware; undefined where there is none. */
  #handIn: ((result: ToolResult) => void) | undefined = undefined;
  /** The tool's own result, before middleware. */
  #own: ToolResult | undefined = undefined;
  #clearGrace: (() => void) | undefined = undefined;
  #clearUnwind: (() => void) | undefined = undefined;
  #stop: Stop | undefined = undefined;
  #visit: CacheVisit | undefined = undefined;
  #toolStarted = false;
  /** Among the tools that run, for `endTool`. */
  #isCounted = false;
  #toolDone = false;
  #answer: ToolResult | undefined = undefined;

  constructor(parts: CallParts, owner: ExecutionOwner) {
    this.#parts = parts;
    this.#owner = owner;
    this.#handles = new CallHandles(parts, this);
    this.startedAt = parts.scope.settings.clock.monotonic();
    this.timeoutMs = parts.timeoutMs;
    this.dueAt = this.startedAt + parts.timeoutMs;
  }

  async whilePaused<T>(wait: () => Promise<T>): Promise<T> {
    const { clock } = this.#parts.scope.settings;
    const pause = this.#pause ?? { count: 0, leftMs: this.dueAt - clock.monotonic() };
    this.#pause = pause;
    if (pause.count++ === 0) this.#owner.paused(this);
    try {
      return await wait();
    } finally {
      if (--pause.count === 0) {
        this.#pause = undefined;
        this.#owner.resumed(this, pause.leftMs);
      }
    }
  }

  get isPaused(): boolean {
    return this.#pause !== undefined;
  }

  /** Its time is over. */
  over(): void {
    this.stop({ cause: 'timeout', timeoutMs: this.timeoutMs });
  }

  get queue(): object {
    return this.#owner.queue;
  }

  get idempotencyKey(): string {
    const { index, ready } = this.#parts;
    return this.#owner.idempotencyKey(index, ready);
  }

  get effects(): readonly PlacedEffect[] {
    return this.#parts.ready.effects;
  }

  /** Starts the call; to be called once. Undefined where the owner gets the answer later. Never throws. */
  start(): ToolResult | undefined {
    if (this.#parts.scope.settings.middleware.length === 0) this.#startTool();
    else this.#startMiddleware();
    this.#isLate = this.#answer === undefined;
    return this.#answer;
  }

  /** Tells the call to end. It is answered after a short grace, whether it listens or not. */
  stop(stop: Stop): void {
    this.#lookAgain();
    if (this.#answer !== undefined || this.#stop !== undefined) return;
    this.#stop = stop;
    const graceMs = this.#handles.lease.processes > 0 ? PROCESS_GRACE_MS : GRACE_MS;
    if (!this.#toolDone) {
      this.#clearGrace = systemClock.after(graceMs, () => this.#settle(NOTHING_RETURNED));
    }
    if (this.#parts.scope.settings.middleware.length > 0) {
      this.#clearUnwind = systemClock.after(graceMs + UNWIND_MS, () => this.#giveUpOnMiddleware());
    }
    const { error } = stoppedOutcome(stop, this.#parts.ready.call.name, 'maybe');
    this.#abort(new ToolError(error.code, error.message));
  }

  /** An error of the tool that escaped through a timer or a floating promise. */
  unhandledError(error: unknown): void {
    this.#lookAgain();
    this.#log('tool threw outside of its call', error);
    this.#settle(panic(error));
  }

  #startTool(): void {
    const cached = this.#visitCache();
    if (cached !== undefined) {
      this.#toolDone = true;
      this.#handles.close();
      this.#own = cached;
      this.#pass(cached);
      return;
    }
    this.#toolStarted = true;
    beginTool();
    this.#isCounted = true;
    try {
      const running: unknown = runInScope(this, runTool, this.#parts, this.#handles);
      this.#answerFor(afterFirstTurn());
      if (isThenable(running)) this.#follow(running);
      else this.#returned(running);
    } catch (error) {
      this.#answerFor(afterFirstTurn());
      this.#failed(error);
    }
  }

  /** What a tool has replaced is in its place again; its own answer says so. */
  #answerFor(replaced: string | undefined): void {
    if (replaced !== undefined) this.#settle(replacedPanic(replaced));
  }

  #lookAgain(): void {
    if (this.#isCounted) this.#answerFor(afterLaterTurn());
  }

  #endTool(): void {
    this.#lookAgain();
    if (this.#isCounted) endTool();
    this.#isCounted = false;
  }

  #follow(running: PromiseLike<unknown>): void {
    // A stranger's thenable may call back twice, or throw: a promise of our own does neither.
    const promise = running instanceof Promise ? running : runInScope(this, follow, running);
    promise.then(
      (value: unknown) => this.#returned(value),
      (error: unknown) => this.#failed(error),
    );
  }

  #returned(value: unknown): void {
    this.#endTool();
    try {
      const outcome = fromReturn(value, this.#parts.ready.tool);
      if (outcome instanceof Promise) void this.#settleAfter(outcome);
      else this.#settle(outcome);
    } catch (error) {
      this.#failed(error);
    }
  }

  async #settleAfter(checking: Promise<Outcome>): Promise<void> {
    try {
      this.#settle(await checking);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#endTool();
    this.#log('tool threw', error);
    this.#settle(fromThrow(error, this.#parts.ready.call.name));
  }

  /** The tool has come to its end; the first time counts. */
  #settle(outcome: Outcome): void {
    if (this.#answer !== undefined) {
      this.#toolDone = true;
      if (outcome !== NOTHING_RETURNED) this.#recordLate(outcome);
      return;
    }
    // Between the tool's end and the answer, what it does further changes neither.
    if (this.#toolDone) return;
    this.#toolDone = true;
    this.#clearGrace?.();
    this.#handles.close();
    const own = this.#result(outcome);
    this.#own = own;
    this.#updateCache(own);
    if (this.#handles.lease.processes > 0) this.#endProcesses(own);
    else this.#pass(own);
  }

  #recordLate(outcome: Outcome): void {
    const { recorder, index, ready } = this.#parts;
    recorder?.finish(index, ready.call, this.#finalized(outcome), undefined);
  }

  // The tool has not waited for its commands, or they are being killed: they end before the call has its answer.
  #endProcesses(own: ToolResult): void {
    this.#clearGrace = systemClock.after(PROCESS_GRACE_MS, () => this.#pass(own));
    void this.#handles.lease.idle().then(() => this.#pass(own));
    this.#abort(new Error('the call is answered'));
  }

  #pass(own: ToolResult): void {
    this.#clearGrace?.();
    if (this.#parts.scope.settings.middleware.length === 0) this.#finish(own);
    else this.#handIn?.(own);
  }

  #finish(result: ToolResult): void {
    if (this.#answer !== undefined) return;
    this.#answer = result;
    this.#clearGrace?.();
    this.#clearUnwind?.();
    if (!this.#toolDone) {
      this.#handles.close();
      this.#abort(new Error('the call is answered'));
    }
    this.#owner.ended(this, this.#parts.index, this.#isLate ? result : undefined);
  }

  #startMiddleware(): void {
    const { ready, scope } = this.#parts;
    const { middleware, logger } = scope.settings;
    const handles = this.#handles;
    const context: MiddlewareContext = {
      conversation: scope.conversation,
      effects: ready.declared,
      risk: ready.risk,
      get signal() {
        return handles.signal;
      },
      dryRun: scope.dryRun,
      logger,
    };
    const run = runMiddleware({
      middleware,
      call: ready.call,
      context,
      inner: { queue: this.queue },
      innermost: () => this.#toolResult(),
      adopt: (answer) => this.#adopt(answer),
    });
    run.then(
      (result) => this.#finish(result),
      (error: unknown) => {
        this.#log('middleware threw', error);
        this.#finish(this.#result(middlewarePanic(error, this.#executedSoFar())));
      },
    );
  }

  #toolResult(): Promise<ToolResult> {
    return new Promise((resolve) => {
      this.#handIn = (result) => resolve(markFinal(result));
      if (this.#stop === undefined && this.#answer === undefined) this.#startTool();
      else this.#settle(NOTHING_RETURNED);
    });
  }

  #giveUpOnMiddleware(): void {
    const { output: text, metadata } = this.#own ?? NOTHING_SAID;
    this.#finish(this.#result({ ...NOTHING_RETURNED, text, metadata }));
  }

  #adopt(result: unknown): ToolResult {
    if (this.#stop !== undefined && !this.#toolStarted) return this.#result(NOTHING_RETURNED);
    const { ready, scope } = this.#parts;
    return adoptResult(result, { ready, scope, executed: this.#executedSoFar(), own: this.#own });
  }

  #executedSoFar(): Executed {
    if (!this.#toolStarted) return 'no';
    return this.#toolDone && this.#stop === undefined ? 'yes' : 'maybe';
  }

  #result(outcome: Outcome): ToolResult {
    if (this.#stop !== undefined) return this.#finalized(this.#stopped(this.#stop, outcome));
    const { error } = outcome;
    return this.#finalized(
      error !== undefined && this.#handles.hasLeftNothing
        ? { ...outcome, error: { ...error, executed: 'no' } }
        : outcome,
    );
  }

  // What the tool returned before it was stopped is kept; the error says that it was stopped.
  #stopped(stop: Stop, outcome: Outcome): Outcome {
    const mayHave = this.#toolStarted && !this.#handles.hasLeftNothing;
    const { error } = stoppedOutcome(stop, this.#parts.ready.call.name, mayHave ? 'maybe' : 'no');
    return { ...outcome, error };
  }

  #finalized(outcome: Outcome): ToolResult {
    const { ready, scope } = this.#parts;
    const elapsed = scope.settings.clock.monotonic() - this.startedAt;
    return finalizeAnyway(outcome, ready, scope, elapsed, (error) => {
      this.#log('a result could not be cleaned', error);
    });
  }

  #visitCache(): ToolResult | undefined {
    const { cache } = this.#parts.scope.settings;
    if (cache === null) return undefined;
    try {
      this.#visit = visitCache(cache, this.#parts);
      return this.#visit?.cached;
    } catch (error) {
      this.#logCache(error);
      return undefined;
    }
  }

  #updateCache(own: ToolResult): void {
    const { cache } = this.#parts.scope.settings;
    if (cache === null) return;
    try {
      this.#visit?.keep(own);
      forgetReads(cache, this.#parts);
    } catch (error) {
      this.#logCache(error);
    }
  }

  // A cache that breaks costs the call its speed and nothing else.
  #logCache(error: unknown): void {
    this.#log('the cache failed', error);
  }

  // The tool's own listeners run in here: what they throw is the tool's, and an answer that is there by then stays.
  #abort(reason: Error): void {
    runInScope(this, abort, this.#handles, reason);
  }

  #log(what: string, error: unknown): void {
    const { call } = this.#parts.ready;
    const data = { callId: call.id, tool: call.name, stack: stackOf(error) };
    this.#parts.scope.settings.logger.warn(data, what);
  }
}

/** The outcome of a tool that was stopped and never came back. */
const NOTHING_RETURNED: Outcome = Object.freeze({ text: '', truncatable: true });
const NOTHING_SAID = { output: '', metadata: {} };
