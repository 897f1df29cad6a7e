import { type FleetFigures, type FleetModel, simulateFleet } from './simulation/simulate-fleet.js';

/*
 * 10,000 workers and 100,000 calls a second, which no machine here can run: simulated event by event, with the costs that
 * `npm run bench -- --only fleet` measures on one server. docs/fleet-scale.md explains the figures.
 *
 *   npx tsx bench/fleet-simulation.ts
 */

/** Measured on two cores with Postgres 15: 1.25 ms of the server's processor time for a call, in 4 transactions. */
const MEASURED = { workMs: 0.3125, transactions: { accept: 2, claim: 1, settle: 1 } };

const FLEET: FleetModel = {
  ...MEASURED,
  shards: 12,
  cores: 16,
  // A disk of a cloud; the disk here takes 0.1 to 0.6 ms.
  flushMs: 1,
  // 20 gateways with 10 each.
  connections: 200,
  workers: 10_000,
  concurrency: 4,
  callsPerSecond: 100_000,
  seconds: 3,
  toolMs: 200,
  hintMs: 2,
  beatMs: 10_000,
  beatsIn: 'one shard',
  mostOpen: 100_000,
  seed: 1,
};

const SCENARIOS: Readonly<Record<string, Partial<FleetModel>>> = {
  '12 shards': {},
  '10 shards': { shards: 10 },
  '8 shards': { shards: 8 },
  '7 shards, too few': { shards: 7 },
  '12 shards, 20 connections each': { connections: 20 },
  '12 shards, a log on a slow disk (10 ms)': { flushMs: 10 },
  '12 shards, beats in every shard': { beatsIn: 'every shard' },
  '12 shards, one lost for 1 s': { lost: { shard: 3, atMs: 1_000, forMs: 1_000 } },
  '12 shards, one lost for 1 s, at most 2,000 open calls a shard': {
    lost: { shard: 3, atMs: 1_000, forMs: 1_000 },
    mostOpen: 2_000,
  },
};

const rows = Object.entries(SCENARIOS).map(([name, change]) => [
  name,
  ...describe({ ...FLEET, ...change }, simulateFleet({ ...FLEET, ...change })),
]);
const HEAD = [
  '',
  'p50 ms',
  'p95',
  'p99',
  'p99 elsewhere',
  'busiest',
  'commits/flush',
  'waiting',
  'refused',
  'drained ms',
];
for (const row of [HEAD, HEAD.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`);

function describe(model: FleetModel, figures: FleetFigures): readonly string[] {
  const { overheadMs, elsewhereMs } = figures;
  return [
    overheadMs.p50.toFixed(1),
    overheadMs.p95.toFixed(1),
    overheadMs.p99.toFixed(0),
    model.lost === undefined ? '' : elsewhereMs.p99.toFixed(0),
    `${(figures.busiest * 100).toFixed(0)} %`,
    figures.commitsPerFlush.toFixed(1),
    String(figures.mostWaiting),
    figures.refused === 0 ? '' : String(figures.refused),
    figures.drainedMs?.toFixed(0) ?? '',
  ];
}
