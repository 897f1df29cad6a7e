import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import nodeModule from 'node:module';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

const CALL = message(['bash', { command: 'touch ran' }]);
const run = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
  toolexec.run(['run', '-', '--yes', ...args], { stdin: JSON.stringify(CALL), env });
const hasRun = (): boolean => existsSync(join(toolexec.root, 'ran'));

/** Two directories deep, so that the last one is acceptable. */
function place(name: string): { readonly above: string; readonly below: string } {
  const above = join(toolexec.folder, name);
  const below = join(above, 'between');
  mkdirSync(below, { recursive: true, mode: 0o700 });
  return { above, below };
}

describe.skipIf(process.platform === 'win32')('below a directory that every user can write to', () => {
  it('no call runs with a journal, in the state directory or elsewhere; a sticky directory is accepted', async () => {
    const { above, below } = place('open');
    chmodSync(above, 0o777);
    const file = join(below, 'calls.db');
    for (const [args, env] of [
      [[], { XDG_STATE_HOME: below }],
      [['--journal', file], {}],
    ] as const) {
      const { code, stdout, stderr } = await run(args, env);
      expect(code, stderr).not.toBe(0);
      expect(blocksOf(stdout)[0]?.content).toContain('the call could not be recorded');
      expect(stderr).toContain(`other users could replace it: every user may write "${above}"`);
    }
    expect(hasRun()).toBe(false);
    const checked = await toolexec.run(['doctor', '--journal', file]);
    expect(checked.stdout).toContain(`every user may write "${above}"`);
    chmodSync(above, 0o1777);
    expect((await run(['--journal', file])).code).toBe(0);
    chmodSync(above, 0o777);
    const listed = await toolexec.run(['journal', 'list', '--journal', file]);
    expect(listed, 'what is there can be looked at').toMatchObject({ code: 0 });
    expect(listed.stdout).toContain('1 ok');
  });

  it('a link that leads out of it, or into it, changes nothing', async () => {
    const { above, below } = place('open');
    const elsewhere = join(toolexec.folder, 'elsewhere');
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, join(above, 'out'));
    symlinkSync(below, join(toolexec.folder, 'in'));
    chmodSync(above, 0o777);
    for (const file of [join(above, 'out', 'calls.db'), join(toolexec.folder, 'in', 'calls.db')]) {
      const { stdout } = await run(['--journal', file]);
      expect(blocksOf(stdout)[0]?.content).toContain('the call could not be recorded');
    }
    expect(hasRun()).toBe(false);
  });

  it("no project is trusted, and the person's configuration is refused", async () => {
    const { above, below } = place('open');
    const project = toolexec.write('root/toolexec.toml', '[tools]\nmode = "enabled"\n');
    const env = { XDG_STATE_HOME: below };
    expect((await toolexec.run(['config', 'trust', project], { env })).code).toBe(0);
    chmodSync(above, 0o777);
    const trusted = await toolexec.run(['config', 'trust', project], { env });
    expect(trusted.code).not.toBe(0);
    expect(trusted.stderr).toContain(`every user may write "${above}"`);
    const shown = await toolexec.run(['config', 'show'], { env });
    expect(`${shown.stdout}${shown.stderr}`).toContain('no project is trusted');
    mkdirSync(join(below, 'toolexec'), { recursive: true });
    toolexec.write('open/between/toolexec/config.toml', '');
    const refused = await toolexec.run(['config', 'show'], { env: { XDG_CONFIG_HOME: below } });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Cannot apply your configuration'),
    });
  });

  it.skipIf(!('enableCompileCache' in nodeModule))('Node keeps no compiled code', async () => {
    const { above, below } = place('open');
    chmodSync(above, 0o777);
    const env = { XDG_STATE_HOME: below, NODE_DISABLE_COMPILE_CACHE: '' };
    await toolexec.run(['--version'], { env, ownProcess: true });
    expect(
      readdirSync(below, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()),
    ).toEqual([]);
  });
});

describe.skipIf(process.getuid?.() !== 0)("below another user's directory (needs root)", () => {
  it('the state directory is refused; a journal named there is accepted, as in the volume of a container', async () => {
    const { above, below } = place('theirs');
    chownSync(above, 12_345, 12_345);
    const refused = await run([], { XDG_STATE_HOME: below });
    expect(blocksOf(refused.stdout)[0]?.content).toContain('the call could not be recorded');
    expect(refused.stderr).toContain(`"${above}" belongs to another user (12345)`);
    expect(hasRun()).toBe(false);
    expect((await run(['--journal', join(below, 'calls.db')])).code).toBe(0);
    expect(hasRun()).toBe(true);
  });
});
