import { InvalidArgumentError } from 'commander';

const MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** An age such as `30d` or `12h` in milliseconds. @throws InvalidArgumentError */
export function parseAge(text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  const ms = MS[unit];
  if (count !== undefined && ms !== undefined) return Number(count) * ms;
  throw new InvalidArgumentError('Write a number and s, m, h, d or w: 30d.');
}
