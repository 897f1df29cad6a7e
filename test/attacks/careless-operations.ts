import { closeSync, openSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenOperation } from './attack.js';
import { SECRET } from './battlefield.js';
import { Refused } from './refused.js';

/** Like most programs: resolve the real path, check it, open it. The same race must catch them. */
export const CARELESS: Readonly<Record<'read' | 'write' | 'create' | 'patch', OpenOperation>> = {
  read:
    ({ root }) =>
    async (index) =>
      readFileSync(checked(root, targetOf(index)), 'utf8').includes(SECRET),

  write:
    ({ root }) =>
    async (index) => {
      writeFileSync(checked(root, targetOf(index)), 'inside\n');
      return false;
    },

  create:
    ({ root }) =>
    async (index) => {
      closeSync(openSync(join(checked(root, 'd'), `new-${index}.txt`), 'wx'));
      return false;
    },

  patch:
    ({ root }) =>
    async (index) => {
      const path = checked(root, targetOf(index));
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, `${text}a line\n`.slice(-100));
      return text.includes(SECRET);
    },
};

function targetOf(index: number): string {
  return index % 2 === 0 ? 'd/secret.txt' : 'f';
}

function checked(root: string, path: string): string {
  const real = realpathSync(join(root, path));
  if (!real.startsWith(`${root}/`)) throw new Refused(real);
  return real;
}
