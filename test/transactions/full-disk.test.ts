import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { removeTree } from '../../src/platform/fs/remove-tree.js';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import { whyNoTransactions } from './kept-apart.js';

const WHY_NOT = await whyNoTransactions();
const PROGRAM = resolve(import.meta.dirname, 'full-disk-program.ts');

const DISKS = ['read-only', 'undone', 'preview', 'mounted', 'left', 'full'];

/** The output of each scenario. The last ones run in a separate process. */
let told: Record<string, unknown>;
beforeAll(async () => {
  if (WHY_NOT !== '') return;
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'full-disk-')));
  for (const name of [...DISKS, 'state']) mkdirSync(join(around, name), { mode: 0o700 });
  const node = `"${process.execPath}" "${bundleProgram(PROGRAM)}" "${around}"`;
  const script = [
    ...DISKS.map((disk) => `mount -t tmpfs -o size=3m,mode=700 none "${join(around, disk)}"`),
    `${node} ${DISKS.join(' ')}`,
    `${node} room-again undone-elsewhere`,
  ].join(' && ');
  const { stdout } = await promisify(execFile)('unshare', ['-rm', 'sh', '-c', script]);
  told = Object.assign(
    {},
    ...stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  removeTree(around);
}, 240_000);

const later = (path: string, reason: string): unknown =>
  expect.objectContaining({ path, reason: expect.stringContaining(reason), later: true });

describe.skipIf(WHY_NOT !== '')(`the changes of a command that cannot be written${WHY_NOT}`, () => {
  it('are reported, and committed before the next command', () => {
    expect(told['read-only']).toMatchObject({
      first: {
        output: expect.stringContaining('Not changed yet, because it cannot be written now: "gone"'),
        changes: {
          ...{ created: [], modified: [], deleted: [], conflicts: [] },
          refused: ['gone', 'a', 'd/', 'd/in'].map((path) => later(path, 'EROFS')),
        },
      },
      between: { a: 'old', gone: 'old' },
      second: { output: 'newin' },
      end: { a: 'new', 'd/in': 'in' },
    });
  });

  it('are committed by another process too, once there is room', () => {
    const refused = ['d/in', 'large'].map((path) => later(path, 'ENOSPC'));
    expect(told.full).toMatchObject({
      first: { changes: { created: ['d/'], modified: ['a'], deleted: ['gone'], refused } },
      between: { a: 'new' },
    });
    expect(told['room-again']).toMatchObject({
      second: { output: '900000\n900000\n' },
      end: { a: 'new', large: 'xxxxx', 'd/in': 'xxxxx' },
    });
  });

  it('are no longer committed after the command is undone', () => {
    expect(told.undone).toEqual({
      undone: { callId: 'first', restored: [], skipped: [] },
      end: { a: 'old', gone: 'old' },
    });
  });

  it('bug: were committed after an undo by another process, which reported nothing and restored nothing', () => {
    expect(told.left).toMatchObject({
      undone: { 'undone-meanwhile': expect.stringContaining('has not written all of its changes yet') },
      between: { a: 'new' },
    });
    expect(told['undone-elsewhere']).toEqual({
      undone: expect.objectContaining({ skipped: [], undoId: expect.any(String) }),
      end: { a: 'old', gone: 'old' },
    });
  });

  it('are reported by each call of a committed preview', () => {
    const refused = ['d/in', 'large'].map((path) => later(path, 'ENOSPC'));
    expect(told.preview).toMatchObject({
      results: [
        {
          output: expect.stringContaining('Not changed yet'),
          changes: { created: ['d/'], modified: ['a'], deleted: ['gone'], refused },
        },
        {
          success: false,
          error: expect.stringContaining('Cannot commit the change of "d/written": no space left'),
        },
        { success: true },
        { success: true, output: expect.stringContaining('new') },
      ],
      between: { a: 'new', small: 'small' },
      end: { a: 'new', small: 'small', large: 'xxxxx', 'd/in': 'xxxxx', 'd/written': 'xxxxx' },
    });
  });

  it('are not committed in a directory that another program has mounted over the root', () => {
    expect(told.mounted).toEqual({
      code: 'conflict',
      error: expect.stringMatching(/was moved, or something else was put there. Preview it again.$/),
      over: { a: 'other' },
      end: { a: 'old', gone: 'old' },
    });
  });
});
