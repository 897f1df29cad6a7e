import type { ToolResult } from '../contract/call.js';
import type { CallRecord, Journal } from '../contract/journal.js';
import { reasonOf } from '../executor/answer/results.js';
import type { WorkerParts } from './fleet-worker.js';

/** The maximum size of an output in the journal, in bytes. Later bytes stay only on the worker's machine. */
const MOST_BYTES = 16 * 1024 * 1024;
const REF = /^(toolexec-output:[\da-f]{32})@(.+)\.(\d{1,9})$/;

/** The call that an output belongs to. */
interface OutputPlace {
  readonly batchId: string;
  readonly index: number;
}

/**
 * Keeps the output of a cut result in the journal, for readers on other machines. If that fails, the output stays only
 * on this machine. Never rejects.
 * @returns the result to record: its `outputRef` names the call, too
 */
export async function keepOutput(
  { key, batchId, index }: CallRecord,
  result: ToolResult,
  { executor, journal, clock, logger }: Pick<WorkerParts, 'executor' | 'journal' | 'clock' | 'logger'>,
): Promise<ToolResult> {
  const { outputRef } = result;
  if (outputRef === undefined) return result;
  try {
    const bytes = await executor.readOutput(outputRef, { length: MOST_BYTES });
    const sha256 = await journal.keep(bytes);
    const data = { output: outputRef, sha256, bytes: bytes.length };
    await journal.note(key, { kind: 'process', data, at: clock.now() });
    return { ...result, outputRef: `${outputRef}@${batchId}.${index}` };
  } catch (error) {
    logger.warn(
      { call: key, why: reasonOf(error) },
      'the output of a cut result was not kept in the journal',
    );
    return result;
  }
}

export function parseOutputRef(ref: string): OutputPlace | undefined {
  const [, , batchId, index] = REF.exec(ref) ?? [];
  return batchId === undefined ? undefined : { batchId, index: Number(index) };
}

/** The bytes that a reference of this call names; undefined if none are kept. */
export async function findOutput(
  { key }: CallRecord,
  ref: string,
  journal: Journal,
): Promise<Uint8Array | undefined> {
  const id = REF.exec(ref)?.[1];
  const notes = await journal.notes(key);
  const kept = notes.find(({ kind, data }) => kind === 'process' && data.output === id);
  return kept === undefined ? undefined : await journal.kept(String(kept.data.sha256));
}
