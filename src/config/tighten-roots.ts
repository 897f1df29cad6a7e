import { resolve } from 'node:path';
import { covers } from '../base/covers.js';
import { showValue } from '../base/show-setting.js';
import { entryStat, realPath } from '../platform/fs-entry.js';
import { compilePattern } from '../sandbox/compile-pattern.js';
import type { Tighten, Tightened, TightenScope } from './tighten.js';

/**
 * Roots inside the roots that hold anyway, judged by where they really lead: `link-to-home` is home.
 * The value holds real paths, so that a link which changes later leads nowhere else.
 */
export const tightenRoots: Tighten = { may: 'inside the roots that hold without it', apply: narrow };

function narrow(asked: unknown, { directory, baseRoots, ownPatterns }: TightenScope): Tightened {
  // `secrets/**` speaks of a root's own `secrets`: with a root further down it would no longer hold.
  const relative = ownPatterns.find((pattern) => isRelative(pattern));
  if (relative !== undefined) {
    const reason = `your own denied pattern ${showValue(relative)} speaks of the roots that you chose`;
    return { value: undefined, reason };
  }
  const roots = (Array.isArray(asked) ? asked : []).map(String);
  const real = roots.map((root) => realDirectory(resolve(directory, root)));
  const inside = real.filter((path) => path !== undefined && baseRoots.some((base) => covers(base, path)));
  const value = inside.length === 0 ? undefined : inside;
  if (inside.length === roots.length) return { value };
  const outside = roots.filter((_, index) => !inside.includes(real[index]));
  return {
    value,
    reason: `${showValue(outside)} is not a directory inside ${baseRoots.map(showValue).join(', ')}`,
  };
}

function realDirectory(path: string): string | undefined {
  const real = realPath(path);
  return real !== undefined && entryStat(real)?.isDirectory() === true ? real : undefined;
}

function isRelative(pattern: string): boolean {
  return compilePattern(pattern, 'patterns').some(({ subject }) => subject === 'relative');
}
