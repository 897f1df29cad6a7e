import type { CommandLimits, CommandWall, Confinement, LimitHit } from '../contract/processes.js';
import { tellLimit } from './limits/tell-limit.js';
import { tellDenied } from './sandbox/tell-denied.js';

interface Told {
  readonly wall?: CommandWall;
  readonly limit?: LimitHit;
}

interface Ended extends Told {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly aborted: boolean;
}

/** What stood in the way of a command that failed, as far as its last words tell. */
export function tellEnd(
  { confinement, limits = {} }: { readonly confinement?: Confinement; readonly limits?: CommandLimits },
  end: Ended,
  said: string,
): Told {
  if (end.exitCode === 0 || end.aborted) return {};
  const limit = end.limit ?? tellLimit(limits, end, said);
  const isWalled = confinement !== undefined && end.wall !== undefined && end.wall.kind !== 'none';
  const denied = isWalled ? tellDenied(confinement, said) : [];
  return {
    ...(limit === undefined ? {} : { limit }),
    ...(denied.length === 0 || end.wall === undefined ? {} : { wall: { ...end.wall, denied } }),
  };
}
