import type { ApprovalDecision, Approver } from '../contract/approval.js';
import { EXIT_CODES } from '../errors/catalogue.js';
import { ToolError } from '../errors/tool-error.js';
import { approves } from '../executor/approve/decision.js';
import type { ExitCode } from './cli-context.js';
import { type CancelWatch, watchCancel } from './run-batch.js';

/**
 * Decides a question of another program (`executor.ask`). That program has the tool and runs the call; this process
 * only records the decision.
 */
export async function decideQuestion(
  batchId: string,
  approver: Approver | undefined,
  watch: CancelWatch,
): Promise<ExitCode> {
  const { executor, display } = watch;
  const question = (await executor.waiting()).find((batch) => batch.batchId === batchId);
  const { ticket, requests = [] } = question ?? {};
  if (ticket === undefined) {
    const message = `Cannot approve batch "${batchId}": it was decided already, and waits for its program to run it.`;
    throw new ToolError('already_decided', message);
  }
  const stop = new AbortController();
  const interrupts = watchCancel(watch, () => stop.abort());
  let decision: ApprovalDecision | undefined;
  let why = 'there is no person to ask';
  try {
    decision = await approver?.(requests, { signal: stop.signal });
  } catch (error) {
    why = error instanceof Error ? error.message : String(error);
  } finally {
    interrupts.stop();
  }
  if (interrupts.happened() || decision === undefined) {
    const because = interrupts.happened() ? '' : ` (${why.replace(/[.]+$/, '')})`;
    display.note(`nothing was decided${because}: the question stays open`);
    return interrupts.happened() ? EXIT_CODES.interrupted.code : EXIT_CODES.approvalNeeded.code;
  }
  await executor.decide(ticket, decision);
  const isApproved = requests.every(({ callId }) => approves(decision, callId));
  display.note(
    isApproved ? 'approved: the program that asked runs the call' : 'refused: the call does not run',
  );
  return isApproved ? 0 : 1;
}
