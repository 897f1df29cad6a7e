import { createExecutor } from '../../src/executor/create-executor.js';
import { createSandbox } from '../../src/files/create-sandbox.js';
import type { OpenOperation } from './attack.js';
import { type Battlefield, SECRET } from './battlefield.js';
import { Refused } from './refused.js';

const BYTES = new TextEncoder().encode('inside\n');

/** The file operations of tools, contained. */
export const CONTAINED: Readonly<Record<'read' | 'write' | 'create' | 'patch', OpenOperation>> = {
  read({ root }) {
    const { files } = createSandbox({ roots: [root] });
    const next = inTurn('d/secret.txt', 'f', 'deep/e/secret.txt', 'l/secret.txt');
    return async () => Buffer.from(await files.read(next())).includes(SECRET);
  },

  write({ root }) {
    const { files } = createSandbox({ roots: [root] });
    const next = inTurn('d/secret.txt', 'f', 'deep/e/w.txt', 'l/w.txt', 'd/sub/w.txt');
    return async () => {
      await files.write(next(), BYTES, { mode: 'overwrite' });
      return false;
    };
  },

  create({ root }) {
    const { files } = createSandbox({ roots: [root] });
    const next = inTurn('d', 'deep/e', 'l', 'd/made', 'deep/e/made/deep');
    return async (index) => {
      const path = `${next()}/new-${index % 20}.txt`;
      // An entry in the way is removed, also by a contained operation.
      await files.remove(path).catch(() => undefined);
      await files.write(path, BYTES, { mode: 'create' });
      return false;
    };
  },

  patch: openPatching,
};

/**
 * Through the whole executor: it reads the file before it patches it, changes a file, or creates two at once.
 */
function openPatching({ root }: Battlefield): ReturnType<OpenOperation> {
  const executor = createExecutor({ root, policy: null, approver: null, journal: false, cache: false });
  const { files } = createSandbox({ roots: [root] });
  const next = inTurn('f', 'deep/e/secret.txt', 'l/secret.txt', 'd/secret.txt');
  return async (index) => {
    const path = next();
    const fresh = index % 3 === 0 ? [`d/p-${index % 20}.txt`, `deep/e/p-${index % 20}.txt`] : [];
    for (const each of fresh) await files.remove(each).catch(() => undefined);
    const patch = fresh.length > 0 ? appending(fresh) : appending([path]);
    const [read, patched] = await executor.run([
      { id: 'r', name: 'read_file', args: { path } },
      { id: 'p', name: 'apply_patch', args: { patch } },
    ]);
    if (JSON.stringify([read, patched]).includes(SECRET)) return true;
    // Otherwise it would grow without limit.
    if ((read?.output.length ?? 0) > 200) await files.write(path, BYTES, { mode: 'overwrite' });
    if (patched?.success !== true) throw new Refused(patched?.error?.message ?? 'no result');
    return false;
  };
}

function appending(paths: readonly string[]): string {
  return `LP1\n${paths.map((path) => `F ${path}\nT\na line\n.\n`).join('')}END\n`;
}

function inTurn(...paths: readonly string[]): () => string {
  let turn = 0;
  return () => paths[turn++ % paths.length] ?? '';
}
