import { sep } from 'node:path';

/**
 * Whether `path` is `effectPath` or lies below it, component by component (`/a/bc` is not below `/a/b`).
 * Both are canonical and absolute.
 */
export function covers(effectPath: string, path: string): boolean {
  if (path === effectPath) return true;
  if (effectPath.endsWith(sep)) return path.startsWith(effectPath);
  return path.length > effectPath.length && path[effectPath.length] === sep && path.startsWith(effectPath);
}
