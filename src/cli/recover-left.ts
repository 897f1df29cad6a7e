import type { Executor, RecoveredBatch, RecoveredCall } from '../contract/executor.js';
import { isToolError } from '../errors/tool-error.js';
import { openKeyboard } from '../platform/runtime/open-keyboard.js';
import type { Stdio } from '../platform/runtime/stdio.js';
import type { CliContext } from './cli-context.js';
import type { Display } from './display/display.js';
import { isAutomated } from './display/display.js';

/**
 * Before anything runs: settles what dead processes left, and lets the person decide about what waits in this
 * conversation. True when it waits still: then nothing new runs in it.
 */
export async function recoverLeft(
  executor: Executor,
  conversation: string | undefined,
  display: Display,
  { stdio, env }: Pick<CliContext, 'stdio' | 'env'>,
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
    display.note(`batch ${batch.batchId} was left half done by a process that died: ${describeLeft(batch)}`);
    const decision = await askDecision(batch, stdio, env);
    if (decision !== undefined) {
      await decideUnlessDecided(executor, batch.batchId, decision);
      continue;
    }
    waits = true;
    display.note(
      `nothing new runs in this conversation before you decide: "toolexec journal recover --resume ${batch.batchId}" ` +
        'goes on with what is known, "--discard" in its place has all of it count as failed',
    );
  }
  return waits;
}

/** It is of other directories, or of a process that lives: what comes of it is not known here. */
function noteUnsettled(batch: RecoveredBatch, display: Display): boolean {
  if (batch.calls.every(({ result }) => result !== undefined)) return false;
  display.note(
    `batch ${batch.batchId} of this conversation is not settled: ${describeLeft(batch)}. If it was run with another ` +
      '--root: "toolexec journal recover" with that settles it',
  );
  return true;
}

/** The decision may have been taken in another terminal meanwhile. */
async function decideUnlessDecided(
  executor: Executor,
  batchId: string,
  decision: 'resume' | 'discard',
): Promise<void> {
  try {
    await executor.decide(batchId, decision);
  } catch (error) {
    if (!isToolError(error, 'already_decided')) throw error;
  }
}

/** A journal that cannot be used is told by what is run next. */
async function recoverIfPossible(executor: Executor): Promise<readonly RecoveredBatch[]> {
  try {
    return await executor.recover();
  } catch (error) {
    if (isToolError(error, 'journal_unavailable')) return [];
    throw error;
  }
}

/** What is known of each call of a batch: `1: done (write_file), 2: unknown (bash)`. */
export function describeLeft({ calls }: Pick<RecoveredBatch, 'calls'>): string {
  return calls.map((call, index) => `${index + 1}: ${stateOf(call)} (${call.toolName})`).join(', ');
}

function stateOf({ state, result }: RecoveredCall): string {
  if (result === undefined) return state === 'queued' ? 'not started yet' : 'started';
  const { metadata, success, error } = result;
  if (metadata.recovered !== true) return success ? 'done' : 'failed';
  if (success) return 'done, as its files say';
  if (error.code === 'outcome_unknown') return 'unknown';
  return metadata.settled_by === 'probe' ? 'not done, as its files say' : 'never started';
}

const QUESTION =
  'Go on with what is known, or take all of it as failed? [r]esume, [d]iscard, or Enter for later: ';

/** Asks the person about a batch that waits (D089). Undefined: no person is there, or they decide later. */
async function askDecision(
  { batchId }: RecoveredBatch,
  stdio: Stdio,
  env: Readonly<Record<string, string | undefined>>,
): Promise<'resume' | 'discard' | undefined> {
  if (!stdio.stderr.isTerminal || isAutomated(env)) return undefined;
  const keyboard = openKeyboard();
  if (keyboard === undefined) return undefined;
  try {
    for (;;) {
      stdio.stderr.write(`${batchId}\n${QUESTION}`);
      const line = (await keyboard.readLine(new AbortController().signal))?.trim().toLowerCase();
      if (line === undefined || line === '') return undefined;
      if (line === 'r' || line === 'resume') return 'resume';
      if (line === 'd' || line === 'discard') return 'discard';
    }
  } finally {
    keyboard.close();
  }
}
