import type {
  ClientCapabilities,
  ElicitRequestFormParams,
  Implementation,
  InputRequiredResult,
  ServerContext,
} from '@modelcontextprotocol/server';
import type { ToolResult } from '../contract/call.js';
import type { JsonObject } from '../contract/json.js';
import { askInput } from './ask-client.js';
import type { Client } from './client-facts.js';
import { callDigest, type RequestStates } from './request-state.js';
import { type AskingCalls, type RunCall, RunningCall } from './running-call.js';

export interface Identity {
  /** A name, or a function that derives it from the client's name. */
  readonly conversation: string | ((client: string) => string);
  readonly legacyClient: () => {
    readonly capabilities: ClientCapabilities | undefined;
    readonly info: Implementation | undefined;
  };
  /** Whether the connection uses 2026-07-28 or later: then a question is sent as an answer, not as a request. */
  readonly isModern: () => boolean;
}

export function conversationOf({ conversation }: Identity, client: Client): string {
  return typeof conversation === 'string' ? conversation : conversation(client.name);
}

/** The parts of a connection that are needed to ask questions during a call. */
export interface AttendingParts {
  readonly identify: Identity;
  readonly states: RequestStates;
  /** Calls that ask while they run; the client returns with the response. */
  readonly asking: AskingCalls;
  /** The client's connection, if there is one: calls that ask end with it. */
  readonly connection: object;
}

/** A `tools/call` that is being served. */
export interface Asked {
  readonly name: string;
  readonly args: JsonObject;
  readonly conversation: string;
  readonly client: Client;
  readonly context: ServerContext;
}

/** Runs a call that may ask its person questions. */
export function attendCall(
  parts: AttendingParts,
  asked: Asked,
  callId: string,
  run: (how: Parameters<RunCall>[0], running: () => RunningCall) => Promise<ToolResult>,
): Promise<ToolResult | InputRequiredResult> {
  const running: RunningCall = new RunningCall(personAt(asked.client), async (how) => {
    // The attendance refers to itself, so it must exist first.
    await Promise.resolve();
    return run(how, () => running);
  });
  return goOn(parts, asked, callId, running);
}

/** Resolves when the call is answered, or when its question must be sent as an answer. */
export async function goOn(
  { identify, states, asking, connection }: AttendingParts,
  { name, args, context, conversation }: Asked,
  callId: string,
  running: RunningCall,
): Promise<ToolResult | InputRequiredResult> {
  for (;;) {
    const step = await running.next(context);
    if (step.kind === 'result') return step.result;
    const { question } = step;
    if (identify.isModern()) {
      const kept = asking.keep(running, question, context.http === undefined ? connection : undefined);
      const digest = callDigest(name, args);
      const requestState = await states.mint({ running: kept, callId, conversation, digest });
      return { ...askInput(question.form), requestState };
    }
    try {
      question.answer(await askNow(context, question.form));
    } catch (error) {
      question.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** How long a person may take in the revisions in which the server waits for the answer. Milliseconds. */
const PERSON_MS = 24 * 3600 * 1000;

export async function askNow({ mcpReq }: ServerContext, question: ElicitRequestFormParams): Promise<unknown> {
  const options = { signal: mcpReq.signal, timeout: PERSON_MS };
  return mcpReq.send({ method: 'elicitation/create', params: { ...question } }, options);
}

/** The name of the decider in the journal. */
export function personAt({ name }: Client): string {
  return `the person at ${name} (MCP)`;
}
