import { createInterface } from 'node:readline';
import type { FileChange } from '../../src/contract/files.js';
import { isToolError } from '../../src/errors/tool-error.js';
import { createSandbox } from '../../src/files/create-sandbox.js';

/**
 * Changes files below a root step by step, and acknowledges each step with a line on standard output. The next step
 * waits for a line on standard input.
 */
const [root = ''] = process.argv.slice(2);
const { files } = createSandbox({ roots: [root] });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const change = (path: string, text: string | null): FileChange => ({
  path,
  bytes: text === null ? null : bytes(text),
});

const STEPS: Readonly<Record<string, () => Promise<unknown>>> = {
  'make a file in new directories': () => files.write('new/deep/a.txt', bytes('a'), { mode: 'create' }),
  'replace a file': () => files.write('kept/one.txt', bytes('one, again'), { mode: 'overwrite' }),
  'rename into another directory': () => files.rename('kept/two.txt', 'other/two.txt'),
  'rename over another file': () => files.rename('other/two.txt', 'other/three.txt'),
  'remove a file': () => files.remove('kept/gone.txt'),
  'change several files': () =>
    files.writeAll([
      change('kept/one.txt', 'one, patched'),
      change('other/three.txt', 'three, patched'),
      change('new/deep/a.txt', null),
      change('patched/b.txt', 'b'),
    ]),
  'remove what was made': () => files.writeAll([change('patched/b.txt', null)]),
};

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
for (const [name, step] of Object.entries(STEPS)) {
  await lines.next();
  let refused: unknown;
  try {
    await step();
  } catch (error) {
    if (!isToolError(error)) throw error;
    refused = error;
  }
  console.log(JSON.stringify({ name, ...(refused === undefined ? {} : { error: refused }) }));
}
process.exit();
