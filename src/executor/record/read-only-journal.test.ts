import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import type { Worker } from '../../contract/journal.js';
import { openJournal } from '../../journal/open-journal.js';
import { canMakeReadOnly, makeReadOnly } from '../../testing/fixtures/read-only-medium.js';
import { batchEntry, callEntry } from '../../testing/journal-entries.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';

let folder: string;
let medium: string;
let makeWritable: (() => void) | undefined;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'read-only-journal-')));
  medium = join(folder, 'medium');
  mkdirSync(medium);
});
afterEach(() => {
  makeWritable?.();
  makeWritable = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const ran: string[] = [];
const note = defineTool({
  name: 'note',
  description: 'd',
  input: { type: 'object', properties: { text: { type: 'string' } } },
  effects: () => [{ kind: 'run', command: 'note', shell: 'sh' }],
  execute: ({ text = '' }) => {
    ran.push(text);
    return text;
  },
});

const callOf = (id: string): ToolCall => ({ id, name: 'note', args: { text: id } });
const CHAT = { conversation: 'chat' };

function open(directory: string): Executor {
  return createExecutor({
    tools: [note],
    root: folder,
    journal: join(directory, 'journal.db'),
    policy: { decide: () => ({ disposition: 'execute_now', reason: 'all' }) },
  });
}

const DEAD: Worker = { id: 'dead', pid: 999_999_999, startedAt: 1 };

/** The remains of programs: a finished batch, and one that a crash interrupted. */
async function fill(): Promise<void> {
  await using executor = open(folder);
  await executor.run([callOf('one')], CHAT);
  const journal = openJournal(join(folder, 'journal.db'));
  await journal.accept({ ...batchEntry('cut', [callEntry('half')]), worker: DEAD });
  await journal.claim('cut/0', DEAD, 1);
  await journal.close();
  for (const name of ['journal.db', 'journal.db-wal', 'journal.db-head'])
    copyFileSync(join(folder, name), join(medium, name));
}

describe.skipIf(!canMakeReadOnly())('an executor whose journal lies on a read-only medium', () => {
  it('answers what was delivered before, runs nothing new, and says why once on standard error', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      await fill();
      makeWritable = makeReadOnly(medium);
      ran.length = 0;
      await using executor = open(medium);
      const [known, fresh] = await executor.run([callOf('one'), callOf('two')], CHAT);
      expect(known).toMatchObject({ success: true, output: 'one' });
      expect(fresh).toMatchObject({
        success: false,
        error: { code: 'journal_unavailable', details: { executed: 'no' } },
      });
      await executor.run([callOf('three')], CHAT);
      expect(ran).toEqual([]);
      expect(await executor.waiting()).toEqual([]);
      const [left] = await executor.recover();
      expect(left).toMatchObject({ batchId: 'cut', calls: [{ callId: 'half', state: 'running' }] });
      expect(said.mock.calls).toEqual([[expect.stringMatching(/^toolexec: .*cannot be written.*writable/)]]);
    } finally {
      said.mockRestore();
    }
  });
});

it('an executor with a wrong path says why on standard error, once for each reason', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  try {
    await using executor = open('/dev/null');
    await executor.run([callOf('one')], CHAT);
    await executor.run([callOf('two')], CHAT);
    await using other = open('/dev/null');
    await other.run([callOf('one')], CHAT);
    expect(said.mock.calls).toEqual([[expect.stringContaining('Choose another place')]]);
  } finally {
    said.mockRestore();
  }
});
