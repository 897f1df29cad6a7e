import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { hasTerminal, sitBefore } from './terminal.js';
import { message, useToolexec } from './toolexec.js';

const WHY_NOT = await whyNoTransactions();

const toolexec = useToolexec();
beforeEach(() => {
  toolexec.write('root/old', 'before\n');
});

const at = (name: string): string => join(toolexec.root, name);
const CALLS = message(
  ['bash', { command: 'echo after >old; touch new' }],
  ['write_file', { path: 'made/by-tool', content: 'x\n' }],
);

describe.skipIf(WHY_NOT !== '')(`--preview${WHY_NOT}`, () => {
  it('of plan shows the changes that the calls would make, and leaves none', async () => {
    const file = toolexec.json('r.json', CALLS);
    const { code, stdout, stderr } = await toolexec.run(['plan', file, '--preview']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/✓ bash \(toolu_1\)/);
    expect(stdout).toMatch(/- before\n.*\+ after\n/);
    expect(stdout).toContain('made/by-tool');
    expect(stdout).toContain('old (+1 −1)');
    const json = JSON.parse((await toolexec.run(['plan', file, '--preview', '--json'])).stdout);
    expect(json).toMatchObject({
      changes: { created: ['made/', 'made/by-tool', 'new'], modified: ['old'], deleted: [] },
      requests: [{ callId: 'toolu_1' }, { callId: 'toolu_2' }],
      parts: [{ kind: 'changes', notKept: [] }, { kind: 'file' }, { kind: 'file' }, { kind: 'diff' }],
    });
    expect([readFileSync(at('old'), 'utf8'), existsSync(at('new'))]).toEqual(['before\n', false]);
  });

  it('shows all of 302 paths with their changes, as text and as JSON', async () => {
    const command = 'for i in $(seq 1 300); do : >f$i; done; chmod 600 old; ln -s old link';
    const file = toolexec.json('r.json', message(['bash', { command }]));
    const { stdout } = await toolexec.run(['plan', file, '--preview']);
    for (let number = 1; number <= 300; number++) expect(stdout).toContain(`+ f${number}  `);
    expect(stdout.replace(/\n *┆ /g, '')).toContain(
      '302 changes, not kept yet: 1 modified (1 file mode), 301 created (300 files, 1 link)',
    );
    expect(stdout).toContain('~ old  644 → 600\n');
    expect(stdout).toContain('+ link → old\n');
    const json = JSON.parse((await toolexec.run(['plan', file, '--preview', '--json'])).stdout);
    expect(json.parts[0].entries).toHaveLength(302);
    const shown = await toolexec.run(['run', file, '--preview', '--json', '--conversation', 'shown']);
    const [line = ''] = shown.stderr.split('\n').filter((text) => text.includes('"preview"'));
    expect(JSON.parse(line).parts[0].entries).toEqual(json.parts[0].entries);
  });

  it('of plan names no key to press in a folded list, but says how to see the rest', async () => {
    const content = `${Array.from({ length: 200 }, (_, line) => `line ${line}`).join('\n')}\n`;
    const file = toolexec.json('r.json', message(['write_file', { path: 'long', content }]));
    const { stdout } = await toolexec.run(['plan', file, '--preview']);
    expect(stdout).toContain('120 lines more: --json has all');
    expect(stdout).not.toMatch(/\bd shows/);
  });

  it('of run commits nothing without a person, and everything with --yes, which can be undone', async () => {
    const file = toolexec.json('r.json', CALLS);
    const unasked = await toolexec.run(['run', file, '--preview', '--conversation', 'unasked']);
    expect(unasked.code).toBe(3);
    expect(unasked.stderr).toContain('toolexec: nothing was committed');
    expect(existsSync(at('new'))).toBe(false);
    const agreed = await toolexec.run(['run', file, '--preview', '--yes']);
    expect(agreed.stderr).toMatch(
      /^toolexec: committed: 3 created, 1 modified, 0 deleted; .*toolexec undo CALL$/m,
    );
    expect({ code: agreed.code, old: readFileSync(at('old'), 'utf8') }).toEqual({ code: 0, old: 'after\n' });
    expect(existsSync(at('made/by-tool'))).toBe(true);
    const undone = await toolexec.run(['undo', 'toolu_1']);
    expect(undone).toMatchObject({ code: 0, stdout: expect.stringContaining('put back old') });
    expect([readFileSync(at('old'), 'utf8'), existsSync(at('new')), existsSync(at('made'))]).toEqual([
      'before\n',
      false,
      false,
    ]);
  });

  it('of run continues with --yes after it could not ask, even if a read was already answered', async () => {
    const calls = message(['read_file', { path: 'old' }], ['bash', { command: 'echo after >old' }]);
    const run = (name: string, ...words: string[]) =>
      toolexec.run(['run', toolexec.json(name, calls), '--conversation', name, ...words]);
    expect((await run('previewed', '--preview')).code).toBe(3);
    expect(await run('previewed', '--preview', '--yes')).toMatchObject({ code: 0 });
    expect(readFileSync(at('old'), 'utf8')).toBe('after\n');
    toolexec.write('root/old', 'before\n');
    expect((await run('run')).code).toBe(3);
    const agreed = await run('run', '--preview', '--yes');
    expect([agreed.code, readFileSync(at('old'), 'utf8')]).toEqual([0, 'after\n']);
    expect(agreed.stdout).toContain('before');
  });

  it('of run asks about changes even if each call may run unasked', async () => {
    const config = toolexec.write('toolexec.toml', '[tools.approval]\nmode = "auto"\n');
    const file = toolexec.json('r.json', message(['write_file', { path: 'new', content: 'x' }]));
    const { code, stdout } = await toolexec.run(['run', file, '--preview', '--config', config]);
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringContaining('only previewed') });
    expect(existsSync(at('new'))).toBe(false);
  });
});

describe.skipIf(WHY_NOT !== '' || !hasTerminal)(
  `run --preview on a terminal (skipped where python3 has no pty)${WHY_NOT}`,
  () => {
    const CALL = message(['write_file', { path: 'new', content: 'x' }]);
    const sit = (mode: 'auto' | 'prompt', ...types: readonly (readonly [string, string])[]) => {
      const config = toolexec.write('toolexec.toml', `[tools.approval]\nmode = "${mode}"\n`);
      const words = ['run', toolexec.json('r.json', CALL), '--preview', '--config', config];
      return sitBefore([process.execPath, toolexec.main, ...words], {
        env: toolexec.environment({ TERM: 'xterm' }),
        cwd: toolexec.root,
        types,
      });
    };

    it.each([
      ['auto', 'Esc', '\u001b'],
      ['prompt', 'Ctrl-C', '\u0003'],
    ] as const)(
      'answers each call if the person leaves the question, in mode %s with %s',
      async (mode, _, key) => {
        const { code, stdout, shown } = await sit(mode, ['? keys', key]);
        expect(shown).toContain('toolexec: nothing was committed');
        expect([code, stdout]).toEqual([130, expect.stringContaining('Cancelled by user')]);
        expect(existsSync(at('new'))).toBe(false);
      },
      60_000,
    );

    it('tells the model the reason for a refusal, even if no call itself needs approval', async () => {
      const { code, stdout } = await sit('auto', ['? keys', 'r'], ['(Enter: none)', 'because-77\r']);
      expect([code, stdout]).toEqual([1, expect.stringContaining('because-77')]);
      expect(existsSync(at('new'))).toBe(false);
    });
  },
);

describe.skipIf(WHY_NOT !== '')(`undo of a command${WHY_NOT}`, () => {
  it('restores the changed files, lists them, and can be undone', async () => {
    const file = toolexec.json('r.json', message(['bash', { command: 'rm old; mkdir d; echo x >d/x' }]));
    expect((await toolexec.run(['run', file, '--yes'])).code).toBe(0);
    expect(existsSync(at('old'))).toBe(false);
    const dry = await toolexec.run(['undo', 'toolu_1', '--dry-run']);
    expect(dry.stdout.split('\n').sort()).toEqual([
      '',
      'would put back d',
      'would put back d/x',
      'would put back old',
    ]);
    const undone = await toolexec.run(['undo', 'toolu_1']);
    expect(undone.code).toBe(0);
    expect([readFileSync(at('old'), 'utf8'), existsSync(at('d'))]).toEqual(['before\n', false]);
    const [, id = ''] = /toolexec undo (\S+)/.exec(undone.stdout) ?? [];
    expect((await toolexec.run(['undo', id])).code).toBe(0);
    expect([existsSync(at('old')), readFileSync(at('d/x'), 'utf8')]).toEqual([false, 'x\n']);
  });
});
