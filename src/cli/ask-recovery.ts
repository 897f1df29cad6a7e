import type { CallRecord } from '../contract/journal.js';
import type { JsonValue } from '../contract/json.js';
import type { RecoveredBatch, RecoveredCall } from '../contract/open-batch.js';
import { describeEffect } from '../effects/traits.js';
import { openKeyboard } from '../platform/runtime/open-keyboard.js';
import type { CutCall, RecoveryAnswer } from '../terminal/ask-recovery.js';
import type { CliContext } from './cli-context.js';
import { stateOf } from './describe-left.js';
import { isAutomated } from './display/display.js';
import { createPalette } from './display/terminal-text.js';
import { openArchiveAt } from './journal-store.js';
import { questionScreen } from './question-screen.js';

/**
 * Asks the person about a batch that a crash interrupted (D089). Undefined if no person can be asked.
 * @param journal its file
 */
export async function askAboutLeft(
  { batchId, conversation, calls }: RecoveredBatch,
  journal: string,
  { stdio, env }: Pick<CliContext, 'stdio' | 'env'>,
): Promise<RecoveryAnswer | undefined> {
  if (!stdio.stderr.isTerminal || isAutomated(env)) return undefined;
  const keyboard = openKeyboard();
  if (keyboard === undefined) return undefined;
  try {
    const { askRecovery } = await import('../terminal/ask-recovery.js');
    const records = await readRecords(journal, batchId);
    return await askRecovery({
      batchId,
      conversation,
      calls: calls.map((call, index) => toCutCall(call, records[index])),
      screen: questionScreen(stdio.stderr, keyboard),
      palette: createPalette(true, env),
      signal: new AbortController().signal,
    });
  } finally {
    keyboard.close();
  }
}

async function readRecords(journal: string, batchId: string): Promise<readonly CallRecord[]> {
  const archive = await openArchiveAt(journal, { id: batchId });
  try {
    return archive.calls(batchId);
  } finally {
    archive.close();
  }
}

function toCutCall(call: RecoveredCall, record: CallRecord | undefined): CutCall {
  const { callId, toolName, result } = call;
  const isUnknown = result?.error?.code === 'outcome_unknown';
  const reason = result?.error === undefined || isUnknown ? [] : [result.error.message];
  const effects = (record?.effects ?? []).map(describeEffect);
  return {
    callId,
    toolName,
    state: isUnknown ? 'not known: it was started' : stateOf(call),
    lines: [...effects, ...reason, ...(result === undefined ? [] : evidenceOf(result.metadata.evidence))],
    isUnknown,
  };
}

/** The evidence found after the crash. */
function evidenceOf(evidence: JsonValue | undefined): readonly string[] {
  const files = listIn(evidence, 'files').map(
    ({ path, state }) => `file ${String(path)}: ${FILE_STATES[String(state)] ?? String(state)}`,
  );
  const processes = listIn(evidence, 'processes').map(({ pid, running, exit_code }) => {
    if (running === true) return `its process ${String(pid)} still runs`;
    return `its process ${String(pid)} has ended${exit_code === undefined ? '' : ` with exit code ${String(exit_code)}`}`;
  });
  return [...files, ...processes];
}

const FILE_STATES: Readonly<Record<string, string>> = {
  before: 'as before the call',
  after: 'as after the call',
  same: 'the same before and after the call',
  changed: 'neither as before nor as after: something else has changed it',
  unreadable: 'it cannot be read',
};

function listIn(value: JsonValue | undefined, name: string): readonly Readonly<Record<string, JsonValue>>[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  const list = (value as Readonly<Record<string, JsonValue>>)[name];
  if (!Array.isArray(list)) return [];
  return list.filter(
    (item): item is Readonly<Record<string, JsonValue>> =>
      typeof item === 'object' && item !== null && !Array.isArray(item),
  );
}
