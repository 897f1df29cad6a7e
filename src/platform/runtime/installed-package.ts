import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * Packages with native parts find their binaries relative to their own files, so a bundler must not include
 * them. These functions hide the package's name from bundlers and look for the package from the location of
 * the running file: a program that was bundled with toolexec needs these packages in a `node_modules` beside
 * or above its bundle. `createRequire` is not imported by name, because webpack replaces such calls by
 * `undefined`.
 */

/**
 * Loads a CommonJS package, a builtin module, or a file by its absolute path. @throws Error if the package is
 * not installed.
 */
export function requireInstalled(name: string): unknown {
  return nodeModule.createRequire(thisFile())(name);
}

/**
 * The directory of a package, found by Node's rules, without reading its `package.json`. Undefined if it is
 * not installed.
 */
export function installedDirectory(name: string): string | undefined {
  const file = thisFile();
  let at = dirname(isAbsolute(file) ? file : fileURLToPath(file));
  for (;;) {
    const candidate = join(at, 'node_modules', name);
    if (existsSync(candidate)) return candidate;
    const parent = dirname(at);
    if (parent === at) return undefined;
    at = parent;
  }
}

/** Loads an ES module package. Rejects if the package is not installed. */
export async function importInstalled(name: string): Promise<unknown> {
  const require = nodeModule.createRequire(thisFile());
  // Resolved first: in a CommonJS bundle `import()` resolves nothing by itself.
  return import(pathToFileURL(require.resolve(name)).href);
}

/**
 * The location of this code. Neither name is always usable: under `node -e`, and in a worker with `eval:
 * true`, every module of the process has a `__filename` that is not a path, and a CommonJS bundle has no
 * `import.meta.url`. Evaluated code has no location: then Node's own `require` searches from the working
 * directory.
 */
function thisFile(): string {
  if (typeof __filename === 'string' && isAbsolute(__filename)) return __filename;
  const url: unknown = import.meta.url;
  return typeof url === 'string' && url.startsWith('file:') ? url : join(process.cwd(), 'evaluated');
}
