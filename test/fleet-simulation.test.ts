import { describe, expect, it } from 'vitest';
import { type FleetModel, simulateFleet } from '../bench/simulation/simulate-fleet.js';

/** One database with one processor and a log without cost: a queue whose waits follow a known formula. */
const ONE_QUEUE: FleetModel = {
  shards: 1,
  workers: 10_000,
  concurrency: 1,
  callsPerSecond: 600,
  seconds: 60,
  toolMs: 1,
  hintMs: 0,
  connections: 10_000,
  cores: 1,
  workMs: 1,
  flushMs: 0,
  transactions: { accept: 1, claim: 0, settle: 0 },
  beatMs: 1e9,
  beatsIn: 'one shard',
  mostOpen: Number.POSITIVE_INFINITY,
  seed: 7,
};

describe('simulateFleet', () => {
  it('lets calls wait as long as the formula for one queue with equal service times says', () => {
    const { meanOverheadMs } = simulateFleet(ONE_QUEUE);
    const load = 0.6;
    const formula = 1 + load / (2 * (1 - load));
    expect(meanOverheadMs / formula).toBeGreaterThan(0.97);
    expect(meanOverheadMs / formula).toBeLessThan(1.03);
  });

  it('commits together all transactions that wait for the log', () => {
    const busy = { ...ONE_QUEUE, cores: 8, workMs: 0.1, flushMs: 5, callsPerSecond: 2_000, seconds: 5 };
    const { commitsPerFlush, overheadMs } = simulateFleet(busy);
    expect(commitsPerFlush).toBeGreaterThan(9.5);
    expect(commitsPerFlush).toBeLessThan(10.5);
    expect(overheadMs.p99).toBeLessThan(11);
  });

  it('takes as many places as calls run at a time', () => {
    const { placesTaken } = simulateFleet({ ...ONE_QUEUE, workers: 100, toolMs: 50, workMs: 0.01 });
    expect(placesTaken).toBeGreaterThan(0.29);
    expect(placesTaken).toBeLessThan(0.31);
  });

  it('answers every call after a shard was lost, and keeps the others as they were', () => {
    const model = { ...ONE_QUEUE, shards: 4, callsPerSecond: 1_000, seconds: 10, workMs: 0.2 };
    const whole = simulateFleet(model);
    const lost = simulateFleet({ ...model, lost: { shard: 2, atMs: 3_000, forMs: 2_000 } });
    expect(lost.ended).toBe(whole.ended);
    expect(lost.drainedMs).toBeGreaterThan(0);
    expect(lost.overheadMs.p99).toBeGreaterThan(500);
    expect(lost.elsewhereMs.p99).toBeLessThan(whole.overheadMs.p99 * 1.5);
  });

  it('refuses calls where too many are open', () => {
    const lost = { shard: 0, atMs: 1_000, forMs: 2_000 };
    const { refused, ended } = simulateFleet({ ...ONE_QUEUE, seconds: 4, lost, mostOpen: 100 });
    expect(refused).toBeGreaterThan(1_000);
    expect(ended).toBeGreaterThan(900);
  });

  it('gives the same figures for the same seed', () => {
    const short = { ...ONE_QUEUE, seconds: 2 };
    expect(simulateFleet(short)).toEqual(simulateFleet(short));
  });
});
