import type { JsonObject } from '../contract/json.js';
import { ToolError } from '../errors/tool-error.js';
import type { AnchorText, Head } from './journal-anchor.js';
import type { JournalDatabase } from './journal-database.js';

/** A journal that does not hold what its anchor says was recorded. */
export interface JournalLoss {
  /** `older`: it ends before. `other`: it holds another commit there. `earlier`: noticed before, and not accepted. */
  readonly kind: 'older' | 'other' | 'earlier';
  /** The newest head that is known of. */
  readonly known: Head;
  /** Where the journal ends now. */
  readonly held: Head;
}

/** What a log line about a loss has as its `problem`. */
export const JOURNAL_LOSS = 'journal_loss';

const HASH_OF = 'SELECT hash FROM commits WHERE number = ?';

/** Sets a journal beside what its anchor says. */
export function findLoss(database: JournalDatabase, { head, lost }: AnchorText): JournalLoss | undefined {
  const held = database.head();
  if (lost !== undefined) return { kind: 'earlier', known: lost, held };
  if (head === undefined) return undefined;
  if (held.commit < head.commit) return { kind: 'older', known: head, held };
  // A commit whose rows were pruned may be gone; what is left of the others is their hash.
  const found = head.commit === 0 ? undefined : database.prepared(HASH_OF).get(head.commit)?.hash;
  return found === undefined || found === head.hash ? undefined : { kind: 'other', known: head, held };
}

/** What is wrong, as the end of a sentence about the journal. */
export function describeLoss({ kind, known, held }: JournalLoss): string {
  switch (kind) {
    case 'older':
      return `it ends with commit ${held.commit}, but commit ${known.commit} was recorded`;
    case 'other':
      return `its commit ${known.commit} is not the one that was recorded`;
    case 'earlier':
      return `commits up to ${known.commit} were recorded once, and some of them were lost`;
  }
}

/** For a journal whose file is gone and whose anchor is not. */
export function lossOfMissing({ head, lost }: AnchorText): JournalLoss | undefined {
  const known = lost ?? head;
  const isEmpty = known === undefined || known.commit === 0;
  return isEmpty ? undefined : { kind: 'older', known, held: { commit: 0, hash: '' } };
}

/** For the person: what it means, and what to do. */
export function lossWarning(path: string, loss: JournalLoss): string {
  return (
    `The journal "${path}" may have lost commits: ${describeLoss(loss)}. Calls of these commits may run again. ` +
    'Restore the newest copy. If the file was restored or removed on purpose, accept it as it is: ' +
    `toolexec journal verify --accept --journal ${JSON.stringify(path)}`
  );
}

/** The same as an error. */
export function journalIsOlder(path: string, loss: JournalLoss): ToolError {
  return new ToolError('journal_unavailable', lossWarning(path, loss), { details: lossDetails(path, loss) });
}

export function lossDetails(path: string, { known, held }: JournalLoss): JsonObject {
  return { problem: JOURNAL_LOSS, path, recorded: known.commit, held: held.commit };
}
