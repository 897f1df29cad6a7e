import { expect, it } from 'vitest';
import { removedValues, sanitizeEnvironment } from './sanitize-environment.js';

function removed(env: Record<string, string>, options = {}): string[] {
  return removedValues(env, sanitizeEnvironment(env, options));
}

it('removedValues() gives the secrets that a command does not see, the longest first', () => {
  expect(removed({ A_TOKEN: '12345678', B_SECRET: '1234567890', HOME: '/home/someone' })).toEqual([
    '1234567890',
    '12345678',
  ]);
});

it('removedValues() leaves out values that are too short to search for, and lists each once', () => {
  expect(removed({ A_TOKEN: '1234567', B_TOKEN: 'same-value', C_KEY: 'same-value' })).toEqual(['same-value']);
});

it('removedValues() leaves out removed values that are not secret', () => {
  const env = {
    PAGER: '/usr/bin/less',
    PYTHONPATH: '/home/me/project',
    AWS_REGION: 'us-east-1',
    SSH_AUTH_SOCK: '/tmp/agent',
  };
  expect(removed(env)).toEqual([]);
});

it('removedValues() treats variables that the configuration removes as secrets', () => {
  expect(removed({ CORP_THING: 'confidential' }, { denylist: ['CORP_*'] })).toEqual(['confidential']);
  expect(removed({ CORP_TOKEN: 'handed-on' }, { pass: ['CORP_TOKEN'] })).toEqual([]);
});

it('removedValues() knows the token within an address', () => {
  expect(removed({ FEED: 'https://h/x?api_key=query%2Dsecret&a=b' })).toEqual([
    'query%2Dsecret',
    'query-secret',
  ]);
});

it('removedValues() knows the password of an address, written and decoded', () => {
  const values = removed({
    HTTP_PROXY: 'http://user:secret%40word@proxy',
    DATABASE_URL: 'pg://u:other-secret@db/x',
  });
  expect(values).toEqual(
    expect.arrayContaining(['secret%40word', 'secret@word', 'other-secret', 'pg://u:other-secret@db/x']),
  );
});
