import type { Battlefield } from './battlefield.js';
import { Refused } from './refused.js';

/** One operation; true where it has given away what is outside. It throws where it was refused. */
type Operation = (index: number) => Promise<boolean>;
export type OpenOperation = (field: Battlefield) => Operation;

export interface Score {
  done: number;
  refused: number;
  /** What was read from outside, and what was found written there. */
  escapes: number;
}

const LOOK_EVERY = 100;

/** Repeats an operation, and looks for what it left outside. @param isOver asked now and then */
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
    // The swapper's word, and the test's own timer, have to get through.
    await new Promise(setImmediate);
  }
  score.escapes += field.breaches();
  return score;
}

/** What the sandbox says no to, and what the file system does. */
function isRefusal(error: unknown): boolean {
  return error instanceof Refused || (error instanceof Error && 'code' in error);
}
