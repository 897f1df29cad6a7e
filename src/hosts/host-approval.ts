import {
  isFilledText,
  normalizeOptions,
  type OptionRules,
  option,
  requireMethod,
} from '../base/normalize-options.js';
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
  /** The framework, recorded as the decider. */
  readonly by: string;
}

/** A call as a framework passes it. */
export interface HostCall extends ToolCall<unknown> {
  /** The sub-agent that makes it, for policy rules. Absent for the main conversation. */
  readonly agent?: string;
}

/** The person's answer, as the framework reports it. Undefined: none. */
export type HostAnswer = 'approved' | 'denied' | undefined;

export interface HostTicket extends AskedTicket {
  /** Why the approval that the framework sends does not count. The call is refused. */
  readonly invalid?: string;
}

const RULES: OptionRules<{ conversation: string | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
};

/** @throws ToolError `config_invalid` without an executor or a conversation */
export function openHost(maker: string, executor: Executor, options: HostOptions, by: string): Host {
  requireMethod(`${maker}()`, executor, 'definitions', 'an executor');
  const { conversation } = normalizeOptions(maker, options, RULES);
  if (conversation !== undefined) return { executor, conversation, by };
  throw new ToolError('config_invalid', `Cannot make tools: ${maker}.conversation is missing.`);
}

/** Runs a call in its turn if it was approved. Otherwise the answer says why it has not run. */
export function startForHost(...given: Parameters<typeof startInTurn>): Promise<BatchRun> {
  return inTurn(given[0], () => startInTurn(...given));
}

/** For each host, the part of the last call that has not ended yet. */
const turns = new WeakMap<Host, Promise<void>>();

/**
 * Does this part of a call after the same part of every earlier call. A framework runs the calls of a step at once, and
 * each asks its own question before it enters the executor's queue: a call that is planned quickly would overtake an
 * earlier one that it conflicts with.
 */
export function inTurn<T>(host: Host, work: () => Promise<T>): Promise<T> {
  const before = turns.get(host);
  const done = before === undefined ? work() : before.then(work);
  const end = (): void => {
    if (turns.get(host) === ended) turns.delete(host);
  };
  const ended = done.then(end, end);
  turns.set(host, ended);
  return done;
}

/** Inside `inTurn`. */
export async function startInTurn(
  host: Host,
  call: HostCall,
  answer: HostAnswer,
  signal: AbortSignal | undefined,
): Promise<BatchRun> {
  const known = answer === undefined ? askedBefore(host, call) : undefined;
  const ticket = known ?? (await askForHost(host, call, answer)).ticket;
  return startWithTicket(host, call, ticket, signal);
}

export function startWithTicket(
  { executor, conversation }: Host,
  call: HostCall,
  ticket: string,
  signal: AbortSignal | undefined,
): BatchRun {
  return executor.start([call], {
    conversation,
    ticket,
    ...agentOf(call),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** As an option of `ask` and `run`. */
export function agentOf({ agent }: HostCall): { readonly agent?: string } {
  return agent === undefined ? {} : { agent };
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
const CHANGED =
  'its files have changed since the question was shown, so the approval does not count. Make a new call, which is asked about again';

/**
 * Asks about a call of a framework, and accepts the framework's approval as the answer to the question in the
 * journal. A framework's data may come from outside: an approval counts only for a call that was asked about
 * before with the same arguments, and only for the files that were shown then. Any other approval is recorded as a
 * refusal: a framework sends its approvals again, and an earlier one must not answer a later question.
 */
export async function askForHost(host: Host, call: HostCall, answer: HostAnswer): Promise<HostTicket> {
  const { executor, conversation, by } = host;
  const before = answer === undefined ? undefined : await openTicket(executor, call, conversation);
  const asked = await executor.ask(call, { conversation, ...agentOf(call) });
  if (answer === undefined) rememberUnasked(host, call, asked);
  if (!asked.needed || answer === undefined) return asked;
  const invalid = before === undefined ? INVENTED : before === asked.ticket ? undefined : CHANGED;
  const reason = invalid === undefined ? {} : { reason: invalid };
  const decision =
    answer === 'approved' && invalid === undefined
      ? ({ kind: 'approve_all', by } as const)
      : ({ kind: 'deny_all', by, ...reason } as const);
  try {
    await executor.decide(asked.ticket, decision);
  } catch (error) {
    // The same request came twice: the first answer counts.
    if (!isToolError(error, 'already_decided')) throw error;
  }
  return { needed: false, ticket: asked.ticket, ...(invalid === undefined ? {} : { invalid }) };
}

interface UnaskedCall {
  readonly host: Host;
  readonly id: string;
  readonly name: string;
  readonly ticket: string;
}

/**
 * Calls that needed no approval when their framework asked, by their arguments. A framework runs such a call next, so
 * it is not planned a third time: the run itself plans it, and refuses a call that needs approval by then or whose
 * arguments have changed.
 */
const unasked = new WeakMap<object, UnaskedCall>();

function rememberUnasked(host: Host, { id, name, args }: HostCall, { needed, ticket }: AskedTicket): void {
  if (!needed && typeof args === 'object' && args !== null) unasked.set(args, { host, id, name, ticket });
}

function askedBefore(host: Host, { id, name, args }: HostCall): string | undefined {
  const known = typeof args === 'object' && args !== null ? unasked.get(args) : undefined;
  const isSame = known?.host === host && known.id === id && known.name === name;
  return isSame ? known.ticket : undefined;
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
