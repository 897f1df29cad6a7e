import { askProgram } from '../../platform/ask-program.js';
import { findProgram } from '../../platform/find-program.js';
import type { Check } from './check.js';

const NAMESPACES = ['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'];
const SELF_TEST = [
  ...NAMESPACES,
  '--die-with-parent',
  '--cap-drop',
  'ALL',
  '--ro-bind',
  '/',
  '/',
  '--',
  'true',
];

const COSTS =
  'There is no wall of the system around commands: what they may touch rests on your consent alone.';

/** Whether bubblewrap can build its walls here: in a container it is often there and not allowed to. */
export async function checkBubblewrap(env: Readonly<Record<string, string>>): Promise<Check> {
  const [path] = findProgram('bwrap');
  if (path === undefined) {
    const remedy = 'apt install bubblewrap or dnf install bubblewrap (Linux only)';
    return { name: 'bubblewrap', state: 'missing', found: 'not found', costs: COSTS, remedy };
  }
  const answer = await askProgram(path, SELF_TEST, env);
  if (answer.ok)
    return {
      name: 'bubblewrap',
      state: 'ok',
      found: `${path} can isolate; this version does not put commands into it yet`,
    };
  return {
    name: 'bubblewrap',
    state: 'missing',
    found: `${path} cannot isolate here: ${answer.reason}`,
    costs: COSTS,
    remedy:
      'Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run outside of the container.',
  };
}
