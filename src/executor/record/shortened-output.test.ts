import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { createExecutor } from '../create-executor.js';
import { probeTool } from '../fixtures/probe-tool.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'toolexec-shortened-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A046: the result says that the output was shortened, by the tool or by the executor. */
async function resultOf(name: string, args: JsonObject, maxBytes = 102_400): Promise<ToolResult> {
  await using executor = createExecutor({ root, policy: null, approver: null, output: { maxBytes } });
  return await executor.execute(name, args);
}

it('a bash output that the tool has shortened is flagged as truncated, one that fits is not', async () => {
  const print = (count: number): JsonObject => ({ command: `head -c ${count} /dev/zero | tr '\\0' y` });
  expect((await resultOf('bash', print(30_001))).truncated).toBe(true);
  expect((await resultOf('bash', print(30_000))).truncated).toBe(false);
});

it('a failure whose output was shortened is flagged as well', async () => {
  const args = { command: "head -c 40000 /dev/zero | tr '\\0' y; exit 9" };
  expect(await resultOf('bash', args)).toMatchObject({ success: false, truncated: true });
});

it('a binary file that does not fit is flagged as truncated, and a listing that stops early', async () => {
  writeFileSync(join(root, 'blob'), Buffer.alloc(64));
  writeFileSync(join(root, 'other'), '');
  expect((await resultOf('read_file', { path: 'blob' }, 60)).truncated).toBe(true);
  expect((await resultOf('read_file', { path: 'blob' })).truncated).toBe(false);
  expect((await resultOf('list_directory', { path: '.', max_entries: 1 })).truncated).toBe(true);
  expect((await resultOf('list_directory', { path: '.' })).truncated).toBe(false);
});

it('any tool can say that it has left something out', async () => {
  const tool = probeTool('digest', () => ({ text: 'the gist', truncated: true }));
  await using executor = createExecutor({ policy: null, approver: null, tools: [tool] });
  expect(await executor.execute('digest', {})).toMatchObject({ output: 'the gist', truncated: true });
});
