import type { Plan } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
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
import type { DecisionKind } from '../contract/journal.js';
import type { JsonObject } from '../contract/json.js';
import type { ResultCache } from '../contract/outputs.js';
import type { ToolDefinition } from '../contract/tool.js';
import { refusesName } from '../policy/compile-policy.js';
import type { Engine } from './create-engine.js';
import { holdCalls } from './hold-calls.js';
import { receiveLater } from './receive-later.js';
import { checkCalls, checkRunOptions, executorIsClosed } from './run-options.js';
import type { Settled } from './settled.js';
import { startLater } from './start-later.js';

/** Stands where none was wanted: keeps nothing, and says so. */
const NO_CACHE: ResultCache = Object.freeze({
  get: () => undefined,
  set() {},
  clear() {},
  stats: () => ({ hits: 0, misses: 0, evictions: 0, size: 0, capacity: 0, hitRate: 0 }),
});

/**
 * The executor that programs hold. The engine is loaded with the first call, because loading it takes longer than all
 * else that a program does before that; once it is there, this hands on and nothing more.
 */
export class LazyExecutor implements Executor {
  readonly #settled: Settled;
  #engine: Engine | undefined;
  #opening: Promise<Engine> | undefined;
  #closing: Promise<void> | undefined;

  constructor(settled: Settled) {
    this.#settled = settled;
  }

  plan(calls: readonly ToolCall[], options?: RunOptions): Promise<Plan> {
    if (this.#engine !== undefined) return this.#engine.plan(calls, options);
    return this.#first(calls, options, (engine, held, asked) => engine.plan(held, asked));
  }

  run(calls: readonly ToolCall[], options?: RunOptions): Promise<ToolResult[]> {
    if (this.#engine !== undefined) return this.#engine.run(calls, options);
    return this.#first(calls, options, (engine, held, asked) => engine.run(held, asked));
  }

  start(calls: readonly ToolCall[], options?: RunOptions): BatchRun {
    if (this.#engine !== undefined) return this.#engine.start(calls, options);
    check(calls, options);
    if (this.#closing !== undefined) throw executorIsClosed('run calls');
    const id = this.#settled.createId();
    const held = holdCalls(calls);
    const asked = copyOf(options);
    return startLater(id, (cancelled) =>
      this.#use(async (engine) => {
        const signal = cancelled();
        return engine.start(held, signal === undefined ? asked : { ...asked, signal }, id);
      }),
    );
  }

  receive(options?: RunOptions): IncomingBatch {
    if (this.#engine !== undefined) return this.#engine.receive(options);
    if (options !== undefined) checkRunOptions(options);
    if (this.#closing !== undefined) throw executorIsClosed('receive calls');
    const id = this.#settled.createId();
    const asked = copyOf(options);
    return receiveLater(
      id,
      this.#use(async (engine) => engine.receive(asked, id)),
    );
  }

  execute(name: string, args: JsonObject, options?: RunOptions): Promise<ToolResult> {
    if (this.#engine !== undefined) return this.#engine.execute(name, args, options);
    return this.#first([{ id: '', name, args }], options, (engine, [held], asked) =>
      engine.execute(name, held?.args ?? args, asked),
    );
  }

  invoke(name: string, args: JsonObject, options?: RunOptions): Promise<string> {
    if (this.#engine !== undefined) return this.#engine.invoke(name, args, options);
    return this.#first([{ id: '', name, args }], options, (engine, [held], asked) =>
      engine.invoke(name, held?.args ?? args, asked),
    );
  }

  async approve(batchId: string, options?: ApproveOptions): Promise<BatchRun> {
    return this.#use((engine) => engine.approve(batchId, options));
  }

  async recover(): Promise<readonly RecoveredBatch[]> {
    return this.#use((engine) => engine.recover());
  }

  async waiting(options?: WaitingOptions): Promise<readonly WaitingBatch[]> {
    return this.#use((engine) => engine.waiting(options));
  }

  async decide(batchId: string, kind: Exclude<DecisionKind, 'wait'>): Promise<void> {
    return this.#use((engine) => engine.decide(batchId, kind));
  }

  async undo(callId: string, options?: UndoOptions): Promise<UndoReport> {
    return this.#use((engine) => engine.undo(callId, options));
  }

  definitions(): readonly ToolDefinition[] {
    const { mode, definitions, registry } = this.#settled;
    if (mode === 'disabled') return [];
    if (mode === 'parse_only' && definitions.length > 0) return definitions;
    const all = registry.definitions();
    const shown = all.filter(({ name }) => !this.#refuses(name, registry.find(name)?.aliases ?? []));
    return shown.length === all.length ? all : Object.freeze(shown);
  }

  /** Whether the policy refuses every call of the tool: a model that is shown it would only try in vain. */
  #refuses(name: string, aliases: readonly string[]): boolean {
    const { policy } = this.#settled;
    if (policy === null) return false;
    try {
      if (!('decide' in policy)) return refusesName(policy, name, aliases);
      if (policy.refuses !== undefined) return policy.refuses(name, aliases) === true;
      return policy.screen?.(name, aliases)?.disposition === 'pre_resolved';
    } catch {
      // A policy that fails refuses the call as well.
      return true;
    }
  }

  get cache(): ResultCache {
    return this.#settled.cache ?? NO_CACHE;
  }

  close(): Promise<void> {
    this.#closing ??= this.#engine === undefined ? this.#closeInTurn() : this.#engine.close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeInTurn(): Promise<void> {
    // What was asked before is begun before. What could not be opened has nothing to close.
    await this.#opening?.then(
      (engine) => engine.close(),
      () => {},
    );
  }

  /** With calls and options as they are now: who asks may change them as soon as it has the promise. */
  async #first<T>(
    calls: readonly ToolCall[],
    options: RunOptions | undefined,
    ask: (engine: Engine, calls: readonly ToolCall[], options: RunOptions | undefined) => Promise<T>,
  ): Promise<T> {
    check(calls, options);
    const held = holdCalls(calls);
    const asked = copyOf(options);
    return this.#use((engine) => ask(engine, held, asked));
  }

  async #use<T>(ask: (engine: Engine) => Promise<T>): Promise<T> {
    this.#opening ??= this.#open();
    const engine = await this.#opening;
    // Only now, when everybody who waited is in the queue already: nobody overtakes them.
    this.#engine = engine;
    return ask(engine);
  }

  async #open(): Promise<Engine> {
    const wasClosed = this.#closing !== undefined;
    const { openEngine } = await import('./open-engine.js');
    const engine = await openEngine(this.#settled);
    // It says itself what it does not do any more.
    if (wasClosed) await engine.close();
    return engine;
  }
}

function check(calls: readonly ToolCall[], options: RunOptions | undefined): void {
  checkCalls(calls);
  if (options !== undefined) checkRunOptions(options);
}

function copyOf(options: RunOptions | undefined): RunOptions | undefined {
  return options === undefined ? undefined : { ...options };
}
