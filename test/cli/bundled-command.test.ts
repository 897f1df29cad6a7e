import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtCommand } from './built-command.js';

const directory = dirname(builtCommand());
const parts = readdirSync(directory).filter((name) => name.endsWith('.cjs'));
const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'),
);

describe('the command as it is shipped', () => {
  it('needs only itself, Node, and the packages that are installed with it', () => {
    const allowed = new Set([
      ...parts.map((name) => `./${name}`),
      ...builtinModules.flatMap((name) => [name, `node:${name}`]),
      ...Object.keys(dependencies),
    ]);
    const asked = parts.flatMap((name) =>
      [
        ...readFileSync(join(directory, name), 'utf8').matchAll(
          /(?<![.\w'"`])(?:require|import)\("([^"]+)"\)/g,
        ),
      ].map(([, asked]) => asked ?? ''),
    );
    expect(asked.length).toBeGreaterThan(parts.length);
    expect([...new Set(asked)].filter((name) => !allowed.has(name) && !allowed.has(packageOf(name)))).toEqual(
      [],
    );
  });

  it('loads neither the executor nor a large package for help', () => {
    const loaded = loadedBy(['--help']);
    expect(loaded.map(({ name }) => name.split('-')[0])).toEqual(
      expect.arrayContaining(['toolexec.cjs', 'main']),
    );
    expect(readFileSync(builtCommand(), 'utf8').startsWith('#!/usr/bin/env node\n')).toBe(true);
    expect(loaded.length).toBeLessThan(12);
    expect(sizeOf(loaded)).toBeLessThan(150_000);
  });

  it('loads neither the analysis of commands, nor the code for processes or pages, for two calls', () => {
    const names = partsOf(loadedBy(['run', '--journal', '../journal.db'], twoReads));
    expect(names).toEqual(expect.arrayContaining(['toolexec.cjs', 'run']));
    expect(names).not.toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^(?:analyze-(?:once|command)|run-command|draw-page|chat)/),
      ]),
    );
  });

  it('loads neither the option parser nor a large package for a hook, and still refuses a wrong option', () => {
    const document = { session_id: 's', cwd: '/', hook_event_name: 'Notification' };
    const names = loadedBy(['hook', '--for', 'claude-code'], () => JSON.stringify(document)).map(
      ({ name }) => name,
    );
    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(/^hook-/)]));
    expect(names).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:program-|ajv|re2js|semver)/)]),
    );
    expect(() => loadedBy(['hook', '--for', 'another'])).toThrow(
      "Option '--for <agent>' argument 'another' is invalid. Allowed choices are claude-code, codex, gemini-cli.",
    );
    expect(() => loadedBy(['exec', '--call', '1'])).toThrow("Missing required argument 'command'.");
  });

  it('loads neither the executor nor a journal for the hook of a command', { tags: ['soak'] }, () => {
    const documentIn = (cwd: string): string =>
      JSON.stringify({
        ...{ session_id: 's', cwd, hook_event_name: 'PreToolUse', tool_use_id: '1' },
        ...{ tool_name: 'Bash', tool_input: { command: 'true', run_in_background: true } },
      });
    const loaded = loadedBy(['hook', '--for', 'claude-code'], documentIn);
    const names = partsOf(loaded);
    expect(names).toEqual(expect.arrayContaining(['hook', 'bash']));
    expect(names).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:open-executor|journal-for|program|files-read)/)]),
    );
    expect(sizeOf(loaded)).toBeLessThan(800_000);
  });

  it('contains the licence of every bundled package', () => {
    const licenses = readFileSync(join(directory, 'LICENSES.txt'), 'utf8');
    for (const name of ['commander', 'ajv', 're2js', 'brace-expansion', 'smol-toml', 'unbash'])
      expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\([\\w.-]+\\)$`, 'm'));
    expect(licenses).toContain('Permission is hereby granted, free of charge');
  });
});

interface LoadedFile {
  readonly name: string;
  readonly size: number;
}

const partsOf = (files: readonly LoadedFile[]): readonly string[] =>
  files.map(({ name }) => name.replace(/-[\w-]{8}\.cjs$/, ''));

const sizeOf = (files: readonly LoadedFile[]): number => files.reduce((sum, { size }) => sum + size, 0);

function twoReads(): string {
  const call = (id: string): object => ({ id, name: 'read_file', args: { path: 'a.txt' } });
  return JSON.stringify([call('1'), call('2')]);
}

/** The files of the command, in the order in which it loads them. */
function loadedBy(
  args: readonly string[],
  inputIn: (directory: string) => string = () => '',
): readonly LoadedFile[] {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-loaded-'));
  try {
    const list = join(folder, 'list.cjs');
    writeFileSync(
      list,
      "process.on('exit', () => require('fs').writeFileSync('loaded.json', JSON.stringify(Object.keys(require.cache))));",
    );
    const work = join(folder, 'work');
    mkdirSync(work);
    writeFileSync(join(work, 'a.txt'), 'a\n');
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--require', list, join(directory, 'toolexec.cjs'), ...args],
      {
        cwd: work,
        input: inputIn(work),
        encoding: 'utf8',
        env: { ...process.env, HOME: folder, XDG_STATE_HOME: join(folder, 'state') },
      },
    );
    if (status !== 0) throw new Error(stderr);
    const paths: string[] = JSON.parse(readFileSync(join(work, 'loaded.json'), 'utf8'));
    return paths
      .filter((path) => dirname(path) === realpathSync(directory))
      .map((path) => ({ name: basename(path), size: statSync(path).size }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `ajv` of `ajv/dist/runtime/equal`: ajv's prefix in validators that can be saved; ours are not saved. */
function packageOf(name: string): string {
  return name.split('/', name.startsWith('@') ? 2 : 1).join('/');
}
