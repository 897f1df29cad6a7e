import { randomUUID } from 'node:crypto';
import type { ElicitRequestFormParams, ServerContext } from '@modelcontextprotocol/server';
import { abortable } from '../base/abortable.js';
import type { ApprovalDecision, ApprovalRequest, PersonWhileRunning } from '../contract/approval.js';
import type { ToolResult } from '../contract/call.js';
import type { Executor } from '../contract/executor.js';
import { systemClock } from '../platform/clock/clock.js';
import { questionOf, readDecision } from './ask-client.js';
import { toAnswers, toForm } from './form-questions.js';

/** A question of a running call. It is answered once, with the client's response. */
export interface OpenQuestion {
  readonly form: ElicitRequestFormParams;
  answer(response: unknown): void;
  /** No answer is possible. */
  fail(error: Error): void;
}

/** The next step of a call. */
export type Step =
  | { readonly kind: 'result'; readonly result: ToolResult }
  | { readonly kind: 'question'; readonly question: OpenQuestion };

/** Runs a call, with a person to whom it may ask questions. */
export type RunCall = (how: {
  readonly signal: AbortSignal;
  readonly whileRunning: PersonWhileRunning;
}) => Promise<ToolResult>;

/**
 * A client's running call, which may ask the client's person about the changes of a command or for a tool.
 * At any time, one request of the client attends the call and gets its progress. If the answer to that request is a
 * question, the next request contains the response.
 */
export class RunningCall {
  readonly #abort = new AbortController();
  readonly #result: Promise<ToolResult>;
  readonly #waiting: OpenQuestion[] = [];
  #wake: () => void = () => {};
  #attending: ServerContext | undefined;

  /** @param by the decider, for the record */
  constructor(by: string, run: RunCall) {
    this.#result = run({ signal: this.#abort.signal, whileRunning: this.#person(by) });
    // A request awaits it when it attends the call.
    this.#result.catch(() => {});
  }

  /** The client's current request. */
  get attending(): ServerContext | undefined {
    return this.#attending;
  }

  /** Resolves when the call is answered or asks. Cancelling the request cancels the call. */
  async next(context: ServerContext): Promise<Step> {
    const { signal } = context.mcpReq;
    const cancel = (): void => this.cancel(signal.reason);
    this.#attending = context;
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const asked = this.#nextQuestion();
      const answered = this.#result.then((result) => ({ kind: 'result', result }) as const);
      return await Promise.race([answered, asked]);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#attending = undefined;
    }
  }

  cancel(reason: unknown): void {
    this.#abort.abort(reason);
  }

  async #nextQuestion(): Promise<Step> {
    while (this.#waiting.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return { kind: 'question', question: this.#waiting.shift() as OpenQuestion };
  }

  #person(by: string): PersonWhileRunning {
    return {
      approver: async ([request], { signal }) => {
        if (request === undefined) throw new Error('there is no question.');
        return this.#decided(request, by, signal);
      },
      asker: async (questions, { signal }) =>
        toAnswers(questions, await this.#ask(toForm(questions), signal)),
    };
  }

  async #decided(request: ApprovalRequest, by: string, signal: AbortSignal): Promise<ApprovalDecision> {
    const form = await questionOf(request);
    const decision = readDecision(await this.#ask(form, signal), request);
    switch (decision.kind) {
      case 'approve':
        return { kind: 'approve_selected', ids: [request.callId], by };
      case 'deny':
        return { kind: 'deny_all', by };
      default:
        throw new Error('the question was closed without an answer.');
    }
  }

  #ask(form: ElicitRequestFormParams, signal: AbortSignal): Promise<unknown> {
    return abortable(
      () =>
        new Promise((answer, fail) => {
          this.#waiting.push({ form, answer, fail });
          this.#wake();
        }),
      signal,
    );
  }
}

/** A call that waits for the client to return with the response to its question. */
interface Kept {
  readonly call: RunningCall;
  readonly question: OpenQuestion;
  readonly forget: () => void;
  /** The connection; undefined: requests come without a connection. */
  readonly connection: object | undefined;
}

/** How long a client without a connection may take. Milliseconds. */
const AWAY_MS = 3600 * 1000;
/** The same for a client with a connection. */
const CONNECTED_MS = 24 * 3600 * 1000;

/** The calls of one executor whose question is with a client, by the name that the client returns. */
export class AskingCalls {
  readonly #kept = new Map<string, Kept>();

  keep(call: RunningCall, question: OpenQuestion, connection: object | undefined): string {
    const name = randomUUID();
    const mostMs = connection === undefined ? AWAY_MS : CONNECTED_MS;
    const forget = systemClock.after(mostMs, () => {
      this.#kept.delete(name);
      question.fail(new Error('the client has not come back with an answer.'));
    });
    this.#kept.set(name, { call, question, forget, connection });
    return name;
  }

  /** Each can be taken once. Undefined: it was already taken, or its process has ended. */
  take(name: string): Pick<Kept, 'call' | 'question'> | undefined {
    const kept = this.#kept.get(name);
    this.#kept.delete(name);
    kept?.forget();
    return kept;
  }

  /** Called when the connection has ended: its calls are cancelled. */
  close(connection: object): void {
    for (const [name, { call, forget, connection: own }] of this.#kept) {
      if (own !== connection) continue;
      this.#kept.delete(name);
      forget();
      call.cancel(new Error('the connection has ended'));
    }
  }
}

const ofExecutors = new WeakMap<Executor, AskingCalls>();

/** The same for all servers of an executor: over HTTP each request may have a new server. */
export function askingCallsOf(executor: Executor): AskingCalls {
  let calls = ofExecutors.get(executor);
  if (calls === undefined) {
    calls = new AskingCalls();
    ofExecutors.set(executor, calls);
  }
  return calls;
}
