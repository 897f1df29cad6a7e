import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { living, sleeping, sleepToken } from '../../src/commands/fixtures/nasty-trees.js';
import { eachOf } from '../../src/testing/fixtures/each-of.js';
import { ended, message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();

/** Its processes are identified by their `sleep` time, because their ids belong to a namespace. */
const stubborn = (token: string): string =>
  `trap '' TERM INT HUP; (setsid sleep ${token} &); sleep ${token} & wait; sleep ${token}`;

/** Both of them sleep. The output of a command is visible only after its end. */
const runs = (token: string): boolean => sleeping(token).length === 2;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('toolexec run, interrupted', () => {
  eachOf<['SIGINT' | 'SIGTERM']>([['SIGINT'], ['SIGTERM']], 1)(
    'ends the command and all it started on %s, answers every call, exits 130',
    async (signal) => {
      const token = sleepToken();
      const calls = message(['bash', { command: stubborn(token) }], ['bash', { command: 'touch never' }]);
      const child = toolexec.start(['run', toolexec.json('r.json', calls), '--yes', '--format', 'native']);
      const ran = ended(child);
      await until(() => runs(token));
      child.kill(signal);
      const { code, stdout, stderr } = await ran;
      expect(code).toBe(130);
      const results = JSON.parse(stdout) as { tool_call_id: string; error: { code: string } }[];
      expect(results.map(({ tool_call_id, error }) => [tool_call_id, error.code])).toEqual([
        ['toolu_1', 'cancelled'],
        ['toolu_2', 'cancelled'],
      ]);
      expect(stderr).toContain('cancelling');
      expect(stderr).toMatch(/^✗ bash \(toolu_1\) .* ran, cancelled: /m);
      const listed = JSON.parse((await toolexec.run(['journal', 'list', '--json'])).stdout);
      expect(listed[0].outcomes).toEqual({ 'ran, cancelled': 1, 'not run': 1 });
      expect((await toolexec.run(['journal', 'report'])).stdout).toMatch(/^✗ bash .*\n +ran, cancelled: /m);
      await until(() => living(token).length === 0);
      expect(existsSync(join(toolexec.root, 'never'))).toBe(false);
    },
  );

  it('exits at once on the second Ctrl-C, and leaves nothing behind', async () => {
    const token = sleepToken();
    const child = toolexec.start([
      'run',
      toolexec.json('r.json', message(['bash', { command: stubborn(token) }])),
      '--yes',
    ]);
    const ran = ended(child);
    await until(() => runs(token));
    const since = performance.now();
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect((await ran).code).toBe(130);
    expect(performance.now() - since).toBeLessThan(5000);
    await until(() => living(token).length === 0);
  });

  it('exits silently if the reader of its results goes away', async () => {
    toolexec.write('root/a.txt', 'alpha\n'.repeat(10_000));
    const child = toolexec.start(['run', toolexec.json('r.json', message(['read_file', { path: 'a.txt' }]))]);
    child.stdout.destroy();
    const { code, stderr } = await ended(child);
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|Error/);
  });

  it('continues when the reader of standard error disconnects', { tags: ['soak'] }, async () => {
    toolexec.write('root/a.txt', 'alpha\n');
    const child = toolexec.start([
      'run',
      toolexec.json('r.json', message(['read_file', { path: 'a.txt' }])),
      '--json',
    ]);
    child.stderr.destroy();
    const { code, stdout } = await ended(child);
    expect(code).toBe(0);
    expect(stdout).toContain('alpha');
  });

  it.skipIf(!existsSync('/dev/full'))('reports that its results cannot be written', async () => {
    const main = `'${process.execPath}' '${toolexec.main}' run '${toolexec.json('r.json', message())}'`;
    const { status, stderr } = spawnSync('sh', ['-c', `${main} > /dev/full`], {
      cwd: toolexec.root,
      env: toolexec.environment(),
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /^toolexec: Cannot write to standard output: [^\n]*no space[^\n]*journal list\.\n$/i,
    );
    for (const words of ['--version', 'run --help']) {
      const asked = spawnSync('sh', ['-c', `'${process.execPath}' '${toolexec.main}' ${words} > /dev/full`], {
        env: toolexec.environment(),
        encoding: 'utf8',
      });
      // There are no calls to look for.
      expect([asked.status, asked.stderr]).toEqual([1, expect.not.stringContaining('journal')]);
    }
  });

  it.skipIf(!existsSync('/dev/full'))('bug: a hook whose answer was lost allowed the call', () => {
    const call = {
      session_id: 's',
      cwd: toolexec.root,
      tool_name: 'Bash',
      tool_input: { command: 'rm -rf /' },
    };
    const hook = `'${process.execPath}' '${toolexec.main}' hook > /dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', hook], {
      cwd: toolexec.root,
      env: toolexec.environment(),
      encoding: 'utf8',
      input: JSON.stringify({ hook_event_name: 'PreToolUse', tool_use_id: 't1', ...call }),
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^toolexec: not let through: the answer is lost\. [^\n]*no space[^\n]*\n$/i);
  });

  it.skipIf(!existsSync('/dev/full'))(
    'bug: an export to a full disk was reported as a fault of toolexec',
    { tags: ['soak'] },
    async () => {
      toolexec.write('root/a.txt', 'alpha\n');
      await ended(
        toolexec.start(['run', toolexec.json('r.json', message(['read_file', { path: 'a.txt' }]))]),
      );
      const { status, stderr } = spawnSync(
        'sh',
        ['-c', `'${process.execPath}' '${toolexec.main}' journal export > /dev/full`],
        { cwd: toolexec.root, env: toolexec.environment(), encoding: 'utf8' },
      );
      expect(status).toBe(1);
      expect(stderr).toMatch(/^toolexec: Cannot write to standard output: [^\n]*no space[^\n]*\n$/i);
    },
  );
});
