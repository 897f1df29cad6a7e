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
 * The current state of a file, compared with a noted change: `before` or `after` the change; `same` if the
 * change changes nothing; `changed` if the file is neither.
 */
export type FileState = 'before' | 'after' | 'same' | 'changed' | 'unreadable';

export interface InspectedChange {
  readonly change: NotedChange;
  readonly state: FileState;
}

/** The last change of a call, with the current state of its files. */
export interface InspectedIntent extends Pick<NotedIntent, 'made'> {
  readonly changes: readonly InspectedChange[];
  readonly rolledBack: boolean;
}

export function inspectIntent({ changes }: NotedIntent, sandbox: Sandbox): readonly InspectedChange[] {
  return changes.map((change) => ({ change, state: inspectChange(change, changes, sandbox) }));
}

/** `mixed`: some files are as before the change, some as after it. Undefined: the states do not show it. */
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
