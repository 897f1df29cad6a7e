import type { GuardedPaths } from '../../contract/processes.js';
import { gitMounts } from './git-mounts.js';

/** Mounts over what lies inside the roots and is not for commands: empty where it is secret, read-only where it is code. */
export function guardMounts({ hidden, readOnly, missing }: GuardedPaths): readonly string[] {
  return [
    ...readOnly.flatMap(({ path, type }) =>
      type === 'dir' && path.endsWith('/.git') ? gitMounts(path) : ['--ro-bind', path, path],
    ),
    ...missing.flatMap(emptyDirectory),
    // Later, so that what is secret within what may be read stays secret.
    ...hidden.flatMap(({ path, type }) =>
      type === 'dir' ? emptyDirectory(path) : ['--ro-bind', '/dev/null', path],
    ),
  ];
}

function emptyDirectory(path: string): readonly string[] {
  return ['--tmpfs', path, '--remount-ro', path];
}
