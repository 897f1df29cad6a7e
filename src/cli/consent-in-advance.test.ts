import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../contract/approval.js';
import type { Effect } from '../contract/effect.js';
import { consentInAdvance, type GivenConsent } from './consent-in-advance.js';
import type { ConfiguredPlace } from './later-place.js';

const root = mkdtempSync(join(tmpdir(), 'toolexec-consent-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
writeFileSync(join(root, 'Makefile'), '');
symlinkSync('Makefile', join(root, 'notes'));
symlinkSync('first', join(root, 'second'));
symlinkSync('sub/justfile', join(root, 'first'));
symlinkSync('loop', join(root, 'loop'));
mkdirSync(join(root, '.github'));
symlinkSync('.github', join(root, 'docs'));
mkdirSync(join(root, 'deep/tools'), { recursive: true });
symlinkSync('../tools', join(root, 'deep/.husky'));
symlinkSync('../tools/pre-push', join(root, 'deep/push'));
symlinkSync('tools/tasks.txt', join(root, 'deep/justfile'));
mkdirSync(join(root, '.git'));
writeFileSync(join(root, '.git/HEAD'), 'ref: refs/heads/main\n');
writeFileSync(join(root, '.git/config'), '[core]\n\thooksPath = my-hooks\n');

mkdirSync(join(root, 'bare/objects'), { recursive: true });
mkdirSync(join(root, 'bare/refs'));
writeFileSync(join(root, 'bare/HEAD'), 'ref: refs/heads/main\n');

const CHANGES = { created: [], modified: [], deleted: [], refused: [], conflicts: [] };

function request(more: Partial<ApprovalRequest>, callId = 'a'): ApprovalRequest {
  const [summary, risk, reason] = ['s', 'medium', 'r'] as const;
  const containment = { transaction: true, network: false, undo: true };
  return {
    callId,
    toolName: 'bash',
    summary,
    risk,
    containment,
    args: {},
    effects: [],
    reason,
    shown: [],
    ...more,
  };
}

const decide = async (
  requests: readonly ApprovalRequest[],
  given: GivenConsent = { yes: true },
  place: ConfiguredPlace = { root: [root] },
) => await consentInAdvance(given, place)(requests, { signal: new AbortController().signal });

const write = (path: string): Partial<ApprovalRequest> => ({ effects: [{ kind: 'write', path }] });

describe('consent in advance', () => {
  it.each<[string, readonly Effect[]]>([
    ['a file', [{ kind: 'write', path: 'src/a.ts' }]],
    ['a file beside what runs later', [{ kind: 'write', path: '.github/CODEOWNERS' }]],
    ['a link that leads nowhere', [{ kind: 'write', path: 'loop' }]],
    ['what is only read', [{ kind: 'read', path: 'Makefile' }]],
    ['what lies in dependency folders', [{ kind: 'write', path: 'node_modules/x/package.json' }]],
    ['the whole directory', [{ kind: 'write', path: '.' }]],
    ['what is not known', [{ kind: 'unknown' }]],
  ])('covers %s', async (_, effects) => {
    expect(await decide([request({ effects })])).toEqual({ kind: 'approve_all', by: '--yes' });
  });

  it.each<[string, readonly Effect[]]>([
    ['Makefile', [{ kind: 'write', path: 'Makefile' }]],
    [`${root}/.vscode/tasks.json`, [{ kind: 'write', path: `${root}/.vscode/tasks.json` }]],
    ['.envrc', [{ kind: 'delete', path: '.envrc' }]],
    ['.git', [{ kind: 'delete', path: '.git' }]],
    ['notes', [{ kind: 'write', path: 'notes' }]],
    ['second', [{ kind: 'write', path: 'second' }]],
    ['docs/workflows/ci.yml', [{ kind: 'write', path: 'docs/workflows/ci.yml' }]],
    ['package.json', [{ kind: 'write', path: 'package.json' }]],
    ['tools/pre-push', [{ kind: 'write', path: 'tools/pre-push' }]],
    ['deep/push', [{ kind: 'write', path: 'deep/push' }]],
    ['deep/tools/tasks.txt', [{ kind: 'write', path: 'deep/tools/tasks.txt' }]],
    ['bare/hooks/post-receive', [{ kind: 'write', path: 'bare/hooks/post-receive' }]],
    ['my-hooks/pre-push', [{ kind: 'write', path: 'my-hooks/pre-push' }]],
  ])('does not cover a change to a file that runs later: %s', async (path, effects) => {
    const refused = {
      kind: 'approve_selected',
      by: '--yes',
      ids: [],
      reasons: { a: expect.stringMatching(/^--yes does not approve changes .* Add --approve-later-code /) },
    };
    const decision = await decide([request({ effects })]);
    expect(decision).toEqual(refused);
    expect(JSON.stringify(decision)).toContain(JSON.stringify(JSON.stringify(path)).slice(1, -1));
    expect(await decide([request({ effects })], { yes: true, approveLaterCode: true })).toEqual({
      kind: 'approve_all',
      by: '--yes --approve-later-code',
    });
  });

  it('looks at what runs in a file of which only a part does, where both versions are shown', async () => {
    const path = 'package.json';
    const shown = async (before: string | undefined, after: string | undefined, from?: string) => {
      const diff = { kind: 'diff', path, before: before ?? '', after, ...(from ? { from } : {}) } as const;
      const part = before === undefined ? ({ kind: 'file', path, text: after ?? '' } as const) : diff;
      const parts = [{ kind: 'arguments', json: {} } as const, part];
      return (await decide([request({ ...write(path), parts })])).kind;
    };
    const [plain, scripts] = ['{"name":"a"}', '{"scripts":{"test":"evil"}}'];
    expect(await shown(plain, '{"dependencies":{"x":"1"}}')).toBe('approve_all');
    expect(await shown(undefined, plain)).toBe('approve_all');
    expect(await shown(plain, undefined)).toBe('approve_all');
    expect(await shown(plain, scripts)).toBe('approve_selected');
    expect(await shown(undefined, scripts)).toBe('approve_selected');
    expect(await shown(scripts, undefined)).toBe('approve_selected');
    expect(await shown(plain, '{')).toBe('approve_selected');
    // The earlier content of the target of a move is not shown.
    expect(await shown(plain, plain, 'other.json')).toBe('approve_selected');
  });

  it('does not cover changes beyond the allowed ones, and covers the other changes of the command', async () => {
    const late = request({ ...write('Makefile'), changes: CHANGES, unexpected: ['Makefile', 'b'] });
    expect(await decide([late])).toMatchObject({
      kind: 'approve_selected',
      ids: [],
      reasons: { a: expect.stringContaining('beyond the declared and allowed ones: "Makefile", "b".') },
    });
    expect(await decide([late], { approve: ['a'], approveLaterCode: true })).toEqual({
      kind: 'approve_all',
      by: '--approve --approve-later-code',
    });
    // The executor has already compared the changed paths.
    expect(await decide([request({ ...write('Makefile'), changes: CHANGES })])).toMatchObject({
      kind: 'approve_all',
    });
  });

  it('decides about each call of a batch', async () => {
    const batch = [
      request(write('a.ts'), 'a'),
      request(write('justfile'), 'b'),
      request(write('b.ts'), '__proto__'),
    ];
    expect(await decide(batch)).toMatchObject({ ids: ['a', '__proto__'] });
    expect(await decide(batch, { approve: ['a', 'b'] })).toMatchObject({
      by: '--approve',
      ids: ['a'],
      reasons: {
        b: expect.stringContaining(
          '--approve does not approve changes to files that run later by themselves: "justfile".',
        ),
      },
    });
    expect(await decide(batch, { approve: ['b'], approveLaterCode: true })).toMatchObject({ ids: ['b'] });
  });

  it('goes by the table of the policy', async () => {
    const place = { root: [root], policy: { laterCode: ['run.sh'] } };
    expect(await decide([request(write('Makefile'))], { yes: true }, place)).toMatchObject({
      kind: 'approve_all',
    });
    expect(await decide([request(write('x/run.sh'))], { yes: true }, place)).toMatchObject({ ids: [] });
  });

  it('leaves a question open where it can stay open, and says why', async () => {
    const told: string[] = [];
    const approver = consentInAdvance({ yes: true }, { root: [root] }, (why) => told.push(why));
    const { signal } = new AbortController();
    await expect((async () => approver([request(write('Makefile'))], { signal }))()).rejects.toThrow(
      '"Makefile"',
    );
    expect(told).toEqual([
      expect.stringMatching(/^bash \(a\) is not decided: --yes does not approve changes/),
    ]);
    const late = request({ changes: CHANGES, unexpected: ['Makefile'] });
    expect(await approver([late], { signal })).toMatchObject({ ids: [] });
  });

  it('does not cover files that have changed since they were shown', async () => {
    await expect(decide([request({ changed: ['a'] })])).rejects.toThrow('changed since it was shown: a.');
  });
});
