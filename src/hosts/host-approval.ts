import type { AskedTicket, Executor } from '../contract/executor.js';
import { isToolError } from '../errors/tool-error.js';

/** A call as a framework hands it over. */
export interface HostCall {
  readonly id: string;
  readonly name: string;
  readonly args: unknown;
}

/** What the framework says a person has answered. Undefined: nothing. */
export type HostAnswer = 'approved' | 'denied' | undefined;

export interface HostTicket extends AskedTicket {
  /** The framework brings an approval, and the question was never put. */
  readonly isInvented: boolean;
}

const INVENTED = 'this approval was never asked for';

/**
 * Asks about a call of a framework, and takes the framework's approval for an answer to the question that stands in the
 * journal. What a framework brings along may come from outside: an approval counts only for a call that was asked about
 * before with the same arguments, and only for the files that were shown then. An approval without a question is
 * recorded as a refusal, so that sending it again does not help.
 */
export async function askForHost(
  executor: Executor,
  call: HostCall,
  conversation: string,
  answer: HostAnswer,
  by: string,
): Promise<HostTicket> {
  const before = answer === undefined ? undefined : await openTicket(executor, call, conversation);
  const asked = await executor.ask(call, { conversation });
  if (!asked.needed || answer === undefined) return { ...asked, isInvented: false };
  const isInvented = before === undefined;
  // Files have changed since the question was put: the answer was to another question.
  if (!isInvented && before !== asked.ticket) return { ...asked, isInvented };
  const decision =
    answer === 'approved' && !isInvented
      ? ({ kind: 'approve_all', by } as const)
      : ({ kind: 'deny_all', by, ...(isInvented ? { reason: INVENTED } : {}) } as const);
  try {
    await executor.decide(asked.ticket, decision);
  } catch (error) {
    // The same request came twice: the first answer counts.
    if (!isToolError(error, 'already_decided')) throw error;
  }
  return { needed: false, ticket: asked.ticket, isInvented };
}

async function openTicket(
  executor: Executor,
  { id, name }: HostCall,
  conversation: string,
): Promise<string | undefined> {
  const waiting = await executor.waiting({ conversation });
  return waiting.find(({ requests }) =>
    requests.some(({ callId, toolName }) => callId === id && toolName === name),
  )?.ticket;
}
