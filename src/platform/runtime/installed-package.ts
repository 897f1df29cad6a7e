import { existsSync } from 'node:fs';
import nodeModule from 'node:module';
import { dirname, join } from 'node:path';
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
  let at = dirname(file.startsWith('file:') ? fileURLToPath(file) : file);
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
  try {
    // `import()` in a script that was compiled in an earlier process warns on standard error since Node 22.
    return require(name);
  } catch (error) {
    if (!isEsModule(error)) throw error;
    // Resolved first: a bundle in CommonJS has no resolution of its own for `import()`.
    return import(pathToFileURL(require.resolve(name)).href);
  }
}

/** Node before 22.12 requires no ES module, and none does one that waits while it is loaded. */
function isEsModule(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_REQUIRE_ESM' || code === 'ERR_REQUIRE_ASYNC_MODULE';
}

/** In a bundle that is CommonJS, `import.meta` has no URL. */
function thisFile(): string {
  return typeof __filename === 'string' ? __filename : import.meta.url;
}
