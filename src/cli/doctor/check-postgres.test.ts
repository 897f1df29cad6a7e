import { expect, it } from 'vitest';
import { checkPostgres } from './check-postgres.js';

it('says that a journal in Postgres cannot be reached, without the password', async () => {
  const check = await checkPostgres('postgres://me:hush@127.0.0.1:1/app');
  expect(check).toMatchObject({ name: 'journal', state: 'broken' });
  expect(check.found).toContain('postgres://127.0.0.1:1/app: the server cannot be reached');
  expect(JSON.stringify(check)).not.toContain('hush');
});

it('refuses a text that is not an address', async () => {
  expect((await checkPostgres('postgres://h:x/y')).found).toContain('not an address of Postgres');
});
