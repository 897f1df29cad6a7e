import type { Confinement } from '../contract/processes.js';
import { looksLikeStandIn } from '../platform/looks-like-stand-in.js';
import type { CommandGuard, WallVerdict } from './settings.js';

/** What is wanted of the OS sandbox, beside what this machine has. What finds out is loaded with the first command. */
export function createCommandGuard(os: Confinement['os'], roots: readonly string[]): CommandGuard {
  if (os === 'off') return { isRequired: false, known: () => FINE, look: async () => FINE };
  sweepStandIns(roots);
  let verdict: WallVerdict | undefined;
  let looking: Promise<WallVerdict> | undefined;
  return {
    isRequired: os === 'required',
    known: () => verdict,
    look() {
      looking ??= judge(os).then((judged) => {
        verdict = judged;
        return judged;
      });
      return looking;
    },
  };
}

/** What a program that was killed has left in the place of a repository is taken away before the first command. */
function sweepStandIns(roots: readonly string[]): void {
  const left = roots.map((root) => `${root}/.git`).filter(looksLikeStandIn);
  if (left.length === 0) return;
  void import('../commands/sandbox/sweep-stand-ins.js').then(({ sweepStandIns: sweep }) => sweep(left));
}

const FINE: WallVerdict = { kind: 'fine' };

async function judge(os: 'preferred' | 'required'): Promise<WallVerdict> {
  const { findWall } = await import('../commands/sandbox/find-wall.js');
  const wall = await findWall();
  if (wall.stands) return FINE;
  if (os === 'preferred') {
    return { kind: 'ask', reason: `no OS sandbox would stand around the command: ${wall.reason}` };
  }
  const { wallRequired } = await import('../commands/sandbox/choose-wall.js');
  return { kind: 'refuse', error: wallRequired(wall) };
}
