import { isToolError } from '../../errors/tool-error.js';
import { askProgram } from '../../platform/ask-program.js';
import { findRipgrep } from '../../search/find-ripgrep.js';
import type { Check } from './check.js';

const COSTS = 'The tools grep and glob answer execution_failed.';
const REMEDY =
  'Install toolexec again with its optional packages, or ripgrep: apt install ripgrep, brew install ripgrep.';

export async function checkRipgrep(
  roots: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Check> {
  const path = await find(roots);
  if (path === undefined) return missing('not found');
  const answer = await askProgram(path, ['--version'], env);
  if (!answer.ok) return missing(`${path} does not work: ${answer.reason}`);
  return { name: 'ripgrep', state: 'ok', found: `${answer.stdout.split('\n')[0]} (${path})` };
}

async function find(roots: readonly string[]): Promise<string | undefined> {
  try {
    return await findRipgrep(roots);
  } catch (error) {
    if (isToolError(error, 'execution_failed')) return undefined;
    throw error;
  }
}

function missing(found: string): Check {
  return { name: 'ripgrep', state: 'missing', found, costs: COSTS, remedy: REMEDY };
}
