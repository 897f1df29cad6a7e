import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  type CallToolRequestParams,
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { nearestName } from '../base/nearest-name.js';
import type { ApprovalRequest, Approver, ShownFile } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { BatchRun, Executor } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import { isToolError } from '../errors/tool-error.js';
import { whyMissing } from '../executor/declare/shown-definitions.js';
import { askInput, canBeAsked, type Decision, questionOf, readDecision } from './ask-client.js';
import {
  type Asked,
  type AttendingParts,
  askNow,
  attendCall,
  conversationOf,
  goOn,
  personAt,
} from './attend-call.js';
import { toCallToolResult } from './call-result.js';
import { clientOf, ownCallId, traceIn } from './client-facts.js';
import { reportProgress } from './report-progress.js';
import { type AskedState, type CarriedState, callDigest } from './request-state.js';
import type { RunCall } from './running-call.js';
import type { ToolList } from './tool-list.js';
import type { UndeliveredCalls } from './undelivered-calls.js';

export interface CallServerParts extends AttendingParts {
  readonly executor: Executor;
  readonly list: ToolList;
  readonly decideWith: (batchId: string) => string;
  readonly undelivered: UndeliveredCalls;
}

/** The answer, and the tool's output schema that the client knows. */
export interface CallAnswer {
  readonly answer: CallToolResult | InputRequiredResult;
  readonly schema: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Serves calls of one connection. A call that needs approval waits in the journal while the person is asked, so a later
 * process may receive the answer. Only one of several answers counts, because a batch is decided once.
 */
export class CallServer {
  readonly #parts: CallServerParts;

  constructor(parts: CallServerParts) {
    this.#parts = parts;
  }

  /** @throws ProtocolError for a tool that is not served, and for a state that belongs to another call */
  async answer(params: CallToolRequestParams, context: ServerContext): Promise<CallAnswer> {
    const { list, identify } = this.#parts;
    const tool = list.find(params.name);
    if (tool === undefined) throw unknownTool(params.name, this.#parts);
    const client = clientOf(context, identify.legacyClient);
    const asked: Asked = {
      name: params.name,
      // JSON, as received.
      args: (params.arguments ?? {}) as JsonObject,
      conversation: conversationOf(identify, client),
      client,
      context,
    };
    const state = context.mcpReq.requestState<CarriedState>();
    const answer = state === undefined ? await this.#first(asked) : await this.#resumed(asked, state);
    return { answer, schema: tool.outputSchema };
  }

  /** The connection has ended. */
  close(): void {
    this.#parts.asking.close(this.#parts.connection);
  }

  async #first(asked: Asked): Promise<CallToolResult | InputRequiredResult> {
    const own = ownCallId(asked.context) ?? `mcp_${randomUUID()}`;
    const { undelivered } = this.#parts;
    if (undelivered.isEmpty) return this.#run(asked, own);
    const digest = callDigest(asked.name, asked.args);
    const earlier = undelivered.find(asked.conversation, digest);
    if (earlier === undefined) return this.#run(asked, own);
    const result = await this.#execute(asked, earlier);
    const batch = waitsFor(result);
    if (batch === undefined) {
      // If two requests ask for it again, one gets the kept result and the other becomes a new call.
      const isOurs = undelivered.deliver(asked.conversation, digest, earlier);
      return isOurs ? toCallToolResult(result) : this.#run(asked, own);
    }
    if (!(await this.#isAllowedNow(asked))) return this.#ask(asked, earlier, batch);
    // A new rule has decided in the meantime, so no question waits.
    undelivered.deliver(asked.conversation, digest, earlier);
    await this.#giveUp(batch);
    return this.#run(asked, own);
  }

  async #run(asked: Asked, id: string): Promise<CallToolResult | InputRequiredResult> {
    if (!canBeAsked(asked.client)) return this.#answered(asked, id, await this.#execute(asked, id));
    const answer = await attendCall(this.#parts, asked, id, (how, running) =>
      this.#execute(asked, id, how, () => running().attending),
    );
    return isInputRequiredResult(answer) ? answer : this.#answered(asked, id, answer);
  }

  async #answered(
    asked: Asked,
    id: string,
    result: ToolResult,
  ): Promise<CallToolResult | InputRequiredResult> {
    const batch = waitsFor(result);
    return batch === undefined ? this.#final(asked, id, result) : this.#ask(asked, id, batch);
  }

  /** Such a call may have been refused before: the next request for it is another call. */
  #final({ name, args, conversation }: Asked, id: string, result: ToolResult): CallToolResult {
    const { undelivered } = this.#parts;
    const digest = callDigest(name, args);
    if (!undelivered.isEmpty && undelivered.find(conversation, digest) === id)
      undelivered.deliver(conversation, digest, id);
    return toCallToolResult(result);
  }

  async #execute(
    { name, args, conversation, context }: Asked,
    id: string,
    how?: Parameters<RunCall>[0],
    attending: () => ServerContext | undefined = () => context,
  ): Promise<ToolResult> {
    const { executor } = this.#parts;
    const { signal } = context.mcpReq;
    const call: ToolCall = { id, name, args };
    const trace = traceIn(context);
    const options = { conversation, signal, defer: 'unasked', ...trace, ...how } as const;
    const isFollowed = context.mcpReq._meta?.progressToken !== undefined;
    return isFollowed
      ? this.#follow(executor.start([call], options), attending)
      : only(await executor.run([call], options));
  }

  async #follow(run: BatchRun, attending: () => ServerContext | undefined): Promise<ToolResult> {
    const reported = reportProgress(run.events, attending);
    const result = only(await run.results);
    // The last progress comes before the answer.
    await reported;
    return result;
  }

  async #isAllowedNow({ name, args }: Asked): Promise<boolean> {
    const { calls } = await this.#parts.executor.plan([{ id: 'planned', name, args }]);
    return calls[0]?.disposition === 'execute_now';
  }

  // ---- the question ---------------------------------------------------------------------------------------------

  async #ask(
    asked: Asked,
    callId: string,
    batch: string,
    problem?: string,
    round = 0,
  ): Promise<CallToolResult | InputRequiredResult> {
    const request = await this.#requestOf(asked, callId, batch);
    // It was decided in the meantime, so its result is the answer.
    if (request === undefined) return this.#final(asked, callId, await this.#execute(asked, callId));
    if (!canBeAsked(asked.client)) return this.#refuse(asked, callId, request, batch);
    const digest = callDigest(asked.name, asked.args);
    const { conversation, context } = asked;
    const state: AskedState = { batch, callId, conversation, digest, shown: request.shown };
    const question = await questionOf(request, problem);
    if (this.#parts.identify.isModern()) {
      return { ...askInput(question), requestState: await this.#parts.states.mint(state) };
    }
    // If the question is sent as an answer, the client decides how often it returns.
    if (round === MOST_ROUNDS)
      return this.#refuse(
        asked,
        callId,
        request,
        batch,
        `No answer could be used. ${problem ?? 'All were malformed.'}`,
      );
    let response: unknown;
    try {
      response = await askNow(context, question);
    } catch (error) {
      return this.#unanswered(asked, callId, request, batch, error);
    }
    return this.#decide(asked, state, request, readDecision(response, request), round);
  }

  async #requestOf(
    { conversation }: Asked,
    callId: string,
    batch: string,
  ): Promise<ApprovalRequest | undefined> {
    const waiting = await this.#parts.executor.waiting({ conversation });
    const found = waiting.find(({ batchId }) => batchId === batch);
    return found?.requests.find((request) => request.callId === callId);
  }

  /** The question was asked, and no answer came. */
  async #unanswered(
    asked: Asked,
    callId: string,
    request: ApprovalRequest,
    batch: string,
    error: unknown,
  ): Promise<CallToolResult> {
    const why = error instanceof Error ? error.message : String(error);
    return this.#refuse(asked, callId, request, batch, `The question could not be answered: ${why}`);
  }

  /** Kept for the client that asks again, possibly under another id; a cancelled call is given up instead. */
  async #refuse(
    asked: Asked,
    callId: string,
    { reason }: ApprovalRequest,
    batch: string,
    why?: string,
  ): Promise<CallToolResult> {
    const { undelivered, executor } = this.#parts;
    const { name, args, conversation } = asked;
    const digest = callDigest(name, args);
    const isFirst = undelivered.find(conversation, digest) === undefined;
    const kept = undelivered.keep(conversation, digest, callId);
    // If two requests ask at the same time, one of them waits.
    if (kept !== callId) await this.#giveUp(batch);
    const result = only(await executor.run([{ id: kept, name, args }], { conversation, defer: 'unasked' }));
    const id = waitsFor(result);
    // Another request may still wait for the call that it has found.
    if (isFirst && kept === callId && isTakenBack(asked)) {
      undelivered.deliver(conversation, digest, callId);
      await this.#giveUp(batch);
    }
    if (id === undefined) return this.#final(asked, kept, result);
    return refusal(result, [
      why ?? `${name} needs the approval of the person, and this client cannot ask them.`,
      // A rule that the person has written may not cover the call: this says why.
      `Reason: ${reason}`,
      `Nothing was run. The person can decide with: ${this.#parts.decideWith(id)}`,
      'Or allow such calls by a rule of the policy ("toolexec policy suggest" proposes one).',
      `After that, call ${name} again with the same arguments to get its result.`,
    ]);
  }

  // ---- the decision ---------------------------------------------------------------------------------------------

  /** The client returns with the person's answer. */
  async #resumed(asked: Asked, state: CarriedState): Promise<CallToolResult | InputRequiredResult> {
    const isSame =
      state.digest === callDigest(asked.name, asked.args) && state.conversation === asked.conversation;
    if (!isSame) throw foreignState();
    const { inputResponses } = asked.context.mcpReq;
    if ('running' in state) {
      const { callId } = state;
      const kept = this.#parts.asking.take(state.running);
      // The state was used before, or by a process that has ended: the journal holds the outcome.
      if (kept === undefined) return this.#final(asked, callId, await this.#execute(asked, callId));
      kept.question.answer(inputResponses?.[QUESTION]);
      const answer = await goOn(this.#parts, asked, callId, kept.call);
      return isInputRequiredResult(answer) ? answer : this.#answered(asked, callId, answer);
    }
    const request = await this.#requestOf(asked, state.callId, state.batch);
    // Used before: the first use decided.
    if (request === undefined)
      return this.#final(asked, state.callId, await this.#execute(asked, state.callId));
    return this.#decide(asked, state, request, readDecision(inputResponses?.[QUESTION], request));
  }

  async #decide(
    asked: Asked,
    state: AskedState,
    request: ApprovalRequest,
    decision: Decision,
    round = 0,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { batch, callId, shown } = state;
    if (decision.kind === 'again') return this.#ask(asked, callId, batch, decision.problem, round + 1);
    if (decision.kind === 'give_up') {
      await this.#giveUp(batch);
      return this.#final(asked, callId, await this.#execute(asked, callId));
    }
    const by = personAt(asked.client);
    const approver: Approver = ([now]) => {
      // The last picture that the person saw counts, not the one from the time of the deferral.
      if (now === undefined || !isSameContent(now.shown, shown))
        throw new Error('what it would change has changed since.');
      if (decision.kind === 'deny') return { kind: 'deny_all', by };
      const { edits } = decision;
      const edited = edits === undefined ? {} : { edits: { [callId]: edits } };
      return { kind: 'approve_selected', ids: [callId], ...edited, by };
    };
    let result: ToolResult | InputRequiredResult;
    try {
      result = await attendCall(this.#parts, asked, callId, async (how, running) =>
        this.#follow(
          await this.#parts.executor.approve(batch, { ...how, approver }),
          () => running().attending,
        ),
      );
    } catch (error) {
      if (!isToolError(error, 'already_decided')) throw error;
      return this.#final(asked, callId, await this.#execute(asked, callId));
    }
    if (isInputRequiredResult(result)) return result;
    if (waitsFor(result) === undefined) return this.#final(asked, callId, result);
    // It differs from the picture that the person saw.
    const problem = `What ${request.toolName} would change has changed since you were asked.`;
    return this.#ask(asked, callId, batch, problem, round + 1);
  }

  /** Runs none of the calls. */
  async #giveUp(batch: string): Promise<void> {
    try {
      await this.#parts.executor.decide(batch, 'discard');
    } catch (error) {
      if (!isToolError(error, 'already_decided')) throw error;
    }
  }
}

/** How many times a client that answers automatically is asked about one call. */
const MOST_ROUNDS = 10;

/** The name of a call's only question. */
export const QUESTION = 'approval';

function only(results: readonly ToolResult[]): ToolResult {
  const [result] = results;
  if (result === undefined) throw new Error('a batch of one call has one result');
  return result;
}

/**
 * The batch that waits for approval together with this call. A wait for a decision after a crash does not
 * count.
 */
function waitsFor({ metadata }: ToolResult): string | undefined {
  const { pending, waits_for: batch } = metadata;
  return pending === true && typeof batch === 'string' ? batch : undefined;
}

/**
 * The client has cancelled the call, possibly without a reason. A broken connection cancels nothing: the client may ask
 * for the call again.
 */
function isTakenBack({ context }: Asked): boolean {
  const { signal } = context.mcpReq;
  return signal.aborted && !(signal.reason instanceof SdkError);
}

function isSameContent(now: readonly ShownFile[], then: readonly ShownFile[]): boolean {
  const inOrder = (files: readonly ShownFile[]): string[] =>
    files.map(({ path, hash }) => `${hash} ${path}`).sort();
  return isDeepStrictEqual(inOrder(now), inOrder(then));
}

function refusal(result: ToolResult, lines: readonly string[]): CallToolResult {
  const { content: _, ...more } = toCallToolResult(result);
  return { ...more, content: [{ type: 'text', text: lines.join('\n') }] };
}

function unknownTool(name: string, { list, executor }: CallServerParts): ProtocolError {
  const why = whyMissing(executor, name);
  if (why !== undefined) return new ProtocolError(ProtocolErrorCode.InvalidParams, why);
  const names = list.all().map((tool) => tool.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  const shown = JSON.stringify(name.slice(0, 80));
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${shown}.${hint}`);
}

/** The SDK's own wording for a state that it refuses. */
function foreignState(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  });
}
