import { FILE_PROGRAMS } from './files.js';
import { MACHINE_PROGRAMS } from './machine.js';
import { NETWORK_PROGRAMS } from './network.js';
import type { Program } from './program.js';
import { SHELL_PROGRAMS } from './shells.js';
import { TEXT_PROGRAMS } from './text.js';
import { WRAPPERS } from './wrappers.js';

const PROGRAMS: ReadonlyMap<string, Program> = new Map(
  [FILE_PROGRAMS, MACHINE_PROGRAMS, NETWORK_PROGRAMS, SHELL_PROGRAMS, TEXT_PROGRAMS, WRAPPERS].flatMap(
    (programs) =>
      Object.entries(programs).flatMap(([names, program]) =>
        names.split(' ').map((name): [string, Program] => [name, program]),
      ),
  ),
);

/** The row of a program; undefined if the program is not known. */
export function findProgram(name: string): Program | undefined {
  const known = PROGRAMS.get(name);
  if (known !== undefined) return known;
  if (/^mkfs[._-]\w+$|^newfs_\w+$/.test(name)) return PROGRAMS.get('mkfs');
  // `python3.12`, `perl5.36`.
  return PROGRAMS.get(/^(python|pypy|perl|ruby|php|lua|node)[\d.]+$/.exec(name)?.[1] ?? '');
}

/**
 * Whether a program depends on the directory in which it runs, because its settings, scripts or files lie
 * there. Not known for other programs.
 */
export function goesByDirectory(path: string): boolean {
  if (/^[^/].*\//.test(path)) return true;
  const known = findProgram(path.slice(path.lastIndexOf('/') + 1));
  return known === undefined || known.goesByDirectory === true;
}
