import { askProgram } from '../../platform/ask-program.js';
import { findProgram } from '../../platform/find-program.js';
import type { Check } from './check.js';

export interface SoughtProgram {
  readonly name: string;
  /** What it is called on disk. */
  readonly program: string;
  /** Shows that it works, not only that it is there. */
  readonly args: readonly string[];
  readonly costs: string;
  readonly remedy: string;
}

export const GIT: SoughtProgram = {
  name: 'git',
  program: 'git',
  args: ['--version'],
  costs: 'Commands of models that use git fail. toolexec itself needs none.',
  remedy: 'apt install git, dnf install git or brew install git',
};

/** Whether a program on the search path runs. */
export async function checkProgram(
  sought: SoughtProgram,
  env: Readonly<Record<string, string>>,
): Promise<Check> {
  const { name, costs, remedy } = sought;
  const [path] = findProgram(sought.program);
  if (path === undefined) return { name, state: 'missing', found: 'not found', costs, remedy };
  const answer = await askProgram(path, sought.args, env);
  if (!answer.ok)
    return { name, state: 'missing', found: `${path} does not work: ${answer.reason}`, costs, remedy };
  return { name, state: 'ok', found: `${path} (${answer.stdout.trim().split('\n')[0] ?? ''})` };
}
