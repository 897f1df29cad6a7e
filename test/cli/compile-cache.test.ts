import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { buildFirst, builtCommand } from './built-command.js';

buildFirst();
let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'toolexec-compile-cache-'));
});
afterEach(() => {
  rmSync(state, { recursive: true });
});

const cache = (): string => join(state, 'toolexec', 'node-compile-cache');

function expectVersion(env: Readonly<Record<string, string>> = {}): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [builtCommand(), '--version'], {
    env: { PATH: process.env.PATH, XDG_STATE_HOME: state, ...env },
    encoding: 'utf8',
    timeout: 180_000,
  });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${packageJson.version}\n`, stderr: '' });
}

/** Every file below, by its path. */
const filesOf = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

describe('compiled code of an earlier version', () => {
  it('is removed at the first start', () => {
    const old = join(state, 'toolexec', 'compiled');
    mkdirSync(join(old, 'a-build'), { recursive: true });
    writeFileSync(join(old, 'a-build', 'other-main.cjs'), 'altered');
    expectVersion();
    expect(existsSync(old)).toBe(false);
  });

  it('stays if it is behind a link', () => {
    const elsewhere = join(state, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'kept'), '');
    mkdirSync(join(state, 'toolexec'));
    symlinkSync(elsewhere, join(state, 'toolexec', 'compiled'));
    expectVersion();
    expect(readdirSync(elsewhere)).toEqual(['kept']);
  });
});

describe.skipIf('enableCompileCache' in nodeModule)('a Node without a compile cache', () => {
  it('keeps nothing', () => {
    expectVersion();
    expect(readdirSync(state)).toEqual([]);
  });
});

describe.skipIf(!('enableCompileCache' in nodeModule))("Node's compile cache", () => {
  it('lies in the state directory, for this user alone', () => {
    expectVersion();
    expect(statSync(cache()).mode & 0o777).toBe(0o700);
    expect(filesOf(cache()).length).toBeGreaterThan(0);
  });

  it('is not used if others could write its directory', () => {
    mkdirSync(cache(), { recursive: true });
    chmodSync(cache(), 0o777);
    expectVersion();
    expect(filesOf(cache())).toEqual([]);
  });

  it('is off if NODE_DISABLE_COMPILE_CACHE is set', () => {
    expectVersion({ NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(existsSync(cache())).toBe(false);
  });

  it('does not prevent a start if its files are damaged', () => {
    expectVersion();
    for (const file of filesOf(cache())) {
      const bytes = readFileSync(file);
      for (let at = 0; at < bytes.length; at += 97) bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      writeFileSync(file, bytes);
    }
    expectVersion();
  });
});
