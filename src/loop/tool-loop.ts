import { randomUUID } from 'node:crypto';
import {
  checkOptions,
  isBoolean,
  isFilledText,
  isObject,
  isWhole,
  type OptionRules,
  option,
} from '../base/normalize-options.js';
import type { AgentRunner } from '../contract/agent-runner.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { Executor, SubmittedResult } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import type { ModelUsage } from '../contract/model.js';
import { ModelError } from '../errors/model-error.js';
import { ToolError } from '../errors/tool-error.js';
import { availableCapacityBytes, contextTokensOf, usedTokens } from '../providers/http/context-window.js';
import { toNativeMessages } from '../providers/http/messages.js';
import type { Model, ModelEnd } from '../providers/model.js';
import { answerReadErrors } from '../providers/response-calls.js';
import { loopAgents, type ModelAgentsOptions } from './agents.js';
import { Conversation } from './conversation.js';
import type {
  LoopEvent,
  LoopResult,
  LoopRunOptions,
  LoopState,
  ToolLoop,
  ToolLoopOptions,
} from './loop-contract.js';
import { type Answered, type LoopResponse, readResponse } from './read-response.js';
import { Submissions } from './submissions.js';
import { type Limit, type Stop, Turn } from './turn.js';

const RULES: OptionRules<{ [K in keyof ToolLoopOptions]-?: ToolLoopOptions[K] | undefined }> = {
  executor: option(undefined, isObject, 'an executor'),
  model: option(undefined, isObject, 'a model'),
  system: option(undefined, (value) => typeof value === 'string', 'a text'),
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
  maxToolIterationsPerUserTurn: option(undefined, isWhole(1), 'a whole number from 1'),
  maxTokensPerUserTurn: option(undefined, isWhole(1), 'a whole number of tokens from 1'),
  contextTokens: option(undefined, isWhole(1), 'a whole number of tokens from 1'),
  parallel: option(undefined, isBoolean, 'true or false'),
  dryRun: option(undefined, isBoolean, 'true or false'),
  failFast: option(undefined, isBoolean, 'true or false'),
  defer: option(undefined, isBoolean, 'true or false'),
  origin: option(undefined, isObject, 'an object'),
  agents: option(undefined, isBoolean, 'true or false'),
};

/**
 * Creates a conversation with a model: its answers are streamed, its calls run through the executor, and
 * their results go back, until the model is done (D083). It keeps nothing open.
 * @throws ToolError `config_invalid` for an invalid option
 */
export function createToolLoop(options: ToolLoopOptions): ToolLoop {
  checkOptions('options', options, RULES);
  for (const name of ['executor', 'model'] as const) {
    if (options?.[name] === undefined)
      throw new ToolError('config_invalid', `options.${name} must be given.`);
  }
  return new Loop(options);
}

/** Runs sub-agents in this process, each with its own loop and budget (C034). */
export function modelAgents(options: ModelAgentsOptions): AgentRunner {
  return loopAgents(createToolLoop, options);
}

/** D084. */
const MAX_ITERATIONS: Limit = {
  code: 'max_iterations',
  message: 'Max tool iterations reached',
  stopReason: 'max_iterations',
};

const IDLE: LoopState = Object.freeze({ kind: 'idle' });

class Loop implements ToolLoop {
  readonly conversation: string;
  readonly #options: ToolLoopOptions;
  readonly #executor: Executor;
  readonly #said: Conversation;
  readonly #maxIterations: number;
  #state: LoopState = IDLE;
  #isBusy = false;
  #submissions: Submissions | undefined;

  constructor(options: ToolLoopOptions) {
    const { executor, model, conversation } = options;
    this.#options = options;
    this.conversation = conversation ?? `loop:${randomUUID()}`;
    this.#executor =
      options.agents === false ? executor : executor.narrow({ agents: modelAgents({ model }) });
    this.#said = new Conversation(this.conversation, executor, {
      isNew: conversation === undefined,
      // Only then the journal has the results of the calls.
      areRecorded: executor.mode === 'enabled' && options.dryRun !== true,
    });
    this.#maxIterations =
      options.maxToolIterationsPerUserTurn ?? executor.limits.maxToolIterationsPerUserTurn;
  }

  get state(): LoopState {
    return this.#state;
  }

  get messages(): readonly JsonObject[] {
    const { model } = this.#options;
    return toNativeMessages(model.format, this.#said.messages, model.name);
  }

  resume(): Promise<void> {
    return this.#said.resume();
  }

  async run(text: string, options: LoopRunOptions = {}): Promise<LoopResult> {
    for await (const event of this.stream(text, options)) if (event.type === 'end') return event.result;
    throw new Error('a turn ends with an end');
  }

  async *stream(text: string, { signal }: LoopRunOptions = {}): AsyncGenerator<LoopEvent, void, undefined> {
    if (typeof text !== 'string' || text.trim() === '') {
      throw new ToolError('bad_args', 'Cannot run a turn: a text that is not empty is expected.');
    }
    if (this.#isBusy) {
      throw new ToolError(
        'bad_args',
        'Cannot run a turn: another one is under way. Wait for it, or cancel it.',
      );
    }
    this.#isBusy = true;
    const stop = new AbortController();
    const abort = (): void => stop.abort(signal?.reason);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
    const turn = new Turn();
    try {
      let ended: Stop;
      try {
        ended = yield* this.#live(text, turn, stop.signal);
      } catch (error) {
        ended = stop.signal.aborted ? { stopReason: 'cancelled' } : toStop(error);
      }
      this.#state = IDLE;
      this.#isBusy = false;
      yield { type: 'state', state: IDLE };
      yield { type: 'end', result: turn.toResult(ended, this.#contextTokens) };
    } finally {
      signal?.removeEventListener('abort', abort);
      stop.abort();
      this.#state = IDLE;
      this.#isBusy = false;
    }
  }

  submit(callId: string, given: SubmittedResult): void {
    if (this.#submissions === undefined) {
      throw new ToolError('bad_args', `Cannot take a result for "${callId}": no call waits for one.`);
    }
    this.#submissions.take(callId, given);
    const { calls } = this.#submissions;
    this.#state = { kind: 'waiting', iteration: iterationOf(this.#state), calls };
  }

  /** The turn: ask the model, run its calls, repeat. */
  async *#live(text: string, turn: Turn, signal: AbortSignal): AsyncGenerator<LoopEvent, Stop, undefined> {
    await this.#said.resume();
    await this.#said.addUser(text);
    for (;;) {
      yield this.#enter({ kind: 'streaming', iteration: turn.iterations });
      const response = yield* this.#ask(turn, signal);
      if (response.kind === 'cut') {
        return signal.aborted ? { stopReason: 'cancelled' } : toStop(response.error);
      }
      const { end } = response;
      const { calls, errors } = end.message;
      if (calls.length === 0 && errors.length === 0) {
        await this.#said.addAssistant(end.message);
        if (end.stopReason === 'refused') {
          await response.incoming.drop('the model declined');
          return { stopReason: 'refused' };
        }
        const open = await this.#said.endTurn(turn.ended, signal);
        if (open !== undefined && turn.goesOn()) {
          await this.#said.addUser(`[hook] ${open}`);
          continue;
        }
        const cut = end.stopReason === 'length' ? { cutOff: true as const } : {};
        return { stopReason: turn.overLimit ?? 'end', ...cut };
      }
      await this.#said.addAssistant(end.message, response.incoming.id);
      const stop = yield* this.#answer(response, turn, signal);
      if (stop !== undefined) return stop;
    }
  }

  async *#ask(turn: Turn, signal: AbortSignal): AsyncGenerator<LoopEvent, LoopResponse, undefined> {
    const {
      model,
      parallel = false,
      dryRun = false,
      failFast = false,
      defer = false,
      origin,
    } = this.#options;
    const request = this.#request();
    const response = yield* readResponse({
      model,
      request,
      incoming: this.#executor.receive({
        signal,
        parallel,
        dryRun,
        failFast,
        defer,
        ...(origin === undefined ? {} : { origin }),
        conversation: this.conversation,
        turn: randomUUID(),
        message: { text: '', model: model.name, provider: model.format },
      }),
      // A server that restarts its call ids in every response must not look like a repeated delivery.
      isKnown: (id) => this.#said.takeId(id),
      signal,
    });
    turn.heard(response, request);
    return response;
  }

  /** Gives results to the calls of a response. Undefined: the model continues. */
  async *#answer(
    { end, incoming, usage }: Answered,
    turn: Turn,
    signal: AbortSignal,
  ): AsyncGenerator<LoopEvent, Stop | undefined, undefined> {
    const isRefused = end.stopReason === 'refused';
    const limit = isRefused ? undefined : this.#limitOf(turn);
    if (isRefused || limit !== undefined) {
      const results = await incoming
        .drop(limit ?? 'the model declined')
        .catch((error: unknown) => neverRun(end.message.calls, error));
      await this.#conclude(end, results, turn);
      if (limit === undefined) return { stopReason: 'refused' };
      // The model gets this once, and may still answer.
      if (turn.overLimit !== undefined) return { stopReason: turn.overLimit };
      turn.overLimit = limit.stopReason;
      return undefined;
    }
    turn.iterations++;
    if (this.#executor.mode === 'parse_only') yield* this.#wait({ end, incoming, usage }, turn, signal);
    else {
      const { calls } = end.message;
      yield this.#enter({ kind: 'tools', iteration: turn.iterations, calls });
      yield* this.#run({ end, incoming, usage }, turn);
    }
    return signal.aborted ? { stopReason: 'cancelled' } : undefined;
  }

  async *#run({ end, incoming, usage }: Answered, turn: Turn): AsyncGenerator<LoopEvent, void, undefined> {
    const run = incoming.start({ availableCapacityBytes: this.#capacity(end, usage) });
    let hasReader = false;
    try {
      for await (const event of run.events) yield event;
      hasReader = true;
    } finally {
      if (!hasReader) run.cancel();
      const results = await run.results.catch((error: unknown) => neverRun(end.message.calls, error));
      await this.#conclude(end, results, turn);
    }
  }

  async *#wait(
    { end, incoming, usage }: Answered,
    turn: Turn,
    signal: AbortSignal,
  ): AsyncGenerator<LoopEvent, void, undefined> {
    const { calls } = end.message;
    const submissions = new Submissions(calls);
    try {
      this.#submissions = submissions;
      yield this.#enter({ kind: 'waiting', iteration: turn.iterations, calls });
      await submissions.whole(signal);
    } finally {
      this.#submissions = undefined;
      const room = { availableCapacityBytes: this.#capacity(end, usage) };
      await this.#conclude(end, incoming.answer(submissions.given, room), turn);
    }
  }

  /** The limit that this turn has reached; undefined if it may run another batch. */
  #limitOf(turn: Turn): Limit | undefined {
    if (turn.iterations >= this.#maxIterations) return MAX_ITERATIONS;
    const { maxTokensPerUserTurn = Number.POSITIVE_INFINITY } = this.#options;
    if (turn.tokens < maxTokensPerUserTurn) return undefined;
    const message = `The budget of ${maxTokensPerUserTurn} tokens is used up: nothing more is run. Answer with what you have.`;
    return { code: 'limit_exceeded', message, stopReason: 'max_tokens' };
  }

  /** Adds the results to the conversation, which can then continue. */
  async #conclude(end: ModelEnd, results: readonly ToolResult[], turn: Turn): Promise<void> {
    turn.results.push(...answerReadErrors(results, end.message.errors));
    await this.#said.addAnswer(end.answer(results));
  }

  #request(): Parameters<Model['stream']>[0] {
    const { system } = this.#options;
    return {
      ...(system === undefined ? {} : { system }),
      messages: [...this.#said.messages],
      tools: this.#executor.definitions(),
    };
  }

  /** The maximum size of a batch's results in the context (D031). */
  #capacity({ message }: ModelEnd, usage: ModelUsage | undefined): number {
    return availableCapacityBytes({
      contextTokens: this.#contextTokens,
      usedTokens: usedTokens(this.#request(), usage, usage === undefined ? [message] : []),
      reserveTokens: this.#options.model.maxOutputTokens,
    });
  }

  get #contextTokens(): number | undefined {
    const { contextTokens, model } = this.#options;
    return contextTokens ?? model.contextTokens ?? contextTokensOf(model.name);
  }

  #enter(state: LoopState): LoopEvent {
    this.#state = state;
    return { type: 'state', state };
  }
}

function iterationOf(state: LoopState): number {
  return state.kind === 'idle' ? 0 : state.iteration;
}

function toStop(error: unknown): Stop {
  const message = error instanceof Error ? error.message : String(error);
  const status = error instanceof ModelError ? error.status : undefined;
  return { stopReason: 'error', error: { ...(status === undefined ? {} : { status }), message } };
}

function neverRun(calls: readonly ToolCall[], cause: unknown): readonly ToolResult[] {
  const why = cause instanceof Error ? cause.message : String(cause);
  return calls.map((call) => ({
    callId: call.id,
    toolName: call.name,
    success: false,
    output: '',
    error: { code: 'execution_failed', message: `Nothing was run: ${why}`, details: { executed: 'no' } },
    truncated: false,
    executionTimeMs: 0,
    metadata: {},
  }));
}
