import { describe, expect, it } from 'vitest';
import { eachOf } from '../testing/fixtures/each-of.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const documentOf = (version?: string): object => ({
  input_schema: { type: 'object' },
  output_schema: {},
  ...(version === undefined ? {} : { version }),
});

describe('the range of versions of a tool (E045)', () => {
  eachOf(
    [
      ['1.4.2', '^1.2', 'ready'],
      ['v1.4.2', '>=1 <2', 'ready'],
      ['1.4', '~1.4.0', 'ready'],
      ['2.0.0', '^1.2', 'error'],
      ['1.4.2-beta.1', '^1.2', 'error'],
      ['newest', '*', 'error'],
      [undefined, '*', 'error'],
    ],
    3,
  )('%s is compared with %s: %s', async (version, range, status) => {
    using folder = new ToolsFolder();
    folder.add('tool', scriptOf('echo 1', documentOf(version)));
    folder.add('other', scriptOf('echo 1', documentOf('0.0.1')));
    await using service = await openTools(folder.path, { versions: { tool: range } });
    expect(service.list().map((tool) => tool.status)).toEqual(['ready', status]);
    if (status === 'error')
      expect(service.list()[1]?.errorMessage).toContain(`"${range}", which versions asks`);
  });

  it('is reported as unmet for a tool without a description, too', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', '#!/bin/sh\nexit 7\n');
    await using service = await openTools(folder.path, { versions: { tool: '1' } });
    expect(service.list()[0]).toMatchObject({
      status: 'error',
      errorMessage:
        'its version is not known to be within "1", which versions asks for (--schema: it ended with exit code 7)',
    });
  });

  it('is checked again when the program is replaced: no call runs another version', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', scriptOf('echo 1', documentOf('1.0.0')));
    await using service = await openTools(folder.path, { versions: { tool: '1' } });
    await using executor = executorFor(service);
    folder.add('tool', scriptOf('echo 2', documentOf('2.0.0')));
    expect((await executor.execute('tool', {})).error?.code).toBe('schema_fetch_failed');
    await service.refresh();
    expect((await executor.execute('tool', {})).error?.code).toBe('spawn_failed');
    folder.add('tool', scriptOf('echo 3', documentOf('1.1.0')));
    await service.refresh();
    expect((await executor.execute('tool', {})).structured).toBe(3);
  });

  it('must be a range', async () => {
    using folder = new ToolsFolder();
    await expect(openTools(folder.path, { versions: { tool: 'newest' } })).rejects.toThrow(
      'discoverTools.versions must be an object of version ranges',
    );
  });
});
