import { pairedRatio, type Timing } from './measure.js';

export type Unit = 'µs' | 'ms' | 'bytes' | 'MB';

/** One line of the table. */
export interface Row {
  readonly what: string;
  readonly unit: Unit;
  /** Left out if there is no value to compare with. */
  readonly ours?: number;
  /** Processor time, where the work is nothing but computing: there it tells more than the clock on a busy machine. */
  readonly cpu?: number;
  readonly beside?: Beside;
  readonly goal?: Goal;
}

export type Beside =
  | { readonly name: string; readonly value: number; readonly cpu?: number; readonly ratio: number }
  | { readonly name: string; readonly skipped: string };

/** The most that is allowed: of our figure, of the ratio, or of our figure less the one beside. */
export interface Goal {
  readonly of: 'ours' | 'ratio' | 'difference';
  readonly atMost: number;
  /** Where the figure beside is so much; a machine that takes longer for that as well may take longer for ours. */
  readonly whereBesideIs?: number;
}

/** A row that sets two timings side by side; they are in microseconds unless a unit is given. */
export function toRow(
  what: string,
  ours: Timing,
  beside: readonly [name: string, timing: Timing],
  more: { readonly computing: boolean; readonly goal?: Goal; readonly unit?: Unit },
): Row {
  const [name, timing] = beside;
  return {
    what,
    unit: more.unit ?? 'µs',
    ours: ours.wallUs,
    ...(more.computing ? { cpu: ours.cpuUs } : {}),
    beside: {
      name,
      value: timing.wallUs,
      ...(more.computing ? { cpu: timing.cpuUs } : {}),
      ratio: pairedRatio(ours, timing),
    },
    ...(more.goal === undefined ? {} : { goal: more.goal }),
  };
}

/** A timing in milliseconds, for a row with that unit. */
export function toMs({ wallUs, cpuUs, rounds }: Timing): Timing {
  return { wallUs: wallUs / 1_000, cpuUs: cpuUs / 1_000, rounds };
}

/** Undefined: there is no goal, or nothing to hold against it. */
export function isMet({ ours, cpu, beside, goal }: Row): boolean | undefined {
  if (goal === undefined || ours === undefined) return undefined;
  // A machine that others use as well stretches the one, helper threads of V8 the other.
  if (goal.of === 'ours' && Math.min(ours, cpu ?? ours) <= goal.atMost) return true;
  if (goal.of === 'ours' && goal.whereBesideIs === undefined) return false;
  if (beside === undefined || 'skipped' in beside) return undefined;
  if (goal.of === 'ours') return beside.ratio * (goal.whereBesideIs ?? 0) <= goal.atMost;
  if (goal.of === 'ratio') return beside.ratio <= goal.atMost;
  return Math.min(ours - beside.value, (cpu ?? ours) - (beside.cpu ?? beside.value)) <= goal.atMost;
}
