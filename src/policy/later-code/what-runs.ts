import { isDeepStrictEqual } from 'node:util';
import { parse as parseToml } from 'smol-toml';

type Table = Readonly<Record<string, unknown>>;

interface PartlyRun {
  readonly read: (text: string) => unknown;
  /** The parts that run, or that decide which programs run. */
  readonly runs: (file: Table) => readonly unknown[];
}

/** Files of which only a part runs, by name in lower case: other parts, such as dependencies, may change. */
const PARTLY_RUN: Readonly<Record<string, PartlyRun>> = {
  'package.json': {
    read: JSON.parse,
    runs: (file) => [
      ...[file.scripts, file.packageManager, file.gypfile, file.wireit, file.nx, file.husky],
      ...[file['lint-staged'], file['nano-staged'], file['simple-git-hooks'], file['pre-commit']],
      ...[file['pre-push'], file['git-hooks'], file.gitHooks, file.ghooks],
      // Settings that name modules: test runners load them, and editors for their linters.
      ...[file.jest, file.mocha, file.ava, file.tap, file.nyc, file.babel, file.eslintConfig, file.prettier],
      ...[file.nodemonConfig, file.stylelint, file.commitlint, file.xo, file.release, file['release-it']],
      // The dependencies whose own scripts run.
      ...[file.trustedDependencies, tableOf(file.pnpm).onlyBuiltDependencies],
      // Scripts read these as `$npm_package_config_NAME`.
      file.config,
    ],
  },
  'composer.json': { read: JSON.parse, runs: (file) => [file.scripts, file.config] },
  'deno.json': { read: JSON.parse, runs: (file) => [file.tasks] },
  'cargo.toml': {
    read: parseToml,
    // A procedural macro runs in the compiler; its setting has several spellings.
    runs: (file) => [tableOf(file.package).build, file.lib],
  },
  pipfile: { read: parseToml, runs: (file) => [file.scripts] },
  'pyproject.toml': {
    read: parseToml,
    runs: (file) => [
      file['build-system'],
      ...['pytest', 'pylint', 'mypy'].map((tool) => tableOf(file.tool)[tool]),
      ...Object.entries(tableOf(file.tool)).map(([tool, own]) => {
        const { tasks, scripts, envs } = tableOf(own);
        return tasks === undefined && scripts === undefined && envs === undefined
          ? undefined
          : [tool, tasks, scripts, envs];
      }),
    ],
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
  if (isRequired) throw new TypeError('it is no table');
  return {};
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  );
}
