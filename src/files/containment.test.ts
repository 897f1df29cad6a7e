import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseOpener, descriptorOpener, type Opener } from '../platform/fs/open-handle.js';
import { createContainment } from './containment.js';
import { errorOf } from './fixtures/error-of.js';
import { temporaryTree } from './fixtures/temporary-tree.js';
import { openContained } from './open-contained.js';
import type { SandboxOptions } from './sandbox-options.js';

const isLinux = chooseOpener() === descriptorOpener;

/** Changes the tree right after a file was opened, before its name is checked. */
function openerThat(acts: () => void, path: string): Opener {
  return {
    ...descriptorOpener,
    open(at) {
      const handle = descriptorOpener.open(at);
      if (handle.name() === path) acts();
      return handle;
    },
  };
}

function pathOf(options: SandboxOptions, asked: string, opener?: Opener): string {
  const opened = openContained(createContainment(options, opener), asked);
  opened.close();
  return opened.path;
}

describe.runIf(isLinux)('a file that is moved while it is opened', () => {
  it('is refused outside of the roots', async () => {
    const { root, outside } = temporaryTree({ note: 'x', link: { link: 'note' } });
    const moving = openerThat(
      () => renameSync(join(root, 'note'), join(outside, 'note')),
      join(root, 'note'),
    );
    const error = await errorOf(() => pathOf({ roots: [root] }, 'link', moving));
    expect(error).toMatchObject({ code: 'sandbox_violation', details: { reason: 'PathOutsideSandbox' } });
    expect(error.message).toContain('it was moved out of the roots');
  });

  it('is refused under a name that is denied', async () => {
    const { root } = temporaryTree({ note: 'x', link: { link: 'note' } });
    const moving = openerThat(() => renameSync(join(root, 'note'), join(root, 'a.key')), join(root, 'note'));
    const error = await errorOf(() => pathOf({ roots: [root], deniedPatterns: ['*.key'] }, 'link', moving));
    expect(error).toMatchObject({ code: 'sandbox_violation', details: { reason: 'DeniedPatternMatched' } });
  });
});

describe.runIf(isLinux)("the kernel's mark for a removed file", () => {
  const MARKED = 'key.txt (deleted)';

  it('is left out of the path of a file that was replaced while it was opened', () => {
    const { root } = temporaryTree({ 'key.txt': 'old', link: { link: 'key.txt' } });
    const path = join(root, 'key.txt');
    const replacing = openerThat(() => {
      rmSync(path);
      writeFileSync(path, 'new');
    }, path);
    expect(pathOf({ roots: [root] }, 'link', replacing)).toBe(path);
  });

  it('belongs to the path of a file that has it in its name', () => {
    const { root } = temporaryTree({ [MARKED]: '', link: { link: MARKED } });
    expect(pathOf({ roots: [root] }, 'link')).toBe(join(root, MARKED));
  });
});
