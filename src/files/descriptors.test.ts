import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createSandbox } from './create-sandbox.js';
import { temporaryTree } from './fixtures/temporary-tree.js';

it.runIf(existsSync('/proc/self/fd'))(
  'no operation leaves a descriptor open, whichever way it ends',
  async () => {
    const { root } = temporaryTree({
      'd/a': 'A',
      l: { link: 'd' },
      out: { link: '<outside>' },
      loop: { link: 'loop' },
      dangling: { link: 'no/thing' },
      up: { link: 'd/../d/../..' },
      '.env': '',
      env: { link: '.env' },
    });
    const bytes = new Uint8Array(3);
    const before = openDescriptors();
    const sandbox = createSandbox({ roots: [root] });
    const { files } = sandbox;
    const paths = [
      'd/a',
      'l/a',
      'l',
      'd',
      '.',
      'out',
      'out/a',
      'loop',
      'dangling',
      'up/a',
      'env',
      'none',
      'no/ne',
      'd/a/b',
    ];
    for (const path of [...paths, '.env', '..', 'x'.repeat(300), `l/${'x'.repeat(300)}`]) {
      const operations: readonly (() => unknown)[] = [
        () => sandbox.resolve(path),
        () => sandbox.resolve(path, 'write'),
        () => files.read(path),
        () => files.list(path),
        () => files.stat(path),
        () => files.write(path, bytes, { mode: 'create' }),
        () => files.write(`${path}/new`, bytes, { mode: 'append' }),
        () => files.rename('d/a', path),
        () => files.rename(path, 'd/a'),
        () => files.remove(`${path}/new`),
      ];
      for (const operation of operations) {
        await Promise.resolve()
          .then(operation)
          .catch(() => undefined);
      }
    }
    expect(openDescriptors()).toBe(before);
  },
);

function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
