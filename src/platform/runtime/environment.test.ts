import { expect, it } from 'vitest';
import { readEnvironment } from './environment.js';

it('readEnvironment() gives a copy', () => {
  const env = readEnvironment();
  expect(env.PATH).toBe(process.env.PATH);
  env.TOOLEXEC_TEST_COPY = '1';
  expect(process.env.TOOLEXEC_TEST_COPY).toBeUndefined();
});
