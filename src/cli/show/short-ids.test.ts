import { expect, it } from 'vitest';
import { shortIds } from './short-ids.js';

const ALL = [
  '0mwsbrz9400-aaaa',
  '0mwsbrz9401-aaaa',
  '0mwsbrz9500-bbbb',
  'b1',
  '0old-process-1',
  '0old-process-10',
];
const short = shortIds((prefix) => ALL.filter((id) => id.startsWith(prefix)));

it('shows what tells an id apart from all others, and never less than 8 characters', () => {
  expect(ALL.map(short)).toEqual([
    '0mwsbrz9400',
    '0mwsbrz9401',
    '0mwsbrz95',
    'b1',
    // The whole of it names it, though another begins so.
    '0old-process-1',
    '0old-process-10',
  ]);
  expect(short('0aaaaaaaaaaaa')).toBe('0aaaaaaa');
});

it('cannot drive the terminal', () => {
  expect(shortIds(() => [])('\u001b[31mred-and-more')).not.toContain('\u001b');
});
