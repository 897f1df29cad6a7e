import type { Approver } from '../contract/approval.js';
import type { Executor } from '../contract/executor.js';
import { ToolError } from '../errors/tool-error.js';
import { approves } from '../executor/approve/decision.js';
import type { ExitCode } from './cli-context.js';
import type { createDisplay } from './display/display.js';

/**
 * Decides a question of another program (`executor.ask`). That program has the tool and runs the call; this process
 * only records the decision.
 */
export async function decideQuestion(
  batchId: string,
  executor: Executor,
  approver: Approver | undefined,
  display: Pick<ReturnType<typeof createDisplay>, 'note'>,
): Promise<ExitCode> {
  const question = (await executor.waiting()).find((batch) => batch.batchId === batchId);
  const { ticket, requests = [] } = question ?? {};
  if (ticket === undefined) {
    const message = `Cannot approve batch "${batchId}": it was decided already, and waits for its program to run it.`;
    throw new ToolError('already_decided', message);
  }
  const signal = new AbortController().signal;
  const decision = await answered(async () => approver?.(requests, { signal }));
  if (decision === undefined) {
    display.note('nothing was decided: the question stays open');
    return 3;
  }
  await executor.decide(ticket, decision);
  const isApproved = requests.every(({ callId }) => approves(decision, callId));
  display.note(
    isApproved ? 'approved: the program that asked runs the call' : 'refused: the call does not run',
  );
  return isApproved ? 0 : 1;
}

/** If the person leaves the question, there is no decision. */
async function answered<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    return undefined;
  }
}
