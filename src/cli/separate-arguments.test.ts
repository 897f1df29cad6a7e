import { Command } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { separateArguments } from './separate-arguments.js';

function command(...names: readonly string[]): Command {
  const made = new Command('x').option('--root <dir...>').option('--approve <id...>').option('--yes');
  made.option('--config <file>').option('--resume [id]');
  for (const name of names) made.argument(name);
  return made;
}

describe('separateArguments()', () => {
  it.each([
    ['--root a FILE', 'FILE --root a'],
    ['--root a b FILE', 'FILE --root a b'],
    ['FILE --root a b', 'FILE --root a b'],
    ['--root a --root b FILE', 'FILE --root a --root b'],
    ['--root a b --yes FILE', 'FILE --root a b --yes'],
    ['--root a FILE --yes', 'FILE --root a --yes'],
    ['--approve x y --root a FILE', 'FILE --approve x y --root a'],
    ['--root a --approve x y FILE --yes', 'FILE --root a --approve x y --yes'],
    ['--config c --root a -', '- --config c --root a'],
    ['--root a b -- FILE', '--root a b -- FILE'],
    ['--root a', '--root a'],
    ['--root', '--root'],
    ['--config --yes FILE', 'FILE --config --yes'],
    ['--unknown FILE', 'FILE --unknown'],
    ['--resume ID FILE', 'FILE --resume ID'],
    ['--resume --yes FILE', 'FILE --resume --yes'],
    ['one two', 'one two'],
  ])('%s means %s', (typed, meant) => {
    expect(separateArguments(typed.split(' '), command('[file]')).join(' ')).toBe(meant);
  });

  it.each([
    ['--root a NAME JSON', 'NAME JSON --root a'],
    ['NAME --root a JSON', 'NAME JSON --root a'],
    ['NAME JSON --root a b', 'NAME JSON --root a b'],
    ['--root a NAME', 'NAME --root a'],
    ['--root a --yes NAME', 'NAME --root a --yes'],
  ])('of a command with two arguments, %s means %s', (typed, meant) => {
    expect(separateArguments(typed.split(' '), command('<name>', '[json]')).join(' ')).toBe(meant);
  });

  it('loses no word and invents none', () => {
    const word = fc.constantFrom(
      '--root',
      '--approve',
      '--yes',
      '--config',
      '--what',
      'a',
      'b',
      '-',
      'c',
      '--',
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const separated = separateArguments(words, command('[file]'));
        expect([...separated].sort()).toEqual([...words].sort());
      }),
    );
  });
});
