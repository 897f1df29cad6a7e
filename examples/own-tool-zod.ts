// A custom tool: the zod schema gives the argument type of every callback.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// #region tool
import { createExecutor, defineTool } from 'toolexec';
import { z } from 'zod';

const addNote = defineTool({
  name: 'add_note',
  description: 'Appends one line to a notebook in the workspace.',
  input: z.object({ notebook: z.string().regex(/^[a-z]+$/), line: z.string().min(1) }),
  effects: ({ notebook }) => [{ kind: 'write', path: `${notebook}.md` }],
  summarize: ({ notebook, line }) => `Add to ${notebook}: ${line}`,
  async execute({ notebook, line }, { files }) {
    const text = new TextEncoder().encode(`- ${line}\n`);
    const { path } = await files.write(`${notebook}.md`, text, { mode: 'append' });
    return { text: `Added to ${notebook}.`, metadata: { path } };
  },
});
// #endregion tool

const workspace = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
try {
  await using executor = createExecutor({
    tools: [addNote],
    root: workspace,
    policy: { allowlist: ['add_note'] },
  });
  const added = await executor.execute('add_note', { notebook: 'shopping', line: 'milk' });
  assert.equal(added.output, 'Added to shopping.');
  assert.equal(readFileSync(join(workspace, 'shopping.md'), 'utf8'), '- milk\n');

  const refused = await executor.execute('add_note', { notebook: '../shopping', line: 'milk' });
  assert.equal(refused.error?.code, 'bad_args');
  assert.equal(refused.error.details?.executed, 'no');
  console.log(refused.error.message);
} finally {
  rmSync(workspace, { recursive: true });
}
