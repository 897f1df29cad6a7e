import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { buildFirst, builtCommand } from './built-command.js';

const execute = promisify(execFile);
buildFirst();
let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'toolexec-compiled-'));
});
afterEach(() => {
  rmSync(state, { recursive: true });
});

const compiled = (): string => join(state, 'toolexec', 'compiled');

async function versionOf(program: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { stdout, stderr } = await execute(process.execPath, [program, '--version'], {
    env: { PATH: process.env.PATH, XDG_STATE_HOME: state, ...env },
  });
  expect(stderr).toBe('');
  return stdout.trim();
}

interface Planted {
  readonly directory: string;
  readonly main: string;
}

/** Has what another program of the same name has compiled kept for the next start. */
async function plantOther(): Promise<Planted> {
  const other = join(state, 'other');
  rmSync(compiled(), { recursive: true, force: true });
  cpSync(dirname(builtCommand()), other, { recursive: true });
  const main = join(other, 'main.cjs');
  const text = readFileSync(main, 'utf8');
  writeFileSync(main, text.replace(`version:"${packageJson.version}"`, 'version:"6.6.6"'));
  expect(await versionOf(join(other, 'toolexec.cjs'))).toBe('6.6.6');
  const [name = ''] = readdirSync(compiled());
  const directory = join(compiled(), name);
  return { directory, main: join(directory, 'other-main.cjs') };
}

describe('what the command has compiled', () => {
  it('is kept below the state directory, readable by its owner only, and used by the next start', async () => {
    expect(await versionOf(builtCommand())).toBe(packageJson.version);
    const [build = '', ...others] = readdirSync(compiled());
    expect(others).toEqual([]);
    expect(readdirSync(join(compiled(), build)).sort()).toEqual(['other-main.cjs', 'other-start.cjs']);
    expect(statSync(compiled()).mode & 0o777).toBe(0o700);
    expect(statSync(join(compiled(), build, 'other-main.cjs')).mode & 0o777).toBe(0o600);
    const made = statSync(join(compiled(), build, 'other-main.cjs')).ino;
    expect(await versionOf(builtCommand())).toBe(packageJson.version);
    expect(statSync(join(compiled(), build, 'other-main.cjs')).ino).toBe(made);
    // So the two tests that follow refuse what would be used.
    await plantOther();
    expect(await versionOf(builtCommand())).toBe('6.6.6');
  });

  it('is kept for each command, and not of one that gave up early', async () => {
    const run = async (...args: string[]): Promise<readonly string[]> => {
      const env = { PATH: process.env.PATH, XDG_STATE_HOME: state };
      await execute(process.execPath, [builtCommand(), ...args], { env }).catch(() => {});
      const [build = ''] = existsSync(compiled()) ? readdirSync(compiled()) : [];
      return build === ''
        ? []
        : readdirSync(join(compiled(), build)).filter((name) => name.endsWith('-main.cjs'));
    };
    expect(await run('run', join(state, 'missing.json'))).toEqual([]);
    expect(await run('tools', 'list')).toEqual(['tools-main.cjs']);
    expect(await run('config', 'show')).toEqual(['config-main.cjs', 'tools-main.cjs']);
  });

  it('is not used if others could have written the file, or its directory', async () => {
    const planted = await plantOther();
    chmodSync(planted.main, 0o620);
    expect(await versionOf(builtCommand())).toBe(packageJson.version);
    await plantOther();
    chmodSync(planted.directory, 0o777);
    expect(await versionOf(builtCommand())).toBe(packageJson.version);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is not used if it belongs to another user (as root)',
    { tags: ['soak'] },
    async () => {
      const planted = await plantOther();
      chownSync(planted.main, 65534, 65534);
      expect(await versionOf(builtCommand())).toBe(packageJson.version);
      await plantOther();
      chownSync(planted.directory, 65534, 65534);
      expect(await versionOf(builtCommand())).toBe(packageJson.version);
    },
  );

  it.each<[string, (main: string) => void]>([
    ['cut short', (main) => truncateSync(main, 1000)],
    ['empty', (main) => truncateSync(main, 0)],
    ['no code', (main) => writeFileSync(main, 'x'.repeat(5000))],
    [
      'a directory',
      (main) => {
        rmSync(main);
        mkdirSync(main);
      },
    ],
    [
      'a pipe',
      (main) => {
        rmSync(main);
        execFileSync('mkfifo', [main]);
      },
    ],
  ])('is compiled again where its file is %s', async (_what, spoil) => {
    await versionOf(builtCommand());
    const [build = ''] = readdirSync(compiled());
    const main = join(compiled(), build, 'other-main.cjs');
    spoil(main);
    expect(await versionOf(builtCommand())).toBe(packageJson.version);
    expect(await versionOf(builtCommand())).toBe(packageJson.version);
  });

  it('is written whole by several starts at once', { tags: ['soak'] }, async () => {
    const versions = await Promise.all(Array.from({ length: 4 }, () => versionOf(builtCommand())));
    expect(new Set(versions)).toEqual(new Set([packageJson.version]));
    const [build = ''] = readdirSync(compiled());
    expect(readdirSync(join(compiled(), build)).sort()).toEqual(['other-main.cjs', 'other-start.cjs']);
  });

  it('is removed a month after a build was last compiled', async () => {
    const [old, recent] = [join(compiled(), 'old'), join(compiled(), 'recent')];
    for (const directory of [old, recent]) mkdirSync(directory, { recursive: true });
    const days = (count: number): number => Date.now() / 1000 - count * 86_400;
    utimesSync(old, days(31), days(31));
    utimesSync(recent, days(29), days(29));
    await versionOf(builtCommand());
    expect([existsSync(old), existsSync(recent)]).toEqual([false, true]);
  });

  it('is not kept where it cannot be, or must not', async () => {
    await versionOf(builtCommand(), { NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(readdirSync(state)).toEqual([]);
    writeFileSync(join(state, 'toolexec'), 'a file');
    expect(await versionOf(builtCommand())).toBe(packageJson.version);
    expect(await versionOf(builtCommand(), { XDG_STATE_HOME: '/proc/none' })).toBe(packageJson.version);
  });
});
