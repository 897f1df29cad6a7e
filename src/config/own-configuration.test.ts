import { chmodSync, chownSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workshop } from './fixtures/workshop.js';
import { resolveConfig } from './resolve-config.js';

const FILE = '.config/toolexec/config.toml';
const isRoot = process.getuid?.() === 0;

describe.skipIf(process.platform === 'win32')('the configuration of the person', () => {
  it.each([
    ['file', 0o666, 'every user'],
    ['directory', 0o777, 'every user'],
  ] as const)('is refused where its %s has the mode %o', (what, mode, who) => {
    const { env, project, write } = workshop();
    const file = write(FILE, 'ask = "never"\n');
    chmodSync(what === 'file' ? file : dirname(file), mode);
    expect(() => resolveConfig({ cwd: project, env })).toThrow(
      new RegExp(`Cannot apply your configuration .*can be written by ${who}.*chmod go-w`),
    );
  });

  it.skipIf(!isRoot)('is refused where it belongs to another user or group (needs root)', () => {
    const { env, project, write } = workshop();
    const file = write(FILE, '');
    chownSync(file, 12_345, 0);
    expect(() => resolveConfig({ cwd: project, env })).toThrow(/belongs to another user \(12345\)/);
    chownSync(file, 0, 12_345);
    chmodSync(file, 0o664);
    expect(() => resolveConfig({ cwd: project, env })).toThrow(/can be written by a group \(12345\)/);
  });

  it('counts where only its owner may write it, or a group of that one alone', () => {
    const { env, project, write } = workshop();
    const file = write(FILE, '');
    for (const mode of [0o600, 0o644, ...(process.getgid?.() === process.getuid?.() ? [0o664] : [])]) {
      chmodSync(file, mode);
      expect(resolveConfig({ cwd: project, env }).userFile).toBe(file);
    }
  });
});

describe('a root that holds the home directory', () => {
  it('is reported, and no other file is', () => {
    const { env, home, project } = workshop();
    const warnings = (roots?: readonly string[]): readonly string[] =>
      resolveConfig({
        cwd: project,
        env,
        flags: roots === undefined ? {} : { 'tools.sandbox.allowed_roots': roots },
      }).warnings;
    expect(warnings()).toEqual([]);
    expect(warnings([home])).toEqual([expect.stringContaining('is your home directory')]);
    expect(warnings([project, dirname(home)])).toEqual([
      expect.stringContaining('holds your home directory'),
    ]);
    expect(resolveConfig({ cwd: home, env }).warnings).toEqual([expect.stringContaining(join(home))]);
  });
});
