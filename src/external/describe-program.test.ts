import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeProgram, SCHEMA_TIMEOUT_MS } from './describe-program.js';
import { ToolsFolder } from './fixtures/tools-folder.js';

const ENV = { PATH: process.env.PATH ?? '' };

describe('a program with --schema', () => {
  it('is given five seconds, then ended with all its child processes (E039)', async () => {
    expect(SCHEMA_TIMEOUT_MS).toBe(5_000);
    using folder = new ToolsFolder();
    const path = folder.add('tool', '#!/bin/sh\nsleep 60 & sleep 60\n');
    const { signal } = new AbortController();
    expect(await describeProgram({ name: 'tool', path, env: ENV, signal, timeoutMs: 300 })).toEqual({
      status: 'schema-unknown',
      reason: '--schema: it did not end within 300 ms',
    });
  });

  it.each([
    ['a text without "#!"', 'touch started\n', 'its first line does not name its interpreter'],
    ['an empty file', '', 'it is empty'],
    [
      'a part of a program',
      Buffer.from('7f454c46020101000a746f75636820737461727465640a00', 'hex'),
      'it is not a program for this machine',
    ],
  ])('is not started where the system could not: %s, which a shell would run', async (_, content, why) => {
    using folder = new ToolsFolder();
    const path = folder.add('tool', content);
    const { signal } = new AbortController();
    expect(await describeProgram({ name: 'tool', path, env: ENV, signal })).toEqual({
      status: 'error',
      reason: expect.stringContaining(why),
    });
    expect(existsSync(join(folder.path, 'started'))).toBe(false);
  });

  it('may be an ordinary program of the machine, which has no description', async () => {
    using folder = new ToolsFolder();
    const path = folder.add('tool', readFileSync('/bin/true'));
    const { signal } = new AbortController();
    expect(await describeProgram({ name: 'tool', path, env: ENV, signal })).toMatchObject({
      status: 'schema-unknown',
    });
  });

  it('may warn on standard error, and sees both mode variables', async () => {
    using folder = new ToolsFolder();
    const path = folder.add(
      'tool',
      `#!/bin/sh\necho warning >&2\nprintf '{"description":"%s %s","input_schema":{},"output_schema":{}}' "$GIBSON_TOOL_MODE" "$TOOLEXEC_TOOL_MODE"\n`,
    );
    const { signal } = new AbortController();
    const described = await describeProgram({ name: 'tool', path, env: ENV, signal });
    expect(described).toMatchObject({ status: 'ready', document: { description: 'subprocess subprocess' } });
  });
});
