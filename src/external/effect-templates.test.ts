import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import { effectsFor, parseEffectTemplates } from './effect-templates.js';

const SCHEMA = { type: 'object', required: ['path', 'paths', 'id'] };

function effects(given: unknown, args: JsonObject) {
  return effectsFor(parseEffectTemplates(given, SCHEMA), args);
}

describe('effect templates', () => {
  it('put arguments in their places', () => {
    expect(effects([{ kind: 'read', path: '{path}' }], { path: 'a.txt' })).toEqual([
      { kind: 'read', path: 'a.txt' },
    ]);
    expect(effects([{ kind: 'write', path: 'out/{path}-{id}.json' }], { path: 'a', id: 7 })).toEqual([
      { kind: 'write', path: 'out/a-7.json' },
    ]);
  });

  it('give an effect for each item of a list', () => {
    expect(effects([{ kind: 'delete', path: '{paths}' }], { paths: ['a', 'b'] })).toEqual([
      { kind: 'delete', path: 'a' },
      { kind: 'delete', path: 'b' },
    ]);
    expect(effects([{ kind: 'delete', path: '{paths}' }], { paths: [] })).toEqual([]);
  });

  it('leave out an effect whose optional argument is not given, and use defaults', () => {
    const given = [
      { kind: 'write', path: '{output?}' },
      { kind: 'read', path: '{directory=.}' },
    ];
    expect(effects(given, {})).toEqual([{ kind: 'read', path: '.' }]);
    expect(effects(given, { output: 'x', directory: 'd' })).toEqual([
      { kind: 'write', path: 'x' },
      { kind: 'read', path: 'd' },
    ]);
  });

  it('refuse an argument whose effect cannot be determined, and nothing runs', () => {
    const given = [{ kind: 'write', path: '{path}' }];
    for (const args of [{ path: { a: 1 } }, { path: null }, { path: true }, {}, { path: [['a']] }]) {
      expect(() => effects(given, args)).toThrow('the argument path is not a text');
    }
  });

  it('ignore arguments from a prototype', () => {
    expect(effects([{ kind: 'write', path: '{constructor?}' }], {})).toEqual([]);
  });

  it.each([
    ['no list', { kind: 'read' }, 'a list is expected'],
    ['no object', ['read'], 'effect 0 must be an object'],
    ['an unknown kind', [{ kind: 'run', command: 'ls', shell: 'sh' }], 'effect 0 needs a kind: one of read'],
    ['a missing field', [{ kind: 'fetch' }], 'effect 0 (fetch) needs url'],
    ['a field too many', [{ kind: 'read', path: 'a', mode: 'x' }], 'effect 0 (read) has no "mode"'],
    [
      'an argument that may be missing',
      [{ kind: 'read', path: '{other}' }],
      'names {other}, which input_schema does not',
    ],
    ['a loose brace', [{ kind: 'read', path: 'a{' }], 'a brace that belongs to no {argument}'],
    [
      'a wrong access',
      [{ kind: 'call', server: 's', tool: 't', access: 'all' }],
      'needs access, one of read',
    ],
  ])('are refused for %s', (_, given, message) => {
    expect(() => parseEffectTemplates(given, SCHEMA)).toThrow(message);
  });
});
