import type { ApprovalDecision, ApprovalRequest } from '../../contract/approval.js';

export type Selection =
  | { readonly kind: 'decided'; readonly decision: ApprovalDecision }
  /** Not understood: what to tell the person before asking again. */
  | { readonly kind: 'unclear'; readonly problem: string };

/**
 * What a person typed when asked. Numbers count from 1 as they were shown and beat ids, because ids come from the
 * model. Nothing typed decides nothing.
 */
export function parseSelection(
  line: string,
  requests: readonly Pick<ApprovalRequest, 'callId'>[],
): Selection {
  const words = line.split(/[\s,]+/).filter((word) => word !== '');
  const [only] = words;
  if (only === undefined) return unclear('Type a, n, or the numbers of the calls to run.');
  if (words.length === 1 && /^(?:a|all|y|yes)$/i.test(only)) return decided({ kind: 'approve_all' });
  if (words.length === 1 && /^(?:n|no|none)$/i.test(only)) return decided({ kind: 'deny_all' });
  const ids: string[] = [];
  for (const word of words) {
    const request = /^[0-9]+$/.test(word)
      ? (requests[Number(word) - 1] ?? named(word, requests))
      : named(word, requests);
    if (request === undefined) return unclear(`There is no call ${word}.`);
    ids.push(request.callId);
  }
  return decided({ kind: 'approve_selected', ids });
}

function named<R extends Pick<ApprovalRequest, 'callId'>>(id: string, requests: readonly R[]): R | undefined {
  return requests.find(({ callId }) => callId === id);
}

function decided(decision: ApprovalDecision): Selection {
  return { kind: 'decided', decision };
}

function unclear(problem: string): Selection {
  return { kind: 'unclear', problem };
}
