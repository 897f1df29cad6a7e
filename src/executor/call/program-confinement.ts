import type { Confinement } from '../../contract/processes.js';
import type { Tool } from '../../contract/tool.js';
import type { ContainmentSettings } from './settings.js';

/**
 * The sandbox for an external tool's program. Undefined: the tool is not a program, or its program runs
 * outside the sandbox.
 */
export function confinementOf(
  { program }: Tool,
  { programs }: Pick<ContainmentSettings, 'programs'>,
): Confinement | undefined {
  const { which, confinement } = programs;
  if (program === undefined || confinement.os === 'off') return undefined;
  return which === 'all' || (which === 'untrusted' && !program.trusted) ? confinement : undefined;
}
