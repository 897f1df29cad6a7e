import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { compiledValidators } from './compile-validators.js';

const ROOT = resolve(import.meta.dirname, '..');

/** By the path of a source: the module that a bundle has in its place. */
export type ReplacedModules = (
  path: string,
) => { readonly code: string; readonly type: 'js' | 'json' } | undefined;

export async function replacedModules(): Promise<ReplacedModules> {
  const validators = await compiledValidators();
  const description = resolve(ROOT, 'package.json');
  const { version } = JSON.parse(readFileSync(description, 'utf8')) as { version: string };
  return (path) => {
    if (path === resolve(ROOT, 'src/schema/ready-made.ts')) return { code: validators, type: 'js' };
    // The driver of Postgres has a second one, in C, which is another package: nothing here uses it.
    if (path.endsWith('/pg/lib/native/index.js')) return { code: 'module.exports = undefined;', type: 'js' };
    // Only the version of our own package.json is needed.
    return path === description ? { code: JSON.stringify({ version }), type: 'json' } : undefined;
  };
}
