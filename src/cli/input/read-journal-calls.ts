import type { CallRecord } from '../../contract/journal.js';
import { openArchive } from '../../journal/open-archive.js';
import { readingJournal } from '../recorded-journal.js';
import type { RecordedCall } from './read-recorded-calls.js';

/** All calls of a journal's file, conversation by conversation. @throws UsageError when it is no journal. */
export function readJournalCalls(path: string): Promise<readonly RecordedCall[]> {
  return readingJournal(() => {
    const archive = openArchive(path);
    try {
      return archive
        .conversations()
        .flatMap((conversation) => archive.history(conversation))
        .flatMap((entry) => (entry.kind === 'batch' ? ownCalls(entry.id, archive.calls(entry.id)) : []));
    } finally {
      archive.close();
    }
  });
}

/** A repeated delivery is a call of an earlier batch. */
function ownCalls(batchId: string, calls: readonly CallRecord[]): readonly RecordedCall[] {
  return calls.filter((call) => call.batchId === batchId).map(toRecorded);
}

function toRecorded({ callId, toolName, args, disposition, result }: CallRecord): RecordedCall {
  return {
    call: { id: callId, name: toolName, args },
    disposition,
    succeeded: result?.success === true,
    code: result?.error?.code,
  };
}
