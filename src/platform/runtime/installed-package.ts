import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * Packages with native parts find their binaries beside themselves, so no bundler may put them into another file.
 * These functions hide the name from bundlers and look for the package where the running file lies: a program that was
 * bundled with toolexec needs these packages in a `node_modules` beside or above its bundle. `createRequire` is not
 * imported by its name: webpack puts `undefined` in the place of its calls then.
 */

/** Loads a CommonJS package, a builtin module, or a file by its absolute path. @throws Error when the package is not installed. */
export function requireInstalled(name: string): unknown {
  return nodeModule.createRequire(thisFile())(name);
}

/** Where a package lies, found as Node finds it, without reading what it declares. Undefined when it is not installed. */
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

/** Loads an ES module package. Rejects when the package is not installed. */
export async function importInstalled(name: string): Promise<unknown> {
  const require = nodeModule.createRequire(thisFile());
  // Resolved first: a bundle in CommonJS has no resolution of its own for `import()`.
  return import(pathToFileURL(require.resolve(name)).href);
}

/**
 * Where this code lies. Neither name is always one: `node -e` and a worker of `eval: true` give every module of the process
 * a `__filename` that is no path, and a bundle that is CommonJS has no `import.meta.url`. A bundle that is evaluated lies
 * nowhere: Node's own `require` looks from the working directory then.
 */
function thisFile(): string {
  if (typeof __filename === 'string' && isAbsolute(__filename)) return __filename;
  const url: unknown = import.meta.url;
  return typeof url === 'string' && url.startsWith('file:') ? url : join(process.cwd(), 'evaluated');
}
