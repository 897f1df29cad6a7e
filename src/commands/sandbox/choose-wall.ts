import type { CommandWall, Confinement } from '../../contract/processes.js';
import { ToolError } from '../../errors/tool-error.js';
import { findWall, knownWall } from './find-wall.js';
import type { Bubblewrap } from './open-wall.js';

export interface ChosenWall {
  readonly wall: CommandWall;
  /** What builds it, where it stands. */
  readonly inside?: { readonly bubblewrap: Bubblewrap; readonly confinement: Confinement };
}

/** @throws ToolError `sandbox_violation` where a wall is required and none stands. */
export async function chooseWall(confinement: Confinement | undefined): Promise<ChosenWall> {
  if (confinement === undefined || confinement.os === 'off') return { wall: NO_WALL };
  const wall = knownWall() ?? (await findWall());
  if (wall.stands) {
    const { network } = confinement;
    return { wall: { kind: 'bubblewrap', network }, inside: { bubblewrap: wall, confinement } };
  }
  if (confinement.os === 'required') throw wallRequired(wall);
  return { wall: { ...NO_WALL, reason: wall.reason } };
}

const NO_WALL: CommandWall = { kind: 'none', network: true };

export function wallRequired({
  reason,
  remedy,
}: {
  readonly reason: string;
  readonly remedy: string;
}): ToolError {
  return new ToolError(
    'sandbox_violation',
    'Cannot run commands here: they need an OS sandbox, and there is none. Do without commands.',
    {
      hint: `No OS sandbox stands: ${reason}. ${remedy}`,
      details: { reason: 'SandboxUnavailable', why: reason },
    },
  );
}
