import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client';
import type { ToolContext } from '../contract/context.js';
import { toContent, toQuestions } from './form-questions.js';
import { addressQuestion, readAddress } from './upstream-address.js';

/** The maximum number of times a person is asked to fill in one form before its values fit the form's schema. */
const MOST_ROUNDS = 5;
/** A call may ask at most this many questions; further ones get no answer. */
const MOST_QUESTIONS = 20;

/** A running call of a client: its server may ask the person through it. */
export interface AskingCall {
  readonly ctx: Pick<ToolContext, 'ask' | 'emit' | 'memory'>;
  /** The time limit of the call pauses while the person is asked. */
  whilePaused<T>(wait: () => Promise<T>): Promise<T>;
}

/** The running calls of each client, in the order of their start. */
const running = new WeakMap<Client, Set<AskingCall>>();
/** In the revision 2026-07-28 a question is part of the call's own exchange. */
const exchange = new AsyncLocalStorage<AskingCall>();

/**
 * Lets a client's server ask the person, through the call that the question belongs to. Call this before another
 * handler for such questions is set. A client that has not declared elicitation receives no questions.
 */
export function answerUpstream(
  client: Client,
  server: string,
  hide: (text: string) => string = (text) => text,
): void {
  client.setRequestHandler('elicitation/create', async ({ params: sent }): Promise<ElicitResult> => {
    const params = { ...sent, message: hide(sent.message) };
    const call = exchange.getStore() ?? onlyOne(client);
    if (call === undefined) return { action: 'decline' };
    return inTurn(call, server, () =>
      call.whilePaused(() =>
        'requestedSchema' in params ? ask(call, server, params) : askToVisit(call, server, params),
      ),
    );
  });
}

interface Turns {
  asked: number;
  last: Promise<unknown>;
}

const turnsOf = new WeakMap<AskingCall, Turns>();

/** The questions of a call reach the person one after another, up to a limit. */
function inTurn(
  call: AskingCall,
  server: string,
  work: () => Promise<ElicitResult>,
): ElicitResult | Promise<ElicitResult> {
  const turns = turnsOf.get(call) ?? { asked: 0, last: Promise.resolve() };
  turnsOf.set(call, turns);
  turns.asked += 1;
  if (turns.asked > MOST_QUESTIONS) {
    if (turns.asked === MOST_QUESTIONS + 1)
      void call.ctx.emit(
        `The MCP server ${server} asked more than ${MOST_QUESTIONS} questions in one call.\n`,
        'stderr',
      );
    return { action: 'decline' };
  }
  const answered = turns.last.then(work);
  turns.last = answered.catch(() => {});
  return answered;
}

/** Sends a request to a server. Meanwhile, the server's questions go to the person of this call. */
export async function whileAsking<T>(client: Client, call: AskingCall, work: () => Promise<T>): Promise<T> {
  let calls = running.get(client);
  if (calls === undefined) {
    calls = new Set();
    running.set(client, calls);
  }
  calls.add(call);
  try {
    return await exchange.run(call, work);
  } finally {
    calls.delete(call);
  }
}

/**
 * Before 2026-07-28 a question does not name its call. It is asked only if all running calls belong to one
 * conversation.
 */
function onlyOne(client: Client): AskingCall | undefined {
  const calls = [...(running.get(client) ?? [])];
  const conversations = new Set(calls.map(({ ctx }) => ctx.memory));
  return conversations.size === 1 ? calls.at(-1) : undefined;
}

/** The person opens the address. Nothing here opens it. */
async function askToVisit(
  call: AskingCall,
  server: string,
  { message, url }: { readonly message: string; readonly url: string },
): Promise<ElicitResult> {
  const { ctx } = call;
  const address = readAddress(url);
  if (address === undefined) {
    const why = 'sent the person to an address that is not a plain web address';
    void ctx.emit(`The MCP server ${server} ${why}.\n`, 'stderr');
    return { action: 'decline' };
  }
  if (ctx.ask === undefined) return cannotAsk(call, server);
  const answers = await ctx.ask([addressQuestion(server, message, address)]);
  if (answers === undefined) return { action: 'cancel' };
  const [answer] = answers;
  return { action: answer?.declined === true || answer?.chosen.length === 0 ? 'decline' : 'accept' };
}

/** Tells the model why its call failed. */
function cannotAsk({ ctx }: AskingCall, server: string): ElicitResult {
  void ctx.emit(`The MCP server ${server} asked the person, who cannot be asked here.\n`, 'stderr');
  return { action: 'decline' };
}

async function ask(call: AskingCall, server: string, form: ElicitRequestFormParams): Promise<ElicitResult> {
  const { ctx } = call;
  if (ctx.ask === undefined) return cannotAsk(call, server);
  const [consent, ...fields] = toQuestions(server, form);
  let problem = '';
  for (let round = 0; consent !== undefined && round < MOST_ROUNDS; round++) {
    const questions = [{ ...consent, question: `${problem}${consent.question}` }, ...fields];
    const answers = await ctx.ask(questions);
    if (answers === undefined) return { action: 'cancel' };
    if (answers.some(({ declined }) => declined === true)) return { action: 'decline' };
    const content = toContent(questions, answers);
    if (typeof content !== 'string') return { action: 'accept', content };
    problem = `${content}\n`;
  }
  return { action: 'cancel' };
}
