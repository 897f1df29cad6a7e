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
  const file = require.resolve(name);
  // webpack replaces `import()` of an expression by a function that always rejects.
  return import(pathToFileURL(file).href).catch(() => require(file));
}

/**
 * The location of this code. Neither name is always usable: under `node -e`, and in a worker with `eval:
 * true`, every module of the process has a `__filename` that is not a path, and a CommonJS bundle has no
 * `import.meta.url`. Evaluated code has no location: then Node's own `require` searches from the working
 * directory.
 */
function thisFile(): string {
  const name = ownFileName();
  // Turbopack writes the path of the source from an imagined directory `/ROOT`.
  if (name !== undefined && isAbsolute(name) && existsSync(name)) return name;
  const url: unknown = import.meta.url;
  if (typeof url !== 'string' || !url.startsWith('file:')) return join(process.cwd(), 'evaluated');
  // webpack writes the path of the source into an ES module. That path does not exist where the program is deployed.
  return existsSync(fileURLToPath(url)) ? url : (process.argv[1] ?? url);
}

/** webpack replaces `typeof __filename` by `"string"`, even in an ES module, where there is no such name. */
function ownFileName(): string | undefined {
  try {
    return __filename;
  } catch {
    return undefined;
  }
}
