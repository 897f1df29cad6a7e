import type { ToolCall } from '../contract/call.js';
import type { BatchRun, RunOptions, ToolEvent } from '../contract/executor.js';
import { planAlone } from './approve/ask-ticket.js';
import { type Redeemed, redeemTicket } from './approve/redeem-ticket.js';
import type { BatchScope } from './call/batch-scope.js';
import { copyCalls } from './call/calls.js';
import type { ResolvedCall } from './call/evaluated-call.js';
import { checkCalls, checkRunOptions, checkTicketOptions } from './call/run-options.js';
import type { ExecutorSettings } from './call/settings.js';
import type { KeptPlace } from './conversations.js';
import { EventStream } from './events/event-stream.js';
import { Observer } from './events/observer.js';
import type { Known } from './executor-parts.js';
import { plannedParts } from './plan/to-plan.js';

const NEVER_ABORTED = new AbortController().signal;

interface TicketRun {
  /** The id of the batch, unless the ticket's own batch continues. */
  readonly id: string;
  readonly settings: ExecutorSettings;
  scope(options: RunOptions): BatchScope;
  /** Keeps the place of the call while the journal is read. Undefined: the call does not take part in the queue. */
  reserve(): KeptPlace | undefined;
  run(calls: readonly ToolCall[], options: RunOptions, known: Known): BatchRun;
}

/** Whether the options contain a ticket. Options that are not an object are refused where all options are checked. */
export function hasTicket(options: RunOptions | null): boolean {
  return options?.ticket !== undefined;
}

/**
 * Runs a call if its ticket allows it. The ticket of a question is looked up in the journal before anything else happens.
 * @throws ToolError `config_invalid` for an option that grants approval in another way
 */
export function runWithTicket(
  given: readonly ToolCall<unknown>[],
  options: RunOptions,
  { id, settings, scope, reserve, run }: TicketRun,
): BatchRun {
  checkCalls(given);
  checkRunOptions(options);
  checkTicketOptions(options);
  const calls = copyCalls(given);
  const { ticket = '', ...rest } = options;
  const begin = (found: Redeemed, kept?: KeptPlace): BatchRun => {
    if (found.kind === 'refused') return answeredRun(id, found.answers, settings);
    const how = { ...rest, approver: found.approver };
    const place = kept?.place;
    if (found.kind === 'plain') return run(calls, how, { id, place });
    return run(calls, how, { id: found.batchId, calls: [found.record], decision: found.decision, place });
  };
  const { conversation, signal = NEVER_ABORTED } = rest;
  const plan = (call: ToolCall) => planAlone(call, { scope: scope(rest), signal });
  const redeemed = redeemTicket(ticket, calls, { conversation, settings, plan });
  if (!(redeemed instanceof Promise)) return begin(redeemed);
  const kept = reserve();
  const begun = redeemed.then((found) => begin(found, kept));
  return startLater(
    id,
    begun.finally(() => kept?.giveUp()),
  );
}

/**
 * A batch that starts after the journal has answered. If it is cancelled before that, it is cancelled when it starts.
 */
function startLater(id: string, begun: Promise<BatchRun>): BatchRun {
  const results = begun.then((run) => run.results);
  // A caller that reads only the events sees the error there.
  results.catch(() => {});
  return {
    id,
    events: eventsOf(begun),
    results,
    cancel: (reason) => void begun.then((run) => run.cancel(reason)).catch(() => {}),
  };
}

async function* eventsOf(begun: Promise<BatchRun>): AsyncGenerator<ToolEvent> {
  yield* (await begun).events;
}

/** A batch that runs nothing, because its answers exist already. */
function answeredRun(id: string, answers: readonly ResolvedCall[], settings: ExecutorSettings): BatchRun {
  const stream = new EventStream();
  const observer = new Observer(stream, settings.clock);
  for (const answer of answers) observer.planned(answer.call, plannedParts(answer, settings));
  for (const { call, result } of answers) observer.completed(call, result);
  const results = stream.endWith(Promise.resolve(answers.map(({ result }) => result)));
  return { id, events: stream, results, cancel: () => {} };
}
