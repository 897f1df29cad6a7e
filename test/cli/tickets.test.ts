import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createExecutor } from '../../src/executor/create-executor.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import { hasTerminal, sitBefore } from './terminal.js';
import { useToolexec } from './toolexec.js';

const command = useToolexec();

const CALL = { id: 'q', name: 'charge', args: { euro: 5 } };
const HERE = { conversation: 'thread-7' };

/** A program whose tool the command does not have. */
function program(journal: string) {
  const charge = defineTool({
    name: 'charge',
    description: 'Charges.',
    input: { type: 'object' },
    requiresApproval: true,
    effects: () => [{ kind: 'fetch', url: 'https://bank.example' }],
    execute: ({ euro }) => `charged ${String(euro)}`,
  });
  return createExecutor({ tools: [charge], root: command.root, policy: null, journal });
}

describe('a question of another program', () => {
  it.each([
    ['--yes', 0, { success: true, output: 'charged 5' }],
    ['--deny', 1, { success: false, error: { code: 'user_denied' } }],
  ] as const)(
    'is listed by waiting, decided by approve %s, and run by that program',
    async (flag, exit, result) => {
      const journal = join(command.root, '..', 'journal.db');
      await using host = program(journal);
      const { ticket } = await host.ask(CALL, HERE);
      const listed = await command.run(['waiting', '--json', '--journal', journal]);
      const [waiting] = JSON.parse(listed.stdout);
      expect(waiting).toMatchObject({ ticket, requests: [{ callId: 'q', toolName: 'charge' }] });
      expect(waiting.requests[0].reason).not.toContain('would be refused');
      const open = await command.run(['approve', waiting.batchId, '--journal', journal]);
      expect(open.code).toBe(3);
      const decided = await command.run(['approve', waiting.batchId, flag, '--journal', journal]);
      expect([decided.code, JSON.parse(decided.stdout)]).toEqual([exit, []]);
      expect((await command.run(['waiting', '--journal', journal])).stdout).toContain('Nothing waits');
      const again = await command.run(['approve', waiting.batchId, flag, '--journal', journal]);
      expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('decided already')]);
      expect(again.stderr).not.toContain('\n    at ');
      expect(await host.run([CALL], { ...HERE, ticket })).toMatchObject([result]);
      expect(existsSync(journal)).toBe(true);
    },
  );

  it('about a changed file is not decided by --yes, which has not seen the change', async () => {
    const journal = join(command.root, '..', 'journal.db');
    const file = command.write('root/a.txt', 'old');
    await using host = createExecutor({ root: command.root, journal });
    const call = { id: 'w', name: 'write_file', args: { path: 'a.txt', content: 'x', mode: 'overwrite' } };
    const { ticket } = await host.ask(call, HERE);
    await host.decide(ticket, { kind: 'approve_all' });
    command.write('root/a.txt', 'changed');
    expect(await host.run([call], { ...HERE, ticket })).toMatchObject([
      { error: { code: 'approval_unavailable', details: { changed: [realpathSync(file)] } } },
    ]);
    const { code, stderr } = await command.run(['approve', 'thread-7', '--yes', '--journal', journal]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('nothing was decided') });
    expect(stderr).toContain('changed since it was shown');
    expect(await host.waiting()).toHaveLength(1);
  });

  it.skipIf(!hasTerminal)(
    'stays open if the person leaves with Ctrl-C (skipped where python3 has no pty)',
    async () => {
      const journal = join(command.root, '..', 'journal.db');
      await using host = program(journal);
      await host.ask(CALL, HERE);
      const { code, stdout, shown } = await sitBefore(
        [process.execPath, command.main, 'approve', 'thread-7', '--journal', journal],
        { env: command.environment({ TERM: 'xterm' }), cwd: command.root, types: [['? keys', '\u0003']] },
      );
      expect([code, JSON.parse(stdout), shown]).toEqual([
        130,
        [],
        expect.stringContaining('the question stays open'),
      ]);
      expect(await host.waiting()).toHaveLength(1);
    },
    60_000,
  );
});
