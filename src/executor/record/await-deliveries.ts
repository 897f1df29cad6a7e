import { abortable } from '../../base/abortable.js';
import type { Acceptance, Journal } from '../../contract/journal.js';
import type { EngineSettings } from '../settings.js';

type World = Pick<EngineSettings, 'isWorkerAlive' | 'clock'> & { readonly journal: Journal };

/**
 * The same call was delivered before, and somebody is at it right now, here or in another process: what becomes of
 * it is the answer of both (D085). Waits while its process lives, and no longer than `limitMs`; what has no answer by
 * then stays as it was.
 */
export async function awaitDeliveries(
  answers: readonly Acceptance[],
  world: World,
  { signal, limitMs }: { readonly signal: AbortSignal; readonly limitMs: number },
): Promise<readonly Acceptance[]> {
  const { clock } = world;
  const end = clock.monotonic() + limitMs;
  let current = answers;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted && clock.monotonic() < end; ) {
    if (!current.some((answer) => isUnderWay(answer, world))) break;
    try {
      await abortable(() => new Promise<void>((done) => void clock.after(pauseMs, done)), signal);
    } catch {
      break;
    }
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    current = await Promise.all(current.map((answer) => readAgain(answer, world)));
  }
  return current;
}

/** Somebody is at it: it is neither ended, nor waits it for the person, and the process that has it lives. */
export function isUnderWay(answer: Acceptance, { isWorkerAlive }: Pick<World, 'isWorkerAlive'>): boolean {
  if (answer.kind !== 'known') return false;
  const { result, decision, worker, acceptedBy } = answer.record;
  const owner = worker ?? acceptedBy;
  return result === undefined && decision !== 'wait' && owner !== undefined && isWorkerAlive(owner);
}

async function readAgain(answer: Acceptance, world: World): Promise<Acceptance> {
  if (answer.kind !== 'known' || !isUnderWay(answer, world)) return answer;
  const record = await world.journal.call(answer.record.key);
  return record === undefined ? answer : { kind: 'known', key: answer.key, record };
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 200;
