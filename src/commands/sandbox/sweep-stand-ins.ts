import { sweepStandIn } from '../../platform/stand-in.js';
import { settleRepository } from './git/settle-repository.js';

/** Takes away stand-ins that nobody holds any more; a repository that was made in one becomes one. */
export function sweepStandIns(paths: readonly string[]): void {
  for (const path of paths) sweepStandIn(path, settleRepository);
}
