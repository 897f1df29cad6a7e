import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { createSandbox } from '../../files/create-sandbox.js';
import { removeTree } from '../../platform/fs/remove-tree.js';
import { LaterCode } from '../../policy/later-code/later-code.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import { laterNames } from './later-names.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'later-names-')));
  const made = root;
  onTestFinished(() => removeTree(made));
});

/** Runs a command in the root, with no settings of git but those of the repository. */
function make(command: string): void {
  const env = { PATH: process.env.PATH ?? '', HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('/bin/sh', ['-c', command], { cwd: root, env });
}

/** The other names of a path, relative to the root. */
function namesOf(path: string, isLink = false, above?: string): readonly string[] {
  const sandbox = createSandbox({ roots: [root] });
  const leading = sandbox.leading?.(above) ?? [];
  const names = laterNames(leading, sandbox.roots, new LaterCode())(join(root, path), isLink);
  return names.map((name) => name.slice(root.length + 1));
}

describe('the other names of a file that runs later', () => {
  it.each<[string, string, string, string]>([
    ['a link to its directory', 'mkdir -p t/h; ln -s t/h .husky', 't/h/a', '.husky/a'],
    ['a link to nothing yet', 'ln -s t/h .husky', 't/h/a', '.husky/a'],
    [
      'a link far from it',
      'mkdir -p p/q t; ln -s ../../t p/q/.github',
      't/workflows/a',
      'p/q/.github/workflows/a',
    ],
    ['a link to a link', 'ln -s hk .husky; ln -s t hk', 'hk', '.husky'],
    ['a directory that is a link', 'ln -s t/h .husky; ln -s u t', 'u/h/a', '.husky/a'],
    ['a link in a protected directory', 'mkdir -p .vscode t; ln -s ../t .vscode/a', 't/b', '.vscode/a/b'],
    [
      'a hook that is a link',
      'git init -q; ln -s ../../t/h .git/hooks/pre-push',
      't/h',
      '.git/hooks/pre-push',
    ],
    [
      'the last of two settings',
      'git init -q; git config --add core.hooksPath s; git config --add core.hooksPath t',
      't/a',
      '.git/hooks/a',
    ],
    [
      'settings of a working tree',
      'git init -q; git config extensions.worktreeConfig true; git config --worktree core.hooksPath t',
      't/a',
      '.git/hooks/a',
    ],
    ['settings that are included', 'git init -q; git config include.path ../t/c', 't/c', '.git/config'],
    [
      'settings of an included file',
      'git init -q; mkdir t; git config -f t/c core.hooksPath h; git config include.path ../t/c',
      'h/a',
      '.git/hooks/a',
    ],
    [
      'a filter',
      'git init -q; mkdir t; touch t/f; git config filter.x.clean "t/f %f"',
      't/f',
      '.git/hooks/clean',
    ],
    ['an alias', 'git init -q; mkdir t; touch t/f; git config alias.x "!sh ./t/f"', 't/f', '.git/hooks/x'],
    [
      'a repository in another place',
      'mkdir t; git init -q --separate-git-dir=t/g n',
      't/g/config',
      'n/.git/config',
    ],
  ])('are found through %s', (_, command, path, name) => {
    make(command);
    expect(namesOf(path)).toContain(name);
    expect(namesOf('src/a')).toEqual([]);
  });

  it('are found for a link that takes the place of a directory above it', () => {
    make('mkdir -p t/h; ln -s t/h .husky');
    expect([namesOf('t', true), namesOf('t')]).toEqual([['.husky'], []]);
  });

  it('are none for data that settings name, files outside, and links between dependencies', () => {
    make(`git init -q; touch ignored a.js
      git config core.excludesFile ignored; git config blame.ignoreRevsFile ignored; git config user.name a.js
      git config core.hooksPath /dev/null
      mkdir -p node_modules/b; ln -s ../b node_modules/b/.vscode; ln -s node_modules other; ln -s .husky .husky`);
    expect(['ignored', 'a.js', 'node_modules/b/x'].map((path) => namesOf(path))).toEqual([
      [],
      [],
      ['other/b/x'],
    ]);
  });

  it('are none for words of settings that run no file, such as the name of a branch', () => {
    make(`git init -q; touch main auto log clean.js
      git config init.defaultBranch main; git config color.ui auto; git config alias.lg "log --graph main"
      git config filter.x.clean "node clean.js"`);
    expect(['main', 'auto', 'log'].flatMap((path) => namesOf(path))).toEqual([]);
    expect(namesOf('clean.js')).toEqual(['.git/hooks/clean']);
  });

  it('are looked for above one path only where one is asked about', () => {
    make('mkdir -p p/q t s; ln -s ../../t p/q/.github; ln -s s .github');
    const above = join(root, 's/workflows/a');
    expect([namesOf('t/a', false, above), namesOf('s/a', false, above)]).toEqual([[], ['.github/a']]);
  });
});

describe('a file tool that a rule without a path allows', () => {
  async function write(path: string): Promise<ToolResult | undefined> {
    await using executor = createExecutor({
      root,
      tools: builtinTools(),
      journal: false,
      policy: { denylist: [], rules: [{ decision: 'allow', tool: 'write_file' }] },
    });
    const args = { path, content: 'x' };
    const [result] = await executor.run([{ id: path, name: 'write_file', args }]);
    return result;
  }

  it('asks before it writes a hook under its real name', async () => {
    make('mkdir -p tools/hooks src; ln -s tools/hooks .husky');
    expect((await write('tools/hooks/pre-commit'))?.error?.code).toBe('approval_unavailable');
    expect((await write('src/a'))?.error).toBeUndefined();
    make('rm .husky');
    expect((await write('tools/hooks/pre-commit'))?.error).toBeUndefined();
  });

  it('asks before it writes a hook or the settings of a bare repository', async () => {
    make('git init -q --bare sub/x; mkdir hooks');
    for (const path of ['sub/x/hooks/post-receive', 'sub/x/config'])
      expect((await write(path))?.error?.code, path).toBe('approval_unavailable');
    for (const path of ['sub/x/notes', 'hooks/post-receive', 'config'])
      expect((await write(path))?.error, path).toBeUndefined();
  });

  it.each([
    ['HEAD', ['objects/a', 'refs/a']],
    ['objects/pack/a', ['HEAD', 'refs/a']],
    ['refs/heads/a', ['HEAD', 'objects/a']],
    ['HEAD', ['commondir']],
  ])('asks before %s turns a directory with hooks into a repository', async (last, first) => {
    make('mkdir x x/hooks y; touch y/config');
    for (const name of ['hooks/post-receive', ...first])
      expect((await write(`x/${name}`))?.error, name).toBeUndefined();
    expect((await write(`x/${last}`))?.error?.code).toBe('approval_unavailable');
    if (first.includes('commondir')) return;
    for (const name of [...first, last]) expect((await write(`y/${name}`))?.error, name).toBeUndefined();
  });
});
