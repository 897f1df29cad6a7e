import { sandboxStrength } from '../../sandbox/sandbox-strength.js';
import type { Check } from './check.js';

/** How well file tools are kept inside the roots here. */
export function checkContainment(): Check {
  switch (sandboxStrength()) {
    case 'pinned':
      return { name: 'file containment', state: 'ok', found: 'every path is walked on pinned descriptors' };
    case 'verified':
      return {
        name: 'file containment',
        state: 'missing',
        found: 'files are opened, then their real place is verified',
        costs: 'A program that swaps links while a tool works can win the race.',
        remedy: 'Run on Linux with /proc mounted where programs you do not trust share the workspace.',
      };
    default:
      return {
        name: 'file containment',
        state: 'broken',
        found: 'this system tells nothing about open files',
        costs: 'No file tool can be kept inside the roots, so none runs.',
        remedy: 'Mount /proc.',
      };
  }
}
