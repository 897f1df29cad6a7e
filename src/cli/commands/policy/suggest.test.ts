import { describe, expect, it } from 'vitest';
import type { Effect } from '../../../contract/effect.js';
import { LaterPlace } from '../../later-place.js';
import { type ApprovedCall, proposeRules } from './suggest.js';

const call = (name: string, ...effects: readonly Effect[]): ApprovedCall => ({
  call: { id: '1', name, args: {} },
  effects,
});
const runs = (command: string): ApprovedCall => call('bash', { kind: 'run', command, shell: 'bash' });
const place = new LaterPlace({});
const rulesFor = (...calls: readonly ApprovedCall[]) => proposeRules(calls, place).map(({ rule }) => rule);

describe('proposeRules()', () => {
  it('allows the very command, and counts', () => {
    const approved = ['tsc --noEmit', "git commit -m 'a b'", "git commit -m 'a b'"];
    const found = proposeRules(approved.map(runs), place);
    expect(found.map(({ times }) => times)).toEqual([2, 1]);
    expect(found[0]?.rule).toMatchObject({ tool: 'bash', command: "git commit -m 'a b'" });
    expect(found[1]?.rule).toEqual({
      decision: 'allow',
      tool: 'bash',
      command: 'tsc --noEmit',
      match: ['tsc --noEmit'],
      not_match: ['tsc --noEmit; rm -rf .'],
    });
  });

  it.each([
    ['what removes', 'rm x'],
    ['what another program would run', 'sudo ls'],
    ['what a shell would run', "bash -c 'ls'"],
    ['several commands', 'ls; pwd'],
    ['a redirection', 'echo a > b'],
    ['what is computed', 'echo $(x)'],
    ['a secret', 'deploy --token=ghp_0123456789abcdefghijABCDEFGHIJ012345'],
    ['what is blocked', 'rm -rf /'],
  ])('leaves out %s', (_what, command) => {
    expect(rulesFor(runs(command))).toEqual([]);
  });

  it('says that a file runs later by itself', () => {
    const notes = (path: string) =>
      proposeRules([call('write_file', { kind: 'write', path })], place).map((one) => one.notes);
    expect(notes('src/a.ts')).toEqual([[]]);
    expect(notes('sub/Makefile')).toEqual([[expect.stringContaining('runs later by itself')]]);
    expect(notes('.github/workflows/ci.yml')).toEqual([[expect.stringContaining('runs later by itself')]]);
  });

  it('allows one file, and one host, and neither removing nor what lies elsewhere', () => {
    const write = (path: string) => call('write_file', { kind: 'write', path });
    expect(rulesFor(write('src/a.ts'))).toMatchObject([{ effect: 'write', path: 'src/a.ts' }]);
    expect(rulesFor(call('web_fetch', { kind: 'fetch', url: 'https://a.example/x' }))).toMatchObject([
      { tool: 'web_fetch', url: 'https://a.example' },
    ]);
    for (const path of ['../a/b', 'a/../b', '/etc/x', 'a/*.ts', '~/x/y'])
      expect(rulesFor(write(path))).toEqual([]);
    expect(rulesFor(call('delete', { kind: 'delete', path: 'src/a.ts' }))).toEqual([]);
    expect(rulesFor(call('web_fetch', { kind: 'fetch', url: 'https://me:pw@a.example/x' }))).toEqual([]);
    expect(rulesFor(call('two', { kind: 'write', path: 'a/b' }, { kind: 'write', path: 'a/c' }))).toEqual([]);
  });
});
