import type { Confinement } from '../../contract/processes.js';
import type { Tool } from '../../contract/tool.js';
import type { EngineSettings } from './settings.js';

/** What the program is kept in that a tool is; undefined: in nothing, or it is none. */
export function confinementOf(
  { program }: Tool,
  { programs }: Pick<EngineSettings, 'programs'>,
): Confinement | undefined {
  const { which, confinement } = programs;
  if (program === undefined || confinement.os === 'off') return undefined;
  return which === 'all' || (which === 'untrusted' && !program.trusted) ? confinement : undefined;
}
