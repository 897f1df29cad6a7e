import { BUILTIN_PROGRAMS } from './builtins.js';
import { FILE_PROGRAMS } from './files.js';
import { FINDING_PROGRAMS } from './find.js';
import { GIT_PROGRAMS } from './git.js';
import { INTERPRETER_PROGRAMS } from './interpreters.js';
import { NETWORK_PROGRAMS } from './network.js';
import { type Programs, type Row, readRow } from './program.js';
import { RUNNER_PROGRAMS } from './runners.js';
import { SHELL_PROGRAMS } from './shells.js';
import { SYSTEM_PROGRAMS } from './system.js';
import { TEXT_PROGRAMS } from './text.js';
import { WRAPPER_PROGRAMS } from './wrappers.js';

/** The table: every program that the analysis knows, by name. */
const TABLES: readonly Programs[] = [
  BUILTIN_PROGRAMS,
  FILE_PROGRAMS,
  FINDING_PROGRAMS,
  GIT_PROGRAMS,
  INTERPRETER_PROGRAMS,
  NETWORK_PROGRAMS,
  RUNNER_PROGRAMS,
  SHELL_PROGRAMS,
  SYSTEM_PROGRAMS,
  TEXT_PROGRAMS,
  WRAPPER_PROGRAMS,
];

const ROWS = new Map<string, Row>(
  TABLES.flatMap(Object.entries).flatMap(([names, program]) => {
    const row = readRow(program);
    return names.split(' ').map((name) => [name, row] as const);
  }),
);

/** The row of a program; undefined: it is not known, and so nothing is said of it. */
export function findProgram(name: string): Row | undefined {
  const known = ROWS.get(name);
  if (known !== undefined) return known;
  if (/^mkfs[._-]\w+$|^newfs_\w+$/.test(name)) return ROWS.get('mkfs');
  if (/^(?:ld-linux|ld-musl|ld\.so|ld64)/.test(name)) return ROWS.get('ld-linux');
  // `python3.12`, `perl5.36`.
  const versioned = /^(python|pypy|perl|ruby|php|lua|node)[\d.]+$/.exec(name)?.[1];
  return versioned === undefined ? undefined : ROWS.get(versioned);
}

/** Whether a program goes by the directory that it runs in: its settings and scripts lie there. Of others it is not known. */
export function goesByDirectory(path: string): boolean {
  if (/^[^/].*\//.test(path)) return true;
  const row = findProgram(path.slice(path.lastIndexOf('/') + 1));
  return row === undefined || row.program.goesByDirectory === true;
}

const names = (...lines: readonly string[]): readonly string[] => lines.flatMap((line) => line.split(' '));

/** What a pattern in place of a command (`/b?n/r[m]`) is tried on, the worst first. */
export const DANGEROUS_NAMES = names(
  'rm dd mkfs mkfs.ext4 shred wipefs find chmod chown mv cp tee bash sh dash env sudo xargs reboot shutdown halt',
  'poweroff kill nc curl wget python3 perl busybox truncate ln mount umount cat',
);

/** Built into bash, and nowhere to be found for another shell: there they change nothing. */
export const BASH_ALONE: ReadonlySet<string> = new Set(
  names(
    'declare typeset let mapfile readarray pushd popd source shopt enable builtin complete compgen bind history [[',
  ),
);

/** Programs that can be told by an option to run something else. */
export const TAKES_CODE: ReadonlySet<string> = new Set(
  names(
    'tar ssh scp sftp rsync zip find fd fdfind sed awk gawk sort make man split python python3 perl ruby node php lua curl wget',
    'docker npx npm nc socat',
  ),
);
