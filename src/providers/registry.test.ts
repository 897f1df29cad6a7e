import { expect, it } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import { isToolError } from '../errors/tool-error.js';
import { createCallStream } from './create-call-stream.js';
import type { WireFormat } from './registry.js';
import { PROVIDERS } from './registry.js';
import { writeResults } from './write-results.js';

const FORMATS = Object.keys(PROVIDERS) as WireFormat[];

it.each([null, undefined, {}, [null], [{}]])(
  'writing %j, which is not a list of results, is refused (it crashed)',
  (given) => {
    for (const format of FORMATS)
      expect(() => writeResults(format, given as unknown as readonly ToolResult[])).toThrow(
        expect.objectContaining({ code: 'bad_args' }),
      );
  },
);

it.each(['soap', 'toString', '__proto__', ''])('a format named %j is refused by name', (name) => {
  for (const use of [
    () => writeResults(name as WireFormat, []),
    () => createCallStream(name as WireFormat),
  ]) {
    let thrown: unknown;
    try {
      use();
    } catch (error) {
      thrown = error;
    }
    expect(isToolError(thrown) && thrown.code).toBe('config_invalid');
    expect((thrown as Error).message).toContain(JSON.stringify(name));
  }
});

it.each(FORMATS)('a stream of %s survives an event that throws when it is read', (format) => {
  const trap = new Proxy(
    {},
    {
      get() {
        throw new Error('sprung');
      },
    },
  );
  const stream = createCallStream(format);
  expect(stream.push(trap)).toEqual([]);
  expect(stream.end()).toMatchObject({ calls: [], errors: [{ index: 0 }] });
});
