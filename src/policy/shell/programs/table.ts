import { FILE_PROGRAMS } from './files.js';
import { NETWORK_PROGRAMS } from './network.js';
import { type Evaluate, Program } from './program.js';
import { ROWS } from './rows.js';
import { interpret, SHELL_PROGRAMS } from './shells.js';
import { TEXT_PROGRAMS } from './text.js';
import { unwrap, WRAPPERS } from './wrappers.js';

/** An entry for each of the names that are one key, separated by spaces. */
function byName<T>(entries: readonly (readonly [names: string, value: T])[]): Map<string, T> {
  return new Map(entries.flatMap(([names, value]) => names.split(' ').map((name) => [name, value])));
}

const OWN = byName(
  [FILE_PROGRAMS, NETWORK_PROGRAMS, SHELL_PROGRAMS, TEXT_PROGRAMS, WRAPPERS].flatMap(
    Object.entries<Evaluate>,
  ),
);

/** The columns of each program; they are read when they are first asked for. */
const COLUMNS = byName(
  ROWS.trim()
    .split(/\n+(?! )/)
    .map((row) => row.split(/\n? {2,}/))
    .map(([names = '', ...columns]) => [names, columns]),
);

interface Known {
  readonly program: Program;
  readonly own: Evaluate | undefined;
}

const read = new Map<string, Known | undefined>();

/** The row of a program; undefined: it is not known, and so nothing is said of it. */
export function findProgram(name: string): Known | undefined {
  const known = read.get(name);
  if (known !== undefined) return known;
  const columns = COLUMNS.get(name);
  if (columns === undefined) return findByKind(name);
  const program = new Program(columns);
  const usual = program.has('language') ? interpret : program.has('runs') ? unwrap : undefined;
  const found = { program, own: OWN.get(name) ?? usual };
  read.set(name, found);
  return found;
}

function findByKind(name: string): Known | undefined {
  if (/^mkfs[._-]\w+$|^newfs_\w+$/.test(name)) return findProgram('mkfs');
  if (/^(?:ld-linux|ld-musl|ld\.so|ld64)/.test(name)) return findProgram('ld-linux');
  // `python3.12`, `perl5.36`.
  const versioned = /^(python|pypy|perl|ruby|php|lua|node)[\d.]+$/.exec(name)?.[1];
  return versioned === undefined ? undefined : findProgram(versioned);
}

/** Whether a program goes by the directory that it runs in: its settings, scripts or files lie there. Of others it is not known. */
export function goesByDirectory(path: string): boolean {
  if (/^[^/].*\//.test(path)) return true;
  const known = findProgram(path.slice(path.lastIndexOf('/') + 1));
  return known === undefined || known.program.has('directory') || CHANGES_FILES.test(path);
}

/** A rule for these that names a directory means it where the call starts. */
const CHANGES_FILES =
  /^(?:rm|rmdir|unlink|shred|cp|mv|ln|link|install|tee|sponge|dd|tar|truncate|touch|mkdir|mkfifo|chmod|chown|chgrp|sed|patch|rsync|zip|unzip)$/;
