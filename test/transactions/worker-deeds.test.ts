import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { ToolCall } from '../../src/contract/call.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { folder } from '../../src/executor/fixtures/plan-fixture.js';
import { createWorker } from '../../src/fleet/create-worker.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { whyNoTransactions } from './kept-apart.js';
import { usePlace } from './use-place.js';

const WHY_NOT = await whyNoTransactions();

const place = usePlace();
/** Nothing in its text says what it changes. */
const MAKE = 'sh gen.txt';
beforeEach(() => writeFileSync(join(place.root, 'gen.txt'), 'echo x > Makefile'));
const call = (command: string): ToolCall => ({ id: 'c', name: 'bash', args: { command } });

/** Runs a call on a worker, which has no person to ask. */
async function runElsewhere(
  command: string,
  options: ExecutorOptions,
  ofWorker: ExecutorOptions['policy'] = { denylist: [] },
) {
  const path = join(folder(), 'journal.db');
  const open = () => {
    const journal = openJournal(path);
    onTestFinished(async () => journal.close());
    return journal;
  };
  const common = { root: place.root, tools: builtinTools(), sandbox: { os: 'required' } } as const;
  const policy = { denylist: [] };
  const worker = createWorker({ ...common, policy: ofWorker, journal: open() });
  onTestFinished(() => worker.close());
  await using host = createExecutor({
    ...{ ...common, policy, journal: open() },
    ...options,
    fleet: { run: 'anywhere' },
  });
  const [result] = await host.run([call(command)]);
  return result;
}

describe.skipIf(WHY_NOT !== '')(`what a command changes on a worker${WHY_NOT}`, () => {
  it('bug: was kept although it runs later, if a person had approved a command that does not name it', async () => {
    const asked: string[] = [];
    const approver: ExecutorOptions['approver'] = async (requests) => {
      asked.push(...requests.map(({ callId }) => callId));
      return { kind: 'approve_all' };
    };
    expect(await runElsewhere(MAKE, { approver })).toMatchObject({
      error: { code: 'policy_denied', details: { executed: 'no' } },
      metadata: { changes: { unexpected: ['Makefile'] } },
    });
    expect(await runElsewhere('echo x > Makefile', { approver })).toMatchObject({ success: true });
    expect([asked, place.outside('ls')]).toEqual([['c', 'c'], 'Makefile\ngen.txt\n']);
    const allows = { denylist: [], rules: [{ decision: 'allow', command: '**' }] } as const;
    expect(await runElsewhere('echo y > Makefile', { approver }, allows)).toMatchObject({ success: true });
  });

  it('is refused if only a rule of the host allows the command, and kept if the host asks nothing', {
    tags: ['soak'],
  }, async () => {
    const allow = { decision: 'allow', command: '**' } as const;
    const policy = { denylist: [], rules: [allow] };
    expect(await runElsewhere(MAKE, { policy })).toMatchObject({
      error: { code: 'policy_denied' },
    });
    for (const options of [{ approver: null }, { approver: null, policy }] as const)
      expect(await runElsewhere(MAKE, options)).toMatchObject({ success: true });
  });
});
