import { userInfo } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { homeOf, readEnvironment, stateHome } from './environment.js';

it('readEnvironment() gives a copy', () => {
  const env = readEnvironment();
  expect(env.PATH).toBe(process.env.PATH);
  env.TOOLEXEC_TEST_COPY = '1';
  expect(process.env.TOOLEXEC_TEST_COPY).toBeUndefined();
});

afterEach(() => void vi.unstubAllEnvs());

it.each(['', 'relative'])(
  'homeOf() takes HOME=%j for none, so that no state lies in the working directory',
  (home) => {
    vi.stubEnv('HOME', home);
    expect(homeOf({ HOME: home })).toBe(userInfo().homedir);
    expect(stateHome({ HOME: home })).toBe(`${userInfo().homedir}/.local/state`);
  },
);
