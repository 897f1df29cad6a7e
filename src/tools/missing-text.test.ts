import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JsonObject } from '../contract/json.js';
import { createExecutor } from '../executor/create-executor.js';

const root = mkdtempSync(join(tmpdir(), 'toolexec-missing-'));

it.each<[string, JsonObject, string]>([
  ['read_file', {}, "missing or invalid 'path' parameter: give a string."],
  ['write_file', { content: 'x' }, "missing or invalid 'path' parameter: give a string."],
  [
    'write_file',
    {},
    "missing or invalid 'path' parameter, missing or invalid 'content' parameter: give a string.",
  ],
  ['edit_file', { path: 'f', old_string: 'a' }, "missing or invalid 'new_string' parameter: give a string."],
  [
    'edit_file',
    { old_string: 'a', new_string: 'b' },
    "missing or invalid 'file_path' parameter: give path, the file to change.",
  ],
  ['glob', { path: '.' }, "missing or invalid 'pattern' parameter: give a string."],
  ['grep', {}, "missing or invalid 'pattern' parameter: give a string."],
  [
    'grep',
    { pattern: 'x', output_mode: 'weird' },
    'invalid output_mode "weird": expected "content", "files_with_matches" or "count".',
  ],
  [
    'read_file',
    { pth: 'x' },
    'Invalid arguments for read_file: missing required property "path" (a string); unknown property "pth" (did you mean "path"?).',
  ],
  [
    'write_file',
    { content: 5 },
    'Invalid arguments for write_file: missing required property "path" (a string); /content: expected a string, got 5.',
  ],
])('%s with %j names the missing text in the words of earlier programs', async (name, args, message) => {
  await using executor = createExecutor({ root, policy: null, approver: null });
  const { error } = await executor.execute(name, args);
  expect(error).toMatchObject({ code: 'bad_args', message });
});
