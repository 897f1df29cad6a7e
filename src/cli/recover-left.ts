import type { Executor } from '../contract/executor.js';
import type { RecoveredBatch } from '../contract/open-batch.js';
import { isToolError } from '../errors/tool-error.js';
import type { RecoveryAnswer } from '../terminal/ask-recovery.js';
import { askAboutLeft } from './ask-recovery.js';
import type { CliContext } from './cli-context.js';
import { describeLeft } from './describe-left.js';
import type { Display } from './display/display.js';

/**
 * Before any call runs: recovers calls of dead processes, and lets the person decide batches that wait in
 * this conversation. True if one still waits: then no new call runs in it.
 */
export async function recoverLeft(
  executor: Executor,
  conversation: string | undefined,
  display: Display,
  journal: string,
  context: Pick<CliContext, 'stdio' | 'env'>,
): Promise<boolean> {
  const left = await recoverIfPossible(executor);
  let waits = false;
  for (const batch of left) {
    if (batch.conversation !== conversation) continue;
    if (!batch.waits) {
      waits ||= noteUnsettled(batch, display);
      continue;
    }
    if (batch.waitsFor === 'approval') {
      waits = true;
      display.note(`batch ${batch.batchId} waits for you: "toolexec approve ${batch.batchId}"`);
      continue;
    }
    const answer = await askAboutLeft(batch, journal, context);
    if (answer === undefined)
      display.note(
        `batch ${batch.batchId} was left half done by a process that died: ${describeLeft(batch)}`,
      );
    if (answer?.kind === 'interrupt') context.stdio.interrupt();
    if (answer?.kind === 'resume' || answer?.kind === 'discard') {
      await decideUnlessDecided(executor, batch.batchId, answer);
      continue;
    }
    waits = true;
    display.note(
      `nothing new runs in this conversation until you decide: "toolexec journal recover --resume ${batch.batchId}" ` +
        'continues with the known results, "--discard" instead counts all of it as failed',
    );
  }
  return waits;
}

/** The batch belongs to other directories, or to a living process: its outcome is unknown here. */
function noteUnsettled(batch: RecoveredBatch, display: Display): boolean {
  if (batch.calls.every(({ result }) => result !== undefined)) return false;
  display.note(
    `batch ${batch.batchId} of this conversation is unfinished: ${describeLeft(batch)}. If it was run with another ` +
      '--root: "toolexec journal recover" with that decides it',
  );
  return true;
}

/** Another terminal may have decided meanwhile. */
export async function decideUnlessDecided(
  executor: Executor,
  batchId: string,
  answer: RecoveryAnswer & { readonly kind: 'resume' | 'discard' },
): Promise<void> {
  try {
    await executor.decide(batchId, answer.kind, answer.kind === 'resume' ? { settled: answer.settled } : {});
  } catch (error) {
    if (!isToolError(error, 'already_decided')) throw error;
  }
}

/** The next command reports an unusable journal. */
async function recoverIfPossible(executor: Executor): Promise<readonly RecoveredBatch[]> {
  try {
    return await executor.recover();
  } catch (error) {
    if (isToolError(error, 'journal_unavailable')) return [];
    throw error;
  }
}
