import { isDeepStrictEqual } from 'node:util';
import type { ToolCall } from '../../contract/call.js';
import type { AskedTicket } from '../../contract/ticket.js';
import { unaskedTicket } from './ticket.js';

/** A call that needed no approval when it was asked about. */
interface UnaskedCall {
  readonly conversation: string;
  /** With frozen arguments. */
  readonly call: ToolCall;
}

/** By the answer of `ask`, for as long as a host holds that. */
const unasked = new WeakMap<AskedTicket, UnaskedCall>();

/** The answer of `ask` about a call that needs no approval. */
export function answerUnasked(conversation: string, call: ToolCall): AskedTicket {
  let ticket: string | undefined;
  const answer: AskedTicket = {
    needed: false,
    // Made on first use: its hash costs more than the plan, and a host that starts the call by this answer reads none.
    get ticket() {
      ticket ??= unaskedTicket(conversation, call);
      return ticket;
    },
  };
  unasked.set(answer, { conversation, call });
  return answer;
}

/**
 * The call of an answer, as `ask` has copied it. Undefined: the answer is not about exactly this call, as its ticket
 * would say too.
 */
export function unaskedCall(
  answer: AskedTicket,
  { id, name, args }: ToolCall<unknown>,
  conversation: string | undefined,
): ToolCall | undefined {
  const known = unasked.get(answer);
  if (known === undefined || known.conversation !== conversation) return undefined;
  const { call } = known;
  return call.id === id && call.name === name && isDeepStrictEqual(call.args, args) ? call : undefined;
}
