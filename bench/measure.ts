/** Something that is timed. One run does `units` pieces of work: calls, look-ups, processes. */
export interface Contender {
  readonly units: number;
  run(): unknown;
  /** Ends what a run has begun. It is not timed. */
  after?(): unknown;
  /** Processor time spent so far, in microseconds, where another process does the work; default: this one's. */
  cpuUs?(): number;
}

export interface Timing {
  /** Median over the rounds, microseconds a unit. */
  readonly wallUs: number;
  /** The same in processor time, of every thread: a busy machine does not stretch it. */
  readonly cpuUs: number;
  readonly rounds: readonly number[];
}

export interface RoundOptions {
  readonly rounds: number;
  /** Rounds that do not count. */
  readonly warmUps: number;
}

/** Times contenders in turns, so that what slows the machine down slows down all of them. Same order as given. */
export async function interleave<K extends string>(
  contenders: Readonly<Record<K, Contender>>,
  { rounds, warmUps }: RoundOptions,
): Promise<Record<K, Timing>> {
  const names = Object.keys(contenders) as K[];
  const samples = Object.fromEntries(names.map((name) => [name, new Samples()])) as Record<K, Samples>;
  for (let round = 0; round < warmUps + rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      // The order alternates, because the first may benefit from the caches of the last.
      const name = names[(round + turn) % names.length] as K;
      await samples[name].time(contenders[name], round >= warmUps);
    }
  }
  return Object.fromEntries(names.map((name) => [name, samples[name].timing()])) as Record<K, Timing>;
}

class Samples {
  readonly #wall: number[] = [];
  readonly #cpu: number[] = [];

  async time(contender: Contender, counts: boolean): Promise<void> {
    const { units, cpuUs = ownCpuUs } = contender;
    const cpuBefore = cpuUs();
    const startedAt = process.hrtime.bigint();
    await contender.run();
    const wallNs = Number(process.hrtime.bigint() - startedAt);
    const cpu = cpuUs() - cpuBefore;
    await contender.after?.();
    if (!counts) return;
    this.#wall.push(wallNs / 1000 / units);
    this.#cpu.push(cpu / units);
  }

  timing(): Timing {
    return { wallUs: median(this.#wall), cpuUs: median(this.#cpu), rounds: this.#wall };
  }
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** The median of the ratios of each round: what two contenders suffer together does not show. */
export function pairedRatio(ours: Timing, beside: Timing): number {
  return median(ours.rounds.map((time, round) => time / (beside.rounds[round] ?? Number.NaN)));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}
