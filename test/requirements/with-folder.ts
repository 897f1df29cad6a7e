import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createExecutor, type Executor, type ExecutorOptions } from '../../src/index.js';

/** A path that leads outside every root. */
export const OUTSIDE = '../outside.txt';

/** An executor in a new folder; a journal is a file in it. */
export function withFolder(options: ExecutorOptions & { readonly journal?: string }): {
  readonly executor: Executor;
  readonly root: string;
} {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-requirements-')));
  const { journal, ...others } = options;
  const executor = createExecutor({
    root,
    ...others,
    ...(journal === undefined ? {} : { journal: join(root, journal) }),
  });
  onTestFinished(async () => {
    await executor.close();
    rmSync(root, { recursive: true, force: true });
  });
  return { executor, root };
}
