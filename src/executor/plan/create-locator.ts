import { isAbsolute, join, relative, resolve } from 'node:path';
import { namesInRepository } from '../../commands/sandbox/git/bare-repository.js';
import type { Sandbox } from '../../contract/files.js';
import type { PathEffect, PolicyQuestion } from '../../contract/policy.js';
import { isToolError } from '../../errors/tool-error.js';
import { expandWildcards } from '../../files/expand-wildcards.js';
import { systemClock } from '../../platform/clock/clock.js';
import { laterNames } from './later-names.js';

export type Locator = Required<
  Pick<PolicyQuestion, 'locate' | 'refusal' | 'expand' | 'hiddenBelow' | 'laterNames'>
>;

/**
 * Locates for the policy the paths that a command names. `locate` gives the canonical path, or undefined if
 * the sandbox would not reach the path; `refusal` gives the reason. The locator does not restrict a command.
 * It prevents a link from leading an allowed path outside, and it shows the person the paths that the command names
 * explicitly.
 * @param home the directory that `~` means in commands.
 */
export function createLocator(sandbox: Sandbox, home?: string): Locator {
  const look = (absolute: string, access: PathEffect['kind']): Looked => {
    const inside = relative(sandbox.cwd, absolute);
    try {
      return { path: sandbox.resolve(isBelow(inside) ? inside || '.' : absolute, access) };
    } catch (error) {
      return { error };
    }
  };
  // The calls of a batch often name the same paths and are planned together, so results are kept for a
  // moment.
  const looked = new Map<string, Looked>();
  let since = 0;
  const expanded = new Map<string, readonly string[] | undefined>();
  const renew = (): void => {
    const now = systemClock.monotonic();
    if (now - since <= ONE_MOMENT_MS) return;
    looked.clear();
    expanded.clear();
    since = now;
  };
  /** What may be written may be read: a rule has already looked the path up. */
  const writable = (absolute: string, access: PathEffect['kind']): Looked | undefined => {
    const found = access === 'read' ? looked.get(`write ${absolute}`) : undefined;
    return found === undefined || 'error' in found ? undefined : found;
  };
  const resolved = (path: string, from: string | undefined, access: PathEffect['kind']): string => {
    const absolute = resolve(from ?? sandbox.cwd, path);
    renew();
    const key = `${access} ${absolute}`;
    const found = looked.get(key) ?? writable(absolute, access) ?? look(absolute, access);
    looked.set(key, found);
    if ('error' in found) throw found.error;
    return found.path;
  };
  return {
    locate(path, from) {
      try {
        return resolved(path, from, 'write');
      } catch {
        return undefined;
      }
    },
    refusal({ kind, path }, from) {
      const written = inHome(path, home);
      try {
        resolved(written, from, kind);
        return undefined;
      } catch (error) {
        if (!isToolError(error, 'sandbox_violation')) return undefined;
        if (isDenied(error.details)) return error.message;
        // The sandbox may accept this path only for file tools, by its absolute name. That does not apply to
        // commands.
        const absolute = resolve(from ?? sandbox.cwd, written);
        const [own, ...others] = sandbox.roots.map((root) => isBelow(relative(root, absolute)));
        if (others.includes(true)) return undefined;
        return own === true ? error.message : 'It lies outside the roots.';
      }
    },
    expand(pattern, from = sandbox.cwd) {
      renew();
      const key = `${from}\0${pattern}`;
      if (!expanded.has(key)) expanded.set(key, expandWildcards(inHome(pattern, home), from));
      return expanded.get(key);
    },
    hiddenBelow(path, from) {
      const absolute = resolve(from ?? sandbox.cwd, inHome(path, home));
      const { hidden = [], incomplete = false } = sandbox.guarded?.('every') ?? {};
      const found = hidden.find((one) => isBelow(relative(absolute, one.path)) && one.path !== absolute);
      if (found !== undefined) return relative(sandbox.cwd, found.path);
      const isRoot = incomplete && sandbox.roots.some((root) => isBelow(relative(absolute, root)));
      return isRoot ? 'more than can be looked at' : undefined;
    },
    laterNames: (path, later) => [
      ...laterNames(sandbox.leading?.(path) ?? [], sandbox.roots, later)(path),
      ...namesInRepository(path),
    ],
  };
}

type Looked = { readonly path: string } | { readonly error: unknown };

const ONE_MOMENT_MS = 5;

function inHome(path: string, home: string | undefined): string {
  return /^~(?:\/|$)/.test(path) && home !== undefined ? join(home, path.slice(1)) : path;
}

function isBelow(path: string): boolean {
  return !isAbsolute(path) && !/^\.\.(?:[\\/]|$)/.test(path);
}

function isDenied(details: unknown): boolean {
  return (details as { readonly reason?: unknown } | undefined)?.reason === 'DeniedPatternMatched';
}
