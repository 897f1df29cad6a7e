import type { JsonObject } from '../contract/json.js';
import type { OptionsIn } from '../contract/settings.js';
import type { ToolOutput } from '../contract/tool.js';
import { isToolError } from '../errors/tool-error.js';
import { idleClock, systemClock } from '../platform/clock/clock.js';
import { MODE_VARIABLES } from './describe-program.js';
import type { DescribedTool } from './described-tool.js';
import { FairQueue } from './fair-queue.js';
import { turn } from './limit-calls.js';
import { type CallRunner, documentOf, type ExternalCall, readAnswer, stopped } from './run-tool.js';
import { NotAsked, type ServedAnswer, ServingFault, ServingProcess } from './serving-process.js';
import type { Warn } from './trace-context.js';
import type { ProgramVerifier } from './verify-program.js';

export type WarmOptions = OptionsIn<'external.warm'>;

/**
 * Processes that stay between calls, for programs that can serve (`"serve": true`). If one cannot be started,
 * a call that was not sent yet runs in its own process. A call that was sent is never sent again.
 */
export class WarmPool {
  readonly #options: Required<WarmOptions>;
  readonly #verifier: ProgramVerifier;
  readonly #warn: Warn;
  readonly #groups = new Map<string, Group>();
  readonly #all = new Set<ServingProcess>();
  /** The groups by environment object and the rest of their key. */
  readonly #found = new WeakMap<object, Map<string, Group>>();
  #sweeping = false;
  #isClosed = false;

  constructor(options: Required<WarmOptions>, verifier: ProgramVerifier, warn: Warn) {
    this.#options = options;
    this.#verifier = verifier;
    this.#warn = warn;
  }

  /** @param cold runs a call in its own process, after checking the program. */
  around(cold: CallRunner): CallRunner {
    // The sandbox gives a program a file as input, so it cannot serve.
    return (call) =>
      documentOf(call)?.serve === true && !call.ctx.processes.isConfined()
        ? this.#run(call, cold)
        : cold(call);
  }

  /** Processes of removed or replaced programs get no further call. */
  retain(tools: readonly DescribedTool[]): void {
    const current = new Set(tools.map(({ path, print }) => programKey(path, print)));
    for (const [key, group] of this.#groups) {
      if (current.has(group.program)) continue;
      this.#groups.delete(key);
      group.isRetired = true;
      this.#end(...group.idle.splice(0));
    }
  }

  /** Ends all, and resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((server) => server.kill()));
  }

  async #run(call: ExternalCall, cold: CallRunner): Promise<ToolOutput> {
    // The environment is available while the call is young.
    const env = call.ctx.processes.environment({ maxAgeMs: RECENT_MS });
    const verified = this.#verifier.verify(call.tool, RECENT_MS);
    call.print = typeof verified === 'string' ? verified : await verified;
    const group = this.#groupOf(call, env);
    const giveBack = group.turns.tryTake() ?? (await turn(group.turns, call));
    try {
      if (call.ctx.signal.aborted || this.#isClosed) throw stopped(call);
      const server =
        group.coldUntil > systemClock.monotonic() ? undefined : await this.#soundOne(group, call, env);
      if (server === undefined) return await cold(call);
      try {
        return await this.#serve(server, group, call, env);
      } catch (error) {
        if (!(error instanceof NotAsked) || call.ctx.signal.aborted || this.#isClosed) throw error;
        return await cold(call);
      }
    } finally {
      giveBack();
    }
  }

  #groupOf({ path, print, ctx }: ExternalCall, env: object): Group {
    const program = programKey(path, print);
    const place = `${program}\0${ctx.cwd}`;
    const found = this.#found.get(env) ?? new Map<string, Group>();
    const last = found.get(place);
    if (last?.isRetired === false) return last;
    const group = this.#groupIn(`${place}\0${JSON.stringify(env)}`, program);
    this.#found.set(env, found.set(place, group));
    return group;
  }

  #groupIn(key: string, program: string): Group {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group = {
      program,
      idle: [],
      awaited: new Set<ServingProcess>(),
      turns: new FairQueue(this.#options.processes),
      coldUntil: 0,
      isRetired: false,
    };
    this.#groups.set(key, group);
    return group;
  }

  /** Undefined if none is available. */
  async #soundOne(
    group: Group,
    call: ExternalCall,
    env: Readonly<Record<string, string>>,
  ): Promise<ServingProcess | undefined> {
    for (let server = group.idle.pop(); server !== undefined; server = group.idle.pop()) {
      const idleMs = systemClock.monotonic() - server.idleSince;
      if (!server.isSound) continue;
      if (idleMs < this.#options.checkAfterMs || (await isAwake(server, CHECK_MS, call.ctx.signal)))
        return server;
    }
    return this.#start(group, call, env);
  }

  async #start(
    group: Group,
    call: ExternalCall,
    env: Readonly<Record<string, string>>,
  ): Promise<ServingProcess | undefined> {
    const { ctx, tool, print } = call;
    // A new process must run the planned program; a running one already does.
    if ((await this.#verifier.verify(tool)) !== print) return undefined;
    const server = this.#launch(call, env);
    if (await isAwake(server, this.#options.startMs, ctx.signal)) return server;
    if (ctx.signal.aborted || this.#isClosed) {
      await server.ended;
      throw stopped(call);
    }
    group.coldUntil = systemClock.monotonic() + COLD_MS;
    this.#warn(
      { tool: call.name, stderr: server.errors },
      'a tool that declares that it serves did not answer a ping: for a while each of its calls has a separate process',
    );
    return undefined;
  }

  #launch(
    { path, ctx, maxOutputBytes }: ExternalCall,
    env: Readonly<Record<string, string>>,
  ): ServingProcess {
    const server = new ServingProcess({
      path,
      cwd: ctx.cwd,
      env: { ...env, ...MODE_VARIABLES, TOOLEXEC_TOOL_MODE: 'serve' },
      maxLineBytes: maxOutputBytes,
    });
    this.#all.add(server);
    void server.ended.then(() => this.#all.delete(server));
    return server;
  }

  /** When the successor is started; undefined: with the next call. */
  get #successorAt(): number | undefined {
    const { maxCalls } = this.#options;
    return maxCalls < SUCCESSOR_FROM ? undefined : maxCalls - Math.floor(maxCalls / 10);
  }

  /** Starts the successor while this process continues, so no call waits for a start. Never rejects. */
  async #replace(
    server: ServingProcess,
    group: Group,
    call: ExternalCall,
    env: Readonly<Record<string, string>>,
  ): Promise<void> {
    group.awaited.add(server);
    try {
      // A replaced program is handled by the next call.
      if ((await this.#verifier.verify(call.tool)) !== call.print || this.#isClosed) return;
      const next = this.#launch(call, env);
      if (!(await isAwake(next, this.#options.startMs, NEVER))) return;
      server.served = this.#options.maxCalls;
      if (this.#isClosed || group.isRetired) this.#end(next);
      else group.idle.push(next);
    } catch {
      // The next call starts one and reports the fault.
    } finally {
      group.awaited.delete(server);
      const place = group.idle.indexOf(server);
      if (place >= 0 && server.served >= this.#options.maxCalls) this.#end(...group.idle.splice(place, 1));
    }
  }

  async #serve(
    server: ServingProcess,
    group: Group,
    call: ExternalCall,
    env: Readonly<Record<string, string>>,
  ): Promise<ToolOutput> {
    const { ctx, args, trace } = call;
    const request = { type: 'call', arguments: args, ...(trace === undefined ? {} : { trace }) };
    const shown = (text: string): void | Promise<void> => ctx.emit(text, 'stdout');
    const asking = ctx.processes.track(async (note) => {
      note(await server.identify());
      return server.ask(request, shown, ctx.signal, ({ type }) => type !== 'pong');
    });
    try {
      const answer = await asking;
      server.served++;
      if (server.served === this.#successorAt) void this.#replace(server, group, call, env);
      const output = toOutput(call, answer);
      if (output.error?.code === 'invalid_tool_output') void server.kill();
      return output;
    } catch (error) {
      // Everything it started is gone when the call is answered.
      await server.kill();
      if (ctx.signal.aborted || this.#isClosed) throw stopped(call);
      if (!(error instanceof ServingFault) || error instanceof NotAsked) throw error;
      this.#warn(
        { tool: call.name, fault: error.message, stderr: server.errors },
        'a serving tool was ended',
      );
      const isEnd = error.message.startsWith('it ended') || error.message.startsWith('it was ended');
      return failed(call, isEnd ? 'execution_failed' : 'invalid_tool_output', error.message);
    } finally {
      this.#giveBack(server, group);
    }
  }

  #giveBack(server: ServingProcess, group: Group): void {
    if (!server.isSound) return;
    const isSpent = server.served >= this.#options.maxCalls && !group.awaited.has(server);
    if (this.#isClosed || group.isRetired || isSpent) {
      this.#end(server);
      return;
    }
    group.idle.push(server);
    if (!this.#sweeping) this.#sweepLater();
  }

  #end(...servers: readonly ServingProcess[]): void {
    for (const server of servers) void server.end({ graceMs: GRACE_MS });
  }

  #sweepLater(): void {
    this.#sweeping = true;
    idleClock.after(this.#options.idleMs, () => this.#sweep());
  }

  #sweep(): void {
    this.#sweeping = false;
    const oldest = systemClock.monotonic() - this.#options.idleMs;
    for (const [key, group] of this.#groups) {
      const kept = group.idle.filter(({ idleSince }) => idleSince > oldest);
      for (const server of group.idle) if (!kept.includes(server)) this.#end(server);
      group.idle = kept;
      if (kept.length > 0) this.#sweeping = true;
      else if (group.turns.isIdle && group.coldUntil < systemClock.monotonic()) {
        group.isRetired = true;
        this.#groups.delete(key);
      }
    }
    if (this.#sweeping) this.#sweepLater();
  }
}

/** The processes of one program, in one directory, with one environment. */
interface Group {
  readonly program: string;
  idle: ServingProcess[];
  /** Processes whose successors are starting. */
  readonly awaited: Set<ServingProcess>;
  /** One turn per allowed process. */
  readonly turns: FairQueue;
  /** A start failed; no other attempt before this time. */
  coldUntil: number;
  isRetired: boolean;
}

/**
 * How old a look at the environment and the file may be: a serving process keeps its start values, and
 * another look takes longer than the call.
 */
const RECENT_MS = 50;
/** With fewer calls, a process answers exactly that many. */
const SUCCESSOR_FROM = 10;
const NEVER = new AbortController().signal;
/** How long an idle process may take to answer a ping. */
const CHECK_MS = 1_000;
/** How long a program that answered no ping is run in separate processes. */
const COLD_MS = 60_000;
/** How long a process may clean up after it is no longer needed. */
const GRACE_MS = 500;

function programKey(path: string, print: string | undefined): string {
  return `${path}\0${print ?? ''}`;
}

/** A process that does not answer in time is ended. */
async function isAwake(server: ServingProcess, withinMs: number, signal: AbortSignal): Promise<boolean> {
  const late = new AbortController();
  const forget = systemClock.after(withinMs, () => late.abort());
  try {
    const either = AbortSignal.any([signal, late.signal]);
    await server.ask(
      { type: 'ping' },
      () => {},
      either,
      ({ type }) => type === 'pong',
    );
    return true;
  } catch (error) {
    await server.kill();
    if (error instanceof ServingFault || isToolError(error)) return false;
    throw error;
  } finally {
    forget();
  }
}

function toOutput(call: ExternalCall, answer: ServedAnswer): ToolOutput {
  if (answer.type === 'error') return failed(call, 'execution_failed', answer.message);
  if (answer.type === 'pong') return failed(call, 'invalid_tool_output', 'it answered with "pong"');
  const result = readAnswer(answer, call.output());
  return 'fault' in result
    ? failed(call, 'invalid_tool_output', result.fault)
    : { ...result, metadata: METADATA };
}

const METADATA: JsonObject = Object.freeze({ warm: true });

function failed(
  call: ExternalCall,
  code: 'execution_failed' | 'invalid_tool_output',
  why: string,
): ToolOutput {
  const message = `${call.name} failed: ${why}`;
  return { text: '', metadata: METADATA, error: { code, message, details: METADATA } };
}
