import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { removeTree } from '../../src/platform/fs/remove-tree.js';

/** A root, and the files that an executor keeps next to it. */
export interface Place {
  readonly around: string;
  readonly root: string;
  /** Where a journal may be. */
  readonly journal: string;
  /** Runs a command in the root like a person, outside every sandbox; returns its output. */
  readonly outside: (command: string) => string;
}

/** Empty for each test of the file. */
export function usePlace(): Place {
  let around = '';
  const root = (): string => join(around, 'root');
  beforeEach(() => {
    around = realpathSync(mkdtempSync(join(tmpdir(), 'transactions-')));
    mkdirSync(root());
  });
  afterEach(() => removeTree(around));
  return {
    get around() {
      return around;
    },
    get root() {
      return root();
    },
    get journal() {
      return join(around, 'journal.db');
    },
    outside: (command) => execFileSync('/bin/sh', ['-c', command], { cwd: root(), encoding: 'utf8' }),
  };
}
