import { askProgram } from '../../platform/ask-program.js';
import { findRipgrep } from '../../search/find-ripgrep.js';
import type { Check } from './check.js';

const COSTS = 'The tools grep and glob answer execution_failed.';
const REMEDY =
  'Install toolexec again with its optional packages, or ripgrep: apt install ripgrep, brew install ripgrep.';

export async function checkRipgrep(env: Readonly<Record<string, string>>): Promise<Check> {
  const path = await findRipgrep(AbortSignal.timeout(5000));
  if (path === undefined) {
    return { name: 'ripgrep', state: 'missing', found: 'not found', costs: COSTS, remedy: REMEDY };
  }
  const answer = await askProgram(path, ['--version'], env);
  if (answer.ok) return { name: 'ripgrep', state: 'ok', found: `${answer.stdout.split('\n')[0]} (${path})` };
  const found = `${path} does not work: ${answer.reason}`;
  return { name: 'ripgrep', state: 'missing', found, costs: COSTS, remedy: REMEDY };
}
