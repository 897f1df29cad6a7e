import { EventQueue, Fifo } from './event-queue.js';
import { Shard, type ShardCosts } from './shard.js';

export interface FleetModel extends ShardCosts {
  readonly shards: number;
  readonly workers: number;
  /** The number of calls that one worker runs at the same time. */
  readonly concurrency: number;
  readonly callsPerSecond: number;
  /** Calls arrive for this time. The simulation ends when all have ended. */
  readonly seconds: number;
  /** The mean run time of a tool; exponential. */
  readonly toolMs: number;
  /** From a commit until a worker or a host has heard of it; the mean, exponential. */
  readonly hintMs: number;
  /** Transactions for each step of a call, one after the other. */
  readonly transactions: { readonly accept: number; readonly claim: number; readonly settle: number };
  /** A worker renews its session this often, in one shard or in all of them. */
  readonly beatMs: number;
  readonly beatsIn: 'one shard' | 'every shard';
  /** A shard that answers nothing for a time. */
  readonly lost?: { readonly shard: number; readonly atMs: number; readonly forMs: number };
  /** Above this number of open calls in a shard, a call is refused and told when to come again. */
  readonly mostOpen: number;
  readonly seed: number;
}

export interface FleetFigures {
  readonly ended: number;
  readonly refused: number;
  /** From the arrival of a call to its answer, without the run of its tool; milliseconds. */
  readonly overheadMs: Quantiles;
  readonly meanOverheadMs: number;
  /** The same for the shards that were not lost. */
  readonly elsewhereMs: Quantiles;
  /** The busiest shard: the share of its processors' time. */
  readonly busiest: number;
  readonly commitsPerFlush: number;
  readonly commitsPerSecondAndShard: number;
  /** The most transactions that waited for a connection, in any shard. */
  readonly mostWaiting: number;
  /** The share of the workers' places that were taken, on average. */
  readonly placesTaken: number;
  /** From the return of the lost shard until it has no more open calls than on average before; milliseconds. */
  readonly drainedMs?: number;
}

export interface Quantiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

const ARRIVE = 0;
const BEAT = 1;
const WORKED = 2;
const FLUSHED = 3;
const HINTED = 4;
const RAN = 5;
const HEARD = 6;
const FAIL = 7;
const RESTART = 8;
const LAST_ARRIVAL = 9;

/** A beat is a transaction of no call. */
const OF_NO_CALL = -1;

type Step = keyof FleetModel['transactions'];

/** Simulates calls event by event: accept, hint, place, claim, tool, settle, answer. The same seed gives the same figures. */
export function simulateFleet(model: FleetModel): FleetFigures {
  return new Simulation(model).run();
}

interface OpenCall {
  readonly shard: number;
  readonly arrivedMs: number;
  step: Step;
  /** Transactions of the step that are still to do. */
  left: number;
  toolMs: number;
}

class Simulation {
  readonly #model: FleetModel;
  readonly #random: () => number;
  /** Other numbers for the arrivals, so that they are the same whatever happens in between. */
  readonly #arrivals: () => number;
  readonly #events = new EventQueue();
  readonly #shards: readonly Shard[];
  readonly #open: number[];
  readonly #calls = new Map<number, OpenCall>();
  readonly #forPlace = new Fifo();
  readonly #overhead: number[] = [];
  readonly #elsewhere: number[] = [];
  /** For `WORKED`, whose subject is a transaction: its shard and its call. */
  readonly #transactions = new Map<number, { readonly shard: number; readonly call: number }>();
  #places: number;
  #now = 0;
  #ids = 0;
  #refused = 0;
  #takenMs = 0;
  #openBefore = 0;
  #busiest = 0;
  #placesTaken = 0;
  #drainedMs: number | undefined;

  constructor(model: FleetModel) {
    this.#model = model;
    this.#random = numbers(model.seed);
    this.#arrivals = numbers(~model.seed);
    this.#places = model.workers * model.concurrency;
    this.#open = Array.from({ length: model.shards }, () => 0);
    this.#shards = this.#open.map(
      (_, shard) =>
        new Shard(model, {
          work: (afterMs, transaction) => this.#events.add(this.#now + afterMs, WORKED, transaction),
          flush: (afterMs) => this.#events.add(this.#now + afterMs, FLUSHED, shard),
          committed: (transaction) => this.#committed(transaction),
        }),
    );
  }

  run(): FleetFigures {
    const { seconds, beatMs, workers, beatsIn, shards, lost } = this.#model;
    const endMs = seconds * 1000;
    const beatsPerMs = (workers * (beatsIn === 'every shard' ? shards : 1)) / beatMs;
    this.#events.add(0, ARRIVE, 0);
    this.#events.add(0, BEAT, 0);
    this.#events.add(endMs, LAST_ARRIVAL, 0);
    if (lost !== undefined) {
      this.#events.add(lost.atMs, FAIL, lost.shard);
      this.#events.add(lost.atMs + lost.forMs, RESTART, lost.shard);
    }
    // By the number of the event.
    const handlers: readonly ((subject: number) => void)[] = [
      () => this.#arrive(endMs),
      () => this.#beat(endMs, beatsPerMs),
      (transaction) => this.#shards[this.#shardOf(transaction)]?.worked(transaction),
      (shard) => this.#shards[shard]?.flushed(),
      (call) => this.#waitForPlace(call),
      (call) => this.#begin(call, this.#calls.get(call) as OpenCall, 'settle'),
      (call) => this.#end(call),
      (shard) => this.#fail(shard),
      (shard) => this.#shards[shard]?.restart(),
      () => this.#lookAtLoad(endMs),
    ];
    while (!this.#events.isEmpty) {
      this.#events.next((time, event, subject) => {
        this.#now = time;
        handlers[event]?.(subject);
      });
    }
    return this.#figures(endMs);
  }

  #arrive(endMs: number): void {
    const { callsPerSecond, shards, mostOpen } = this.#model;
    const next = this.#now + this.#exponential(1000 / callsPerSecond, this.#arrivals);
    if (next < endMs) this.#events.add(next, ARRIVE, 0);
    const shard = Math.floor(this.#arrivals() * shards);
    if ((this.#open[shard] as number) >= mostOpen) {
      this.#refused++;
      return;
    }
    this.#open[shard] = (this.#open[shard] as number) + 1;
    const id = this.#ids++;
    const call: OpenCall = { shard, arrivedMs: this.#now, step: 'accept', left: 0, toolMs: 0 };
    this.#calls.set(id, call);
    this.#begin(id, call, 'accept');
  }

  /** Beats come evenly, and each is one transaction. */
  #beat(endMs: number, perMs: number): void {
    const next = this.#now + 1 / perMs;
    if (next < endMs) this.#events.add(next, BEAT, 0);
    this.#submit(Math.floor(this.#random() * this.#model.shards), OF_NO_CALL);
  }

  #begin(id: number, call: OpenCall, step: Step): void {
    call.step = step;
    call.left = this.#model.transactions[step];
    if (call.left === 0) this.#stepEnded(id, call);
    else this.#submit(call.shard, id);
  }

  #submit(shard: number, call: number): void {
    const transaction = this.#ids++;
    this.#transactions.set(transaction, { shard, call });
    (this.#shards[shard] as Shard).submit(transaction);
  }

  #committed(transaction: number): void {
    const { call: id, shard } = this.#transactions.get(transaction) as { shard: number; call: number };
    this.#transactions.delete(transaction);
    if (id === OF_NO_CALL) return;
    const call = this.#calls.get(id) as OpenCall;
    call.left--;
    if (call.left > 0) this.#submit(shard, id);
    else this.#stepEnded(id, call);
  }

  #stepEnded(id: number, call: OpenCall): void {
    if (call.step === 'accept')
      this.#events.add(this.#now + this.#exponential(this.#model.hintMs), HINTED, id);
    else if (call.step === 'claim') {
      call.toolMs = this.#exponential(this.#model.toolMs);
      this.#events.add(this.#now + call.toolMs, RAN, id);
    } else {
      this.#leavePlace();
      this.#events.add(this.#now + this.#exponential(this.#model.hintMs), HEARD, id);
    }
  }

  #shardOf(transaction: number): number {
    return this.#transactions.get(transaction)?.shard as number;
  }

  #fail(shard: number): void {
    this.#openBefore = this.#open[shard] as number;
    this.#shards[shard]?.fail();
  }

  #waitForPlace(call: number): void {
    this.#forPlace.push(call);
    this.#takePlaces();
  }

  #takePlaces(): void {
    while (this.#places > 0 && this.#forPlace.size > 0) {
      this.#places--;
      this.#takenMs -= this.#now;
      const id = this.#forPlace.shift() as number;
      const call = this.#calls.get(id) as OpenCall;
      this.#begin(id, call, 'claim');
    }
  }

  #leavePlace(): void {
    this.#places++;
    this.#takenMs += this.#now;
    this.#takePlaces();
  }

  #end(id: number): void {
    const { shard, arrivedMs, toolMs } = this.#calls.get(id) as OpenCall;
    this.#calls.delete(id);
    this.#open[shard] = (this.#open[shard] as number) - 1;
    const overheadMs = this.#now - arrivedMs - toolMs;
    this.#overhead.push(overheadMs);
    const { lost } = this.#model;
    if (shard !== lost?.shard) this.#elsewhere.push(overheadMs);
    else if (
      this.#drainedMs === undefined &&
      this.#now > lost.atMs + lost.forMs &&
      (this.#open[shard] as number) <= this.#openBefore
    )
      this.#drainedMs = this.#now - lost.atMs - lost.forMs;
  }

  /** While calls arrive: afterwards the load falls. */
  #lookAtLoad(endMs: number): void {
    const { cores, workers, concurrency } = this.#model;
    const workedMs = this.#shards.map(({ figures }) => figures.workedMs);
    this.#busiest = Math.max(...workedMs) / (cores * endMs);
    const places = workers * concurrency;
    const takenMs = this.#takenMs + (places - this.#places) * endMs;
    this.#placesTaken = takenMs / (places * endMs);
  }

  #figures(endMs: number): FleetFigures {
    const all = this.#shards.map(({ figures }) => figures);
    const committed = all.reduce((sum, one) => sum + one.committed, 0);
    const { shards } = this.#model;
    return {
      ended: this.#overhead.length,
      refused: this.#refused,
      overheadMs: quantiles(this.#overhead),
      meanOverheadMs: this.#overhead.reduce((sum, one) => sum + one, 0) / this.#overhead.length,
      elsewhereMs: quantiles(this.#elsewhere),
      busiest: this.#busiest,
      commitsPerFlush: committed / all.reduce((sum, one) => sum + one.flushes, 0),
      commitsPerSecondAndShard: committed / shards / (endMs / 1000),
      mostWaiting: Math.max(...all.map(({ mostWaiting }) => mostWaiting)),
      placesTaken: this.#placesTaken,
      ...(this.#drainedMs === undefined ? {} : { drainedMs: this.#drainedMs }),
    };
  }

  #exponential(mean: number, random = this.#random): number {
    return -mean * Math.log(1 - random());
  }
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}

/** Mulberry32: the same numbers from 0 to 1 for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
