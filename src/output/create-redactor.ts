import { REDACTION_MARKER } from '../contract/call.js';
import { createExactValues, type ExactValues } from './exact-values.js';

export interface Redactor {
  push(text: string): string;
  /** The rest. The redactor then stands at the beginning again. */
  end(): string;
}

/**
 * Hides exact values in a stream, also where a value is cut between chunks (decision 24: a stream knows exact values
 * only). Values that overlap are hidden together. Holds back only what may be the beginning of a value: who watches a
 * command sees its last line while it waits.
 * Values shorter than 6 characters, and words such as "password", are not hidden.
 */
export function createRedactor(values: readonly string[]): Redactor {
  const exact = createExactValues(values);
  if (exact.longest === 0) return { push: (text) => text, end: () => '' };
  let held = '';
  /** How much of `held` belongs to a value that is hidden already. */
  let covered = 0;

  return {
    push(text) {
      const all = held + text;
      // A value that begins before this place is whole by now.
      const certain = exact.findUnfinished(all);
      const { out, coveredTo } = hideValues(exact, all, covered, certain);
      held = all.slice(certain);
      covered = Math.max(0, coveredTo - certain);
      return out;
    },
    end() {
      const { out } = hideValues(exact, held, covered, held.length);
      held = '';
      covered = 0;
      return out;
    },
  };
}

/** Hides exact values in a whole text; one without any comes back as it is. */
export function redactValues(text: string, exact: ExactValues): string {
  return exact.find(text, 0) === undefined ? text : hideValues(exact, text, 0, text.length).out;
}

/**
 * Hides the values that begin before `certain`, and gives the text before it. The first `covered` units belong to a
 * value that is hidden already; `coveredTo` says how far the last hidden value reaches.
 */
function hideValues(
  exact: ExactValues,
  text: string,
  covered: number,
  certain: number,
): { out: string; coveredTo: number } {
  let out = '';
  let coveredTo = covered;
  let found = exact.find(text, 0);
  while (found !== undefined && found.start < certain) {
    // One that begins inside another is hidden with it.
    if (found.start >= coveredTo) out += text.slice(coveredTo, found.start) + REDACTION_MARKER;
    coveredTo = Math.max(coveredTo, found.end);
    found = exact.find(text, found.start + 1);
  }
  return { out: coveredTo < certain ? out + text.slice(coveredTo, certain) : out, coveredTo };
}
