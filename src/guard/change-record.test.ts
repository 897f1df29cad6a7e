import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Journal } from '../contract/journal.js';
import { loadOwnTool } from '../executor/load-own-tool.js';
import { createSandbox } from '../files/create-sandbox.js';
import { createMemoryJournal } from '../journal/memory/memory-journal.js';
import { WORKER } from '../testing/journal-entries.js';
import { type ChangingCall, recordBegin } from './change-record.js';

function prepared() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-record-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  writeFileSync(join(root, 'a'), 'old');
  const journal = createMemoryJournal();
  const args = { path: 'a', content: 'new' };
  const call: ChangingCall = {
    ...{
      id: 'w1',
      isMadeUp: false,
      session: 's',
      toolName: 'Write',
      args,
      reason: 'allowed',
      isAsked: false,
    },
    changes: [{ tool: 'write_file', args }],
  };
  const sandbox = createSandbox({ roots: [root], allowAbsolute: true });
  const begin = (over: Journal = journal, within = sandbox): Promise<void> =>
    recordBegin(call, {
      journal: over,
      sandbox: within,
      loadTool: (name) => loadOwnTool(name),
      worker: WORKER,
      now: () => 1,
    });
  const intents = async () => {
    const record = await journal.find('s', 'w1');
    const notes = record === undefined ? [] : await journal.notes(record.key);
    return notes.filter(({ kind }) => kind === 'intent');
  };
  return { root, journal, sandbox, begin, intents };
}

describe('the record of a call whose hook was killed', () => {
  it.each(['claim', 'note'] as const)(
    'before its %s is completed when the agent asks again, so that undo finds the old content',
    async (step) => {
      const { journal, begin, intents } = prepared();
      const dying = new Proxy(journal, {
        get: (target, name) =>
          name === step
            ? () => {
                throw new Error('killed');
              }
            : (Reflect.get(target, name) as unknown),
      });
      await expect(begin(dying)).rejects.toThrow('killed');
      expect(await intents()).toEqual([]);
      await begin();
      expect(JSON.stringify(await intents())).toContain('"before"');
      await begin();
      expect(await intents()).toHaveLength(1);
    },
  );
});

it('bug: a file that another agent wrote during the hook could not be undone: its old content was kept under the hash of another one', async () => {
  const { root, journal, sandbox, begin, intents } = prepared();
  await begin(journal, {
    ...sandbox,
    examine(path) {
      const entry = sandbox.examine(path);
      writeFileSync(join(root, 'a'), 'by another agent');
      return entry;
    },
  });
  const [, preimage = ''] = /"preimage":"(\w+)"/.exec(JSON.stringify(await intents())) ?? [];
  expect(await journal.kept(preimage)).toBeDefined();
});
