import { chmodSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPrograms, resolveDirectories } from './find-programs.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const none = (): boolean => false;

describe('findPrograms()', () => {
  it('finds only executable files: no hidden ones, no sub-folders, nothing below them (E004)', () => {
    using folder = new ToolsFolder();
    folder.add('tool', scriptOf(''));
    folder.add('notes', 'not a program', 0o644);
    folder.add('.hidden', scriptOf(''));
    folder.add('inner', scriptOf(''), 0o755, folder.folder('tools/sub'));
    expect(findPrograms([folder.path], none).map(({ name }) => name)).toEqual(['tool']);
  });

  it('sorts by name, and drops an extension that a tool name cannot contain', () => {
    using folder = new ToolsFolder();
    for (const name of ['b', 'count.py', 'a_1']) folder.add(name, scriptOf(''));
    expect(findPrograms([folder.path], none).map(({ name }) => name)).toEqual(['a_1', 'b', 'count']);
  });

  it('refuses a name that no model can call, and a name that is taken, with the reason', () => {
    using folder = new ToolsFolder();
    folder.add('two words', scriptOf(''));
    folder.add('same', scriptOf(''));
    const second = folder.folder('second');
    folder.add('same', scriptOf(''), 0o755, second);
    const refused = findPrograms([folder.path, second], none).map(({ name, refused: why }) => [name, why]);
    expect(refused).toEqual([
      ['same', undefined],
      ['same', `the name "same" is taken by "${join(folder.path, 'same')}"`],
      ['two words', expect.stringContaining('its name cannot be called')],
    ]);
  });

  it('refuses a program that other users may change: its file, its folder, or the target of its link', () => {
    using folder = new ToolsFolder();
    folder.add('open', scriptOf(''), 0o757);
    folder.add('closed', scriptOf(''));
    const elsewhere = folder.add('target', scriptOf(''), 0o757, folder.folder('elsewhere'));
    symlinkSync(elsewhere, join(folder.path, 'linked'));
    const refused = new Map(findPrograms([folder.path], none).map(({ name, refused: why }) => [name, why]));
    expect(refused.get('closed')).toBeUndefined();
    expect(refused.get('open')).toContain(`${join(folder.path, 'open')}" may be written by every user`);
    expect(refused.get('linked')).toContain(`${elsewhere}" may be written by every user`);
    chmodSync(folder.path, 0o757);
    expect(findPrograms([folder.path], none).map(({ refused: why }) => why)).toEqual(
      Array(3).fill(expect.stringContaining(`"${folder.path}" may be written by every user`)),
    );
  });

  it('has no tools in a directory that does not exist, and refuses a file', () => {
    using folder = new ToolsFolder();
    expect(findPrograms([join(folder.root, 'nowhere')], none)).toEqual([]);
    const file = folder.add('file', '');
    expect(() => findPrograms([file], none)).toThrow('it is not a directory');
  });
});

describe('resolveDirectories()', () => {
  it('expands ~ (E037)', () => {
    expect(resolveDirectories('~/tools', 'x')).toEqual([join(homedir(), 'tools')]);
    expect(resolveDirectories(['~', '/a'], 'x')).toEqual([homedir(), '/a']);
    expect(() => resolveDirectories(['a', 1], 'x')).toThrow('x must be a path or a list of paths');
  });
});
