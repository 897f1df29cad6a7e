import { isFilledText, normalizeOptions, type OptionRules, option } from '../base/normalize-options.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { BatchRun, Executor } from '../contract/executor.js';
import type { AskedTicket } from '../contract/ticket.js';
import { isToolError, ToolError } from '../errors/tool-error.js';

export interface HostOptions {
  /**
   * The conversation of the calls in the journal: the id of the chat or thread. In it, the same call runs
   * once.
   */
  readonly conversation: string;
}

/** An executor inside a framework. */
export interface Host extends HostOptions {
  readonly executor: Executor;
  /** The framework: it is recorded as the one who decided. */
  readonly by: string;
}

/** A call as a framework hands it over. */
export type HostCall = ToolCall<unknown>;

/** The person's answer, as the framework reports it. Undefined: none. */
export type HostAnswer = 'approved' | 'denied' | undefined;

export interface HostTicket extends AskedTicket {
  /** The framework brings an approval, and the question was never put. */
  readonly isInvented: boolean;
}

const RULES: OptionRules<{ conversation: string | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
};

/** @throws ToolError `config_invalid` without a conversation */
export function openHost(maker: string, executor: Executor, options: HostOptions, by: string): Host {
  const { conversation } = normalizeOptions(maker, options, RULES);
  if (conversation !== undefined) return { executor, conversation, by };
  throw new ToolError('config_invalid', `Cannot make tools: ${maker}.conversation is missing.`);
}

/** Runs a call as far as it was approved: without that it is answered with why it has not run. */
export async function startForHost(
  host: Host,
  call: HostCall,
  answer: HostAnswer,
  signal: AbortSignal | undefined,
): Promise<BatchRun> {
  const { ticket } = await askForHost(host, call, answer);
  return startWithTicket(host, call, ticket, signal);
}

export function startWithTicket(
  { executor, conversation }: Host,
  call: HostCall,
  ticket: string,
  signal: AbortSignal | undefined,
): BatchRun {
  return executor.start([call], { conversation, ticket, ...(signal === undefined ? {} : { signal }) });
}

export async function runForHost(...given: Parameters<typeof startForHost>): Promise<ToolResult> {
  return resultOf(await startForHost(...given));
}

export async function resultOf({ results }: BatchRun): Promise<ToolResult> {
  const [result] = await results;
  if (result === undefined) throw new Error('a batch of one call has one result');
  return result;
}

const INVENTED = 'this approval was never asked for';

/**
 * Asks about a call of a framework, and accepts the framework's approval as the answer to the question in the
 * journal. A framework's data may come from outside: an approval counts only for a call that was asked about
 * before with the same arguments, and only for the files that were shown then. An approval without a question
 * is recorded as a refusal, so that sending it again does not help.
 */
export async function askForHost(
  { executor, conversation, by }: Host,
  call: HostCall,
  answer: HostAnswer,
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
