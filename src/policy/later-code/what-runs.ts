import { isDeepStrictEqual } from 'node:util';
import { parse as parseToml } from 'smol-toml';

type Table = Readonly<Record<string, unknown>>;

interface PartlyRun {
  readonly read: (text: string) => unknown;
  /** The parts that run, or that may decide which programs run. */
  readonly runs: (file: Table) => readonly unknown[];
}

/** Everything but fields that are known to run nothing: other tools read their settings from these files. */
function allBut(harmless: string): (table: Table) => readonly unknown[] {
  const names = new Set(harmless.split(/\s+/));
  return (table) =>
    Object.entries(table)
      .filter(([name, value]) => !names.has(name) && !isEmpty(value))
      .sort(byName);
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const ofPackage = allBut(
  `name version description keywords homepage bugs license licenses author authors contributors maintainers funding
   repository private files main module browser types typings typesVersions type exports imports sideEffects man
   unpkg jsdelivr dependencies devDependencies peerDependencies peerDependenciesMeta optionalDependencies
   bundleDependencies bundledDependencies overrides resolutions engines os cpu libc publishConfig browserslist readme`,
);
const ofComposer = allBut(
  `name version description type keywords homepage license authors support funding require require-dev conflict
   replace provide suggest minimum-stability prefer-stable autoload autoload-dev readme time archive abandoned`,
);
const ofCrate = allBut(
  `name version edition authors description documentation readme homepage repository license license-file keywords
   categories publish rust-version include exclude resolver`,
);
const ofCargo = allBut(
  `package workspace project dependencies dev-dependencies build-dependencies features target profile lints bin
   example test bench badges`,
);
const ofWorkspace = allBut('members exclude default-members resolver dependencies lints package');
const ofPython = allBut('project dependency-groups tool');
/** Tools whose settings name only files and rules. */
const ofPythonTools = allBut('black ruff isort poetry uv pdm');
const ofInstaller = allBut(
  `name version description authors maintainers license readme homepage repository documentation keywords classifiers
   packages include exclude dependencies dev-dependencies group extras sources source index dependency-groups
   package-mode optional-dependencies override-dependencies constraint-dependencies workspace python-requires`,
);

/** Files of which only a part runs, by name in lower case: other parts, such as dependencies, may change. */
const PARTLY_RUN: Readonly<Record<string, PartlyRun>> = {
  'package.json': { read: JSON.parse, runs: ofPackage },
  'composer.json': {
    read: JSON.parse,
    // The listed files run whenever a program loads the packages.
    runs: (file) => [
      ...ofComposer(file),
      ...['autoload', 'autoload-dev'].map((name) => tableOf(file[name]).files),
    ],
  },
  'deno.json': {
    read: JSON.parse,
    runs: allBut(
      'name version license imports scopes exports lock nodeModulesDir exclude fmt compilerOptions',
    ),
  },
  'cargo.toml': {
    read: parseToml,
    // A procedural macro runs in the compiler; its setting has several spellings.
    runs: (file) => [
      ...ofCargo(file),
      ...ofCrate(tableOf(file.package)),
      ...ofWorkspace(tableOf(file.workspace)),
    ],
  },
  pipfile: { read: parseToml, runs: (file) => [file.scripts] },
  'pyproject.toml': {
    read: parseToml,
    runs: (file) => [
      ...ofPython(file),
      tableOf(file.project)['entry-points'],
      ...ofPythonTools(tableOf(file.tool)),
      ...['poetry', 'uv', 'pdm'].map((tool) => ofInstaller(tableOf(tableOf(file.tool)[tool]))),
    ],
  },
  /** The list of a rebase in progress. */
  'git-rebase-todo': {
    read: (text) => ({ run: text.split('\n').filter((line) => /^\s*(?:x|exec)\s/.test(line)) }),
    runs: ({ run }) => [run],
  },
};

/** Whether only a part of a file with this name runs. */
export function runsInPart(name: string): boolean {
  return Object.hasOwn(PARTLY_RUN, name.toLowerCase());
}

/** The file names, in lower case. */
export const RUN_IN_PART: readonly string[] = Object.keys(PARTLY_RUN);

/**
 * Whether two versions of a file run the same code. A missing file (undefined) runs nothing. An unreadable
 * version counts as running anything.
 */
export function runsTheSame(
  name: string,
  before: Uint8Array | undefined,
  after: Uint8Array | undefined,
): boolean {
  const file = runsInPart(name) ? PARTLY_RUN[name.toLowerCase()] : undefined;
  if (file === undefined) return false;
  try {
    return isDeepStrictEqual(partsOf(file, before), partsOf(file, after));
  } catch {
    return false;
  }
}

function partsOf({ read, runs }: PartlyRun, bytes: Uint8Array | undefined): readonly unknown[] {
  if (bytes === undefined) return [];
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const parts = runs(tableOf(read(text), true)).map((part) => (isEmpty(part) ? undefined : part));
  // Trailing empty parts are dropped, so a missing file equals a file that runs nothing.
  return parts.slice(0, parts.findLastIndex((part) => part !== undefined) + 1);
}

function tableOf(value: unknown, isRequired = false): Table {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Table;
  if (isRequired) throw new TypeError('it is not a table');
  return {};
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}
