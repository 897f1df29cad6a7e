import { nodeVersion } from '../../platform/runtime.js';
import type { Check } from './check.js';

const LEAST = [20, 19];

export function checkNode(): Check {
  const version = nodeVersion();
  if (isEnough(version)) return { name: 'node', state: 'ok', found: version };
  return {
    name: 'node',
    state: 'broken',
    found: version,
    costs: `toolexec needs Node ${LEAST.join('.')} or newer.`,
    remedy: 'Install a current Node: https://nodejs.org',
  };
}

function isEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
