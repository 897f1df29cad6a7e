import { expect, it } from 'vitest';
import type { WorkerSession } from '../../contract/journal.js';
import { WORKER } from '../../testing/journal-entries.js';
import { SessionBeats } from './session-beats.js';

const session = (id: string, beat: number, endedAt?: number): WorkerSession => ({
  worker: { ...WORKER, id, epoch: 1 },
  beat,
  ...(endedAt === undefined ? {} : { endedAt }),
});

const ids = (sessions: readonly WorkerSession[]): readonly string[] =>
  sessions.map(({ worker }) => worker.id);

it('expires only a session whose beat stays the same for a whole lease', () => {
  const beats = new SessionBeats(1_000);
  expect(beats.expired([session('still', 7), session('alive', 1)], 0, 10)).toEqual([]);
  expect(beats.expired([session('still', 7), session('alive', 2)], 500, 510)).toEqual([]);
  expect(beats.expired([session('still', 7), session('alive', 2)], 1_009, 1_020)).toEqual([]);
  expect(ids(beats.expired([session('still', 7), session('alive', 2)], 1_010, 1_020))).toEqual(['still']);
  expect(ids(beats.expired([session('still', 8), session('alive', 2)], 1_510, 1_520))).toEqual(['alive']);
});

it('measures from the first answer with a beat to the last question that returned the same beat', () => {
  const beats = new SessionBeats(1_000);
  // An answer that took two seconds proves nothing about a lease of one.
  expect(beats.expired([session('a', 1)], 0, 2_000)).toEqual([]);
  expect(beats.expired([session('a', 1)], 2_000, 5_000)).toEqual([]);
  expect(ids(beats.expired([session('a', 1)], 5_000, 5_001))).toEqual(['a']);
});

it('returns an ended session with remaining calls at once', () => {
  expect(ids(new SessionBeats(1_000).expired([session('a', 1, 3)], 0, 1))).toEqual(['a']);
});
