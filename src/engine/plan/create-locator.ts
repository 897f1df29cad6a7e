import { isAbsolute, relative, resolve } from 'node:path';
import type { Sandbox } from '../../contract/files.js';
import type { PolicyQuestion } from '../../contract/policy.js';

/**
 * Tells the policy where a path lies that a command names: canonical, or undefined where the sandbox would not reach
 * it. What it tells bounds no command; it keeps a rule that allows from being led outside by a link.
 */
export function createLocator(sandbox: Sandbox): NonNullable<PolicyQuestion['locate']> {
  return (path, from = sandbox.cwd) => {
    const absolute = resolve(from, path);
    const inside = relative(sandbox.cwd, absolute);
    const isBelow = !isAbsolute(inside) && !/^\.\.(?:[\\/]|$)/.test(inside);
    try {
      return sandbox.resolve(isBelow ? inside || '.' : absolute, 'write');
    } catch {
      return undefined;
    }
  };
}
