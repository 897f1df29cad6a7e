import type { Battlefield } from './battlefield.js';
import { Refused } from './refused.js';

/** One operation. Resolves to true if it has revealed something outside; throws if it was refused. */
type Operation = (index: number) => Promise<boolean>;
export type OpenOperation = (field: Battlefield) => Operation;

export interface Score {
  done: number;
  refused: number;
  /** The number of reads and writes outside the root. */
  escapes: number;
}

const LOOK_EVERY = 100;

/** Repeats an operation, and checks for changes outside. @param isOver called from time to time */
export async function attack(
  field: Battlefield,
  open: OpenOperation,
  operations: number,
  isOver: (score: Score) => boolean = () => false,
): Promise<Score> {
  const operate = open(field);
  const score = { done: 0, refused: 0, escapes: 0 };
  for (let index = 0; index < operations; index++) {
    try {
      if (await operate(index)) score.escapes++;
      score.done++;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      score.refused++;
    }
    if (index % LOOK_EVERY !== 0) continue;
    score.escapes += field.breaches();
    if (isOver(score)) break;
    // Gives the swapper's messages, and the test's own timer, a turn.
    await new Promise(setImmediate);
  }
  score.escapes += field.breaches();
  return score;
}

/** A refusal by the sandbox, or an error of the file system. */
function isRefusal(error: unknown): boolean {
  return error instanceof Refused || (error instanceof Error && 'code' in error);
}
