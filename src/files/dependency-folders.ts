import { forLast } from '../base/for-last.js';
import { DEFAULT_DENIED_PATTERNS, DEFAULT_DENIED_WRITE_PATTERNS } from './default-denies.js';
import type { DenyRules } from './deny-rules.js';

/** Directories that package managers fill with third-party code, and empty again. */
export const DEPENDENCY_FOLDERS: readonly string[] = [
  // JavaScript
  ...['node_modules', 'bower_components', 'jspm_packages', '.pnpm-store'],
  // Python
  ...['.venv', 'venv', 'site-packages', 'dist-packages', '__pypackages__', '.tox', '.nox', '.eggs'],
  // Go, PHP and Ruby; Rust and Java; Swift
  ...['vendor', 'target', 'Pods', 'Carthage'],
];

/** Directories that builds, tests and caches fill and can rebuild. */
const BUILD_FOLDERS: readonly string[] = [
  ...['build', 'dist', 'out', 'tmp', 'temp', 'coverage', '.nyc_output', 'htmlcov', '.cache', '.parcel-cache'],
  ...['.next', '.nuxt', '.output', '.svelte-kit', '.angular', '.turbo', '.vite', '.gradle', '.dart_tool'],
  ...['__pycache__', '.pytest_cache', '.mypy_cache', '.ruff_cache', 'obj', '.build', '_build', 'DerivedData'],
];

/**
 * The deny patterns for commands: those that apply everywhere, and those in dependency folders. Most built-in
 * patterns do not apply there, because packages contain certificates, test keys and settings with such names,
 * and package managers must write, replace and remove them. Patterns with a whole path, and git's and
 * toolexec's own files, stay denied.
 * @param roots directories whose own names do not count
 */
export function withDependencies(
  roots: readonly string[],
  everywhere: DenyRules,
  inside: DenyRules,
): DenyRules {
  const rulesFor = forLast((directory) => (isInDependencies(roots, directory) ? inside : everywhere));
  return {
    deniedBy: (path, access) => rulesFor(directoryOf(path)).deniedBy(path, access),
    deniedBelow: (path) => rulesFor(directoryOf(path)).deniedBelow(path),
    deniedEntries: (directory, access) => rulesFor(directory).deniedEntries(directory, access),
  };
}

/** The built-in patterns that also apply there. */
export const HOLDS_IN_DEPENDENCIES = {
  denied: DEFAULT_DENIED_PATTERNS.filter((pattern) => pattern.startsWith('/')),
  deniedWrite: DEFAULT_DENIED_WRITE_PATTERNS.filter((pattern) => /\/(\.git|toolexec)\/\*\*$/.test(pattern)),
};

const FOLDERS = new Set(DEPENDENCY_FOLDERS);

/** @param directory absolute and canonical, as `roots` are */
export function isInDependencies(roots: readonly string[], directory: string): boolean {
  return isIn(FOLDERS, roots, directory);
}

/** Whether a path can be rebuilt: it is, or lies in, a build or dependency folder, or git's own. */
export function isRemade(roots: readonly string[], path: string): boolean {
  return isIn(REMADE, roots, path);
}

const REMADE = new Set([...DEPENDENCY_FOLDERS, ...BUILD_FOLDERS, '.git']);

function isIn(folders: ReadonlySet<string>, roots: readonly string[], directory: string): boolean {
  const root = roots.find((one) => directory === one || directory.startsWith(one === '/' ? one : `${one}/`));
  return (
    root !== undefined &&
    directory
      .slice(root.length)
      .split('/')
      .some((name) => folders.has(name))
  );
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
