import type { MiddlewareContext } from '../../contract/middleware.js';
import type { Executed, ToolResult } from '../../contract/result.js';
import { type CacheVisit, forgetReads, visitCache } from '../cache/cached-reads.js';
import type { ReadyCall } from '../plan/judged-call.js';
import { adoptResult, markFinal } from '../record/adopt-result.js';
import { finalize } from '../record/finalize.js';
import { CallContext } from './call-context.js';
import type { CallParts } from './call-parts.js';
import type { Timed } from './deadlines.js';
import { runOnion } from './onion.js';
import { fromReturn, fromThrow, type Outcome, panic, stackOf, unusable } from './outcome.js';
import { type Stop, stoppedOutcome } from './stop.js';
import { disown, ownStrayErrors, type StrayErrorOwner } from './stray-errors.js';

/** How long a tool may take to hand in what it has, once it was told to stop. */
const GRACE_MS = 50;
/** The same while its commands are being killed. */
const PROCESS_GRACE_MS = 2_500;
/** What middleware gets on top, to unwind. */
const UNWIND_MS = 100;

/**
 * One call from its start to its one answer.
 *
 * 1. There is exactly one answer, whatever the tool does: returns, throws, hangs, ignores its signal.
 * 2. Once answered, no timer of its own is left and every handle of the tool is dead.
 * 3. What comes after the answer is handed to its owner and changes nothing.
 */
export class CallRun implements StrayErrorOwner, Timed {
  readonly timeoutMs: number;
  readonly dueAt: number;
  readonly #parts: CallParts;
  readonly #context: CallContext;
  readonly #startedAt: number;
  /** Whether `start` has returned without the answer. */
  #isLate = false;
  /** Takes the tool's result into the middleware; undefined where there is none. */
  #handIn: ((result: ToolResult) => void) | undefined = undefined;
  /** What the tool was answered with, before middleware. */
  #own: ToolResult | undefined = undefined;
  #clearGrace: (() => void) | undefined = undefined;
  #clearUnwind: (() => void) | undefined = undefined;
  #stop: Stop | undefined = undefined;
  #visit: CacheVisit | undefined = undefined;
  #toolStarted = false;
  #toolDone = false;
  #answer: ToolResult | undefined = undefined;
  /** Whether the answer may come out of what the tool has started: the rest of the batch is not the tool's doing. */
  #isForeign = false;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#context = new CallContext(parts);
    this.#startedAt = parts.scope.settings.clock.monotonic();
    this.timeoutMs = parts.timeoutMs;
    this.dueAt = this.#startedAt + parts.timeoutMs;
  }

  /** Starts the call; to be called once. Answers at once when the tool does; else the owner is told. */
  start(): ToolResult | undefined {
    const { settings } = this.#parts.scope;
    if (settings.middleware.length === 0) this.#startTool();
    else this.#startOnion();
    if (this.#answer !== undefined) return this.#answer;
    this.#isLate = true;
    return undefined;
  }

  /** Tells the call to end. It is answered after a short grace, whether it listens or not. */
  stop(stop: Stop): void {
    if (this.#answer !== undefined || this.#stop !== undefined) return;
    this.#stop = stop;
    // A tool may be who stops it.
    this.#isForeign = true;
    const graceMs = this.#context.lease.processes > 0 ? PROCESS_GRACE_MS : GRACE_MS;
    this.#abort(stoppedOutcome(stop, this.#parts.ready.call.name, 'maybe').error.message);
    const { clock, middleware } = this.#parts.scope.settings;
    if (!this.#toolDone) this.#clearGrace = clock.after(graceMs, () => this.#settle(NOTHING_HANDED_IN));
    if (middleware.length === 0) return;
    this.#clearUnwind = clock.after(graceMs + UNWIND_MS, () => this.#giveUpOnMiddleware());
  }

  strayError(error: unknown): void {
    const { call } = this.#parts.ready;
    const data = { callId: call.id, tool: call.name, stack: stackOf(error) };
    this.#parts.scope.settings.logger.error(data, 'tool threw outside of its call');
    this.#isForeign = true;
    this.#settle(panic(error));
  }

  #startTool(): void {
    const cached = this.#visitCache();
    if (cached !== undefined) {
      this.#recall(cached);
      return;
    }
    this.#toolStarted = true;
    try {
      const running: unknown = ownStrayErrors(this, runTool, this.#parts.ready, this.#context);
      if (isThenable(running)) this.#follow(running);
      else this.#returned(running);
    } catch (error) {
      this.#failed(error);
    }
  }

  #visitCache(): ToolResult | undefined {
    const { cache } = this.#parts.scope.settings;
    if (cache !== null) this.#visit = visitCache(cache, this.#parts);
    return this.#visit?.cached;
  }

  #recall(cached: ToolResult): void {
    this.#toolDone = true;
    this.#context.close();
    this.#own = cached;
    this.#pass(cached);
  }

  #follow(running: PromiseLike<unknown>): void {
    // A stranger's thenable may call back twice, or throw: a promise of our own does neither.
    const promise = running instanceof Promise ? running : ownStrayErrors(this, follow, running);
    promise.then(
      (value: unknown) => this.#returned(value),
      (error: unknown) => this.#failed(error),
    );
  }

  #returned(value: unknown): void {
    try {
      const outcome = fromReturn(value, this.#parts.ready.tool);
      if (!(outcome instanceof Promise)) {
        this.#settle(outcome);
        return;
      }
      outcome.then(
        (checked) => this.#settle(checked),
        (error: unknown) => this.#failed(error),
      );
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#log(error);
    this.#settle(fromThrow(error, this.#parts.ready.call.name));
  }

  #startOnion(): void {
    const { ready, scope } = this.#parts;
    const context = this.#context;
    const seen: MiddlewareContext = {
      conversation: scope.conversation,
      effects: ready.declared,
      risk: ready.risk,
      get signal() {
        return context.signal;
      },
      dryRun: scope.dryRun,
      logger: scope.settings.logger,
    };
    const inner = (): Promise<ToolResult> =>
      new Promise((resolve) => {
        this.#handIn = (result) => resolve(markFinal(result));
        if (this.#stop === undefined && this.#answer === undefined) this.#startTool();
        else this.#settle(NOTHING_HANDED_IN);
      });
    const adopt = (returned: unknown): ToolResult => this.#adopt(returned);
    runOnion(scope.settings.middleware, { call: ready.call, context: seen, inner, adopt }).then(
      (result) => this.#finish(result),
      (error: unknown) => {
        this.#log(error);
        this.#finish(this.#result(middlewarePanic(error, this.#executedSoFar())));
      },
    );
  }

  /** The tool has come to its end; the first time counts. */
  #settle(outcome: Outcome): void {
    if (this.#answer !== undefined) {
      this.#toolDone = true;
      if (outcome !== NOTHING_HANDED_IN) this.#parts.owner.late(this.#parts, this.#finalized(outcome));
      return;
    }
    // Between the tool's end and the answer, what it does further changes neither.
    if (this.#toolDone) return;
    this.#toolDone = true;
    this.#clearGrace?.();
    this.#context.close();
    const own = this.#result(outcome);
    this.#own = own;
    this.#updateCache(own);
    if (this.#context.lease.processes > 0) this.#endProcesses(own);
    else this.#pass(own);
  }

  #updateCache(own: ToolResult): void {
    const { cache } = this.#parts.scope.settings;
    if (cache === null) return;
    this.#visit?.keep(own);
    forgetReads(cache, this.#parts);
  }

  // The tool has not waited for its commands, or they are being killed: they end before the call has its answer.
  #endProcesses(own: ToolResult): void {
    this.#abort('the call is answered');
    this.#clearGrace = this.#parts.scope.settings.clock.after(PROCESS_GRACE_MS, () => this.#pass(own));
    void this.#context.lease.idle().then(() => {
      this.#clearGrace?.();
      this.#pass(own);
    });
  }

  #pass(own: ToolResult): void {
    if (this.#parts.scope.settings.middleware.length === 0) this.#finish(own);
    else this.#handIn?.(own);
  }

  #giveUpOnMiddleware(): void {
    const { output: text, metadata } = this.#own ?? NOTHING_SAID;
    this.#finish(this.#result({ ...NOTHING_HANDED_IN, text, metadata }));
  }

  #result(outcome: Outcome): ToolResult {
    return this.#finalized(this.#stop === undefined ? outcome : this.#stopped(this.#stop, outcome));
  }

  #finalized(outcome: Outcome): ToolResult {
    const { ready, scope } = this.#parts;
    const elapsed = scope.settings.clock.monotonic() - this.#startedAt;
    try {
      return finalize(outcome, ready, scope, elapsed);
    } catch (error) {
      this.#log(error);
      return finalize(unusable(outcome, ready.tool, error), ready, scope, elapsed);
    }
  }

  // What the tool handed in before it was stopped is kept; the error says that it was stopped.
  #stopped(stop: Stop, outcome: Outcome): Outcome {
    const { error } = stoppedOutcome(stop, this.#parts.ready.call.name, this.#toolStarted ? 'maybe' : 'no');
    return { ...outcome, error };
  }

  #adopt(result: unknown): ToolResult {
    if (this.#stop !== undefined && !this.#toolStarted) return this.#result(NOTHING_HANDED_IN);
    const { ready, scope } = this.#parts;
    return adoptResult(result, { ready, scope, executed: this.#executedSoFar(), own: this.#own });
  }

  #executedSoFar(): Executed {
    if (!this.#toolStarted) return 'no';
    return this.#toolDone && this.#stop === undefined ? 'yes' : 'maybe';
  }

  #finish(result: ToolResult): void {
    if (this.#answer !== undefined) return;
    this.#answer = result;
    this.#clearGrace?.();
    this.#clearUnwind?.();
    if (!this.#toolDone) {
      this.#abort('the call is answered');
      this.#context.close();
    }
    if (this.#isForeign) disown(tellOwner, this, this.#parts, this.#isLate ? result : undefined);
    else this.#parts.owner.ended(this, this.#parts, this.#isLate ? result : undefined);
  }

  // The tool's own listeners run in here, and what they throw is the tool's.
  #abort(message: string): void {
    ownStrayErrors(this, abort, this.#context, message);
  }

  #log(error: unknown): void {
    const { call } = this.#parts.ready;
    const data = { callId: call.id, tool: call.name, stack: stackOf(error) };
    this.#parts.scope.settings.logger.warn(data, 'tool threw');
  }
}

/** Stands for a tool that was stopped and never came back. */
const NOTHING_HANDED_IN: Outcome = Object.freeze({ text: '', truncatable: true });

/** The one place where a tool is run. */
function runTool({ tool, parsed }: ReadyCall, context: CallContext): unknown {
  return tool.execute(parsed, context);
}

function follow(running: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(running);
}

function tellOwner(run: CallRun, parts: CallParts, late: ToolResult | undefined): void {
  parts.owner.ended(run, parts, late);
}

function abort(context: CallContext, message: string): void {
  context.abort(new Error(message));
}

const NOTHING_SAID = { output: '', metadata: {} };

function middlewarePanic(error: unknown, executed: Executed): Outcome {
  const outcome = panic(error);
  const message = outcome.error?.message.replace(/^Tool/, 'Middleware') ?? 'Middleware panicked';
  return { ...outcome, error: { code: 'tool_panicked', message, executed } };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
