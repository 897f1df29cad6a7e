import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCommandSandbox } from '../../src/commands/sandbox/find-sandbox.js';
import { useToolexec } from './toolexec.js';

const toolexec = useToolexec();

interface Report {
  readonly ok: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly state: string;
    readonly found: string;
    readonly costs?: string;
    readonly remedy?: string;
  }[];
}

async function examine(args: readonly string[] = [], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await toolexec.run(['doctor', '--json', ...args], { env });
  const report: Report = JSON.parse(stdout);
  return { code, stderr, ...report, check: (name: string) => report.checks.find((one) => one.name === name) };
}

describe('toolexec doctor', () => {
  it('checks everything that toolexec depends on', async () => {
    const { code, ok, stderr, checks, check } = await examine();
    expect([code, ok, stderr]).toEqual([0, true, '']);
    const names =
      'node sqlite journal configuration profile roots file containment bubblewrap transactions ripgrep bash sh git terminal';
    expect(checks.map(({ name }) => name).join(' ')).toBe(names);
    expect(check('node')?.found).toBe(process.versions.node);
    expect(check('sqlite')?.found).toMatch(/^3\.\d+\.\d+$/);
    expect(check('terminal')).toMatchObject({ state: 'missing', remedy: expect.stringContaining('--yes') });
  });

  it('says what each missing part costs, and how to install it', async () => {
    const empty = join(toolexec.folder, 'empty');
    mkdirSync(empty);
    symlinkSync(process.execPath, join(empty, 'node'));
    const { code, check, checks } = await examine([], { PATH: empty });
    expect(code).toBe(0);
    expect(check('git')).toMatchObject({ state: 'missing', found: 'not found' });
    for (const { state, costs, remedy } of checks) {
      expect([costs !== undefined, remedy !== undefined]).toEqual([state !== 'ok', state !== 'ok']);
    }
  });

  it('explains a root that is the home directory', async () => {
    const { check } = await examine(['--root', toolexec.root], { HOME: toolexec.root });
    expect(check('roots')).toMatchObject({
      state: 'missing',
      costs: expect.stringContaining('is your home directory'),
      remedy: expect.stringContaining('further down'),
    });
  });

  it('reports a root that is not a directory as broken, because no call runs with it', async () => {
    writeFileSync(join(toolexec.root, 'file'), '');
    for (const name of ['nowhere', 'file']) {
      const { code, check } = await examine(['--root', name]);
      expect([code, check('roots')]).toMatchObject([
        1,
        { state: 'broken', found: expect.stringContaining(`${name} is not a directory`) },
      ]);
      expect((await toolexec.run(['run', '--root', name], { stdin: '[]' })).code).toBe(2);
    }
  });

  it('says which sandbox commands have, and its purpose', async () => {
    const sandbox = await findCommandSandbox();
    const configured = (setting: string) => {
      writeFileSync(join(toolexec.root, 'own.toml'), `[tools.run_command]\n${setting}\n`);
      return examine(['--config', 'own.toml']);
    };
    const required = (await configured('sandbox = "required"')).check('bubblewrap');
    if (sandbox.stands) {
      expect(required).toMatchObject({
        state: 'ok',
        found: `${sandbox.file} isolates commands, without network (required)`,
      });
    } else {
      expect(required).toMatchObject({ state: 'missing', found: sandbox.reason, remedy: sandbox.remedy });
      expect(required?.costs).toContain('no command runs');
    }
    const off = (await configured('sandbox = "off"')).check('bubblewrap');
    expect(off).toMatchObject({ state: 'missing', found: expect.stringContaining('switched off') });
  });

  it('creates no journal, and reports if none can be created', async () => {
    const fine = await examine();
    expect(fine.check('journal')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('created by the first call'),
    });
    const blocked = join(toolexec.folder, 'file');
    writeFileSync(blocked, '');
    const inRoot = await examine(['--journal', join(toolexec.root, 'journal.db')]);
    expect([inRoot.code, inRoot.ok]).toEqual([1, false]);
    expect(inRoot.check('journal')).toMatchObject({
      state: 'broken',
      found: expect.stringContaining('inside the root'),
    });
  });

  it('reports a wrong configuration', async () => {
    writeFileSync(join(toolexec.root, 'toolexec.toml'), '[tools]\nmod = "enabled"\n');
    const { code, check } = await examine();
    expect(code).toBe(1);
    expect(check('configuration')).toMatchObject({
      state: 'broken',
      found: expect.stringContaining('tools.mode'),
    });
  });

  it('lists every problem of a configuration', async () => {
    writeFileSync(join(toolexec.root, 'toolexec.toml'), '[tools]\nmod = "enabled"\nallow_parallel = 3\n');
    const { stdout } = await toolexec.run(['doctor']);
    expect(stdout).toMatch(
      /^✗ configuration .*:2:1: .* And 1 more problem\.\n +\S*toolexec\.toml:3:1: tools\.allow_parallel must be .*\n +No command runs with it\.$/m,
    );
  });

  it('prints text for people without --json', async () => {
    const { code, stdout } = await toolexec.run(['doctor']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^toolexec \d+\.\d+\.\d+ on \w+ /);
    expect(stdout).toMatch(/^✓ node +\d+\./m);
    expect(stdout).toMatch(
      /^! terminal +standard error is not a terminal\n +No person can be asked[^\n]*\n +→ Use --yes/m,
    );
    expect(stdout).toMatch(/\n\nCalls can be run; \d+ of the parts above would improve them\.\n$/);
    expect(stdout).not.toContain('\u001b');
  });
});
