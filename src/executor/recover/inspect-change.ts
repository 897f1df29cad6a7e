import type { Sandbox } from '../../contract/files.js';
import { isToolError } from '../../errors/tool-error.js';
import {
  type NotedChange,
  type NotedIntent,
  stateAfter,
  stateBefore,
  stateOf,
} from '../record/noted-change.js';

/**
 * What a file is now, held against what was noted: `same` where the change changes nothing, `changed` where it is
 * neither of both.
 */
export type FileState = 'before' | 'after' | 'same' | 'changed' | 'unreadable';

export interface InspectedChange {
  readonly change: NotedChange;
  readonly state: FileState;
}

/** The last change of a call, as its files are now. */
export interface InspectedIntent extends Pick<NotedIntent, 'made'> {
  readonly changes: readonly InspectedChange[];
  readonly rolledBack: boolean;
}

export function inspectIntent({ changes }: NotedIntent, sandbox: Sandbox): readonly InspectedChange[] {
  return changes.map((change) => ({ change, state: inspectChange(change, changes, sandbox) }));
}

/** `mixed`: some files are as before, some as after. Undefined: it cannot be told. */
export function verdictOf(
  inspected: readonly InspectedChange[],
): 'applied' | 'not_applied' | 'mixed' | undefined {
  const states = new Set(inspected.map(({ state }) => state));
  if (states.has('changed') || states.has('unreadable')) return undefined;
  if (!states.has('before')) return 'applied';
  return states.has('after') ? 'mixed' : 'not_applied';
}

function inspectChange(change: NotedChange, changes: readonly NotedChange[], sandbox: Sandbox): FileState {
  try {
    const now = stateOf(sandbox.examine(change.path));
    const after = stateAfter(change, changes);
    if (now === stateBefore(change)) return now === after ? 'same' : 'before';
    return now === after ? 'after' : 'changed';
  } catch (error) {
    if (isToolError(error)) return 'unreadable';
    throw error;
  }
}
