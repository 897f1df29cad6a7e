import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseOpener, descriptorOpener, type Opener } from '../platform/fs/open-handle.js';
import { createContainment } from './containment.js';
import { temporaryTree } from './fixtures/temporary-tree.js';
import { openContained } from './open-contained.js';

const isLinux = chooseOpener() === descriptorOpener;

describe.runIf(isLinux)("the kernel's mark for a removed file", () => {
  const MARKED = 'key.txt (deleted)';

  /** Replaces a file right after it was opened: the descriptor keeps the old one, which has no name any more. */
  function replacing(path: string): Opener {
    return {
      ...descriptorOpener,
      open(at) {
        const handle = descriptorOpener.open(at);
        if (handle.name() === path) {
          rmSync(path);
          writeFileSync(path, 'new');
        }
        return handle;
      },
    };
  }

  const pathOf = (root: string, asked: string, opener?: Opener) => {
    const opened = openContained(createContainment({ roots: [root] }, opener), asked);
    opened.close();
    return opened.path;
  };

  it('is left out of the path of a file that was replaced while it was opened', () => {
    const { root } = temporaryTree({ 'key.txt': 'old', link: { link: 'key.txt' } });
    const path = join(root, 'key.txt');
    expect(pathOf(root, 'link', replacing(path))).toBe(path);
  });

  it('belongs to the path of a file that has it in its name', () => {
    const { root } = temporaryTree({ [MARKED]: '', link: { link: MARKED } });
    expect(pathOf(root, 'link')).toBe(join(root, MARKED));
  });
});
