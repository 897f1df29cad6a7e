import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { buildFirst } from '../cli/built-command.js';
import { call, executorFor, newDesk, startKilledRun } from './killed-run.js';

buildFirst();

it('a call waits for a conflicting one of another process, and runs once that process was killed', async () => {
  const { root, journal } = newDesk();
  const file = join(root, '..', 'sent');
  const calls = [call('send', { file, hang: true })];
  const child = startKilledRun({ root, journal, calls, conversation: 'c', at: 'never never' });
  await expect.poll(() => existsSync(file)).toBe(true);
  const next = defineTool({
    name: 'next',
    description: 'd',
    input: { type: 'object' },
    execute: () => 'ran',
  });
  const running = executorFor({ root, journal, tools: [next] }).run([call('next', {})], {
    conversation: 'c',
  });
  const soon = new Promise((resolve) => setTimeout(resolve, 300, 'waits'));
  expect(await Promise.race([running, soon])).toBe('waits');
  child.kill('SIGKILL');
  expect((await running)[0]).toMatchObject({ success: true, output: 'ran' });
  const store = openJournal(journal);
  expect((await store.find('c', 'send'))?.result?.error?.code).toBe('outcome_unknown');
  await store.close();
});
