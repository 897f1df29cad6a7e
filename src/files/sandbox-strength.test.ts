import { expect, it } from 'vitest';
import { sandboxStrength } from './sandbox-strength.js';

it('sandboxStrength tells descriptors from verified paths', () => {
  expect(sandboxStrength()).toBe(process.platform === 'linux' ? 'pinned' : 'verified');
});
