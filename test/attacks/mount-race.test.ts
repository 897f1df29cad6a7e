import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../src/commands/fixtures/sandbox-here.js';
import { runCommand } from '../../src/commands/run-command.js';
import { findCommandSandbox } from '../../src/commands/sandbox/find-sandbox.js';
import type { CommandOutcome } from '../../src/contract/processes.js';
import { createSandbox } from '../../src/files/create-sandbox.js';

/*
 * While sandboxes are built, another process swaps a directory that holds guarded entries for a link to the
 * outside. Mounts use descriptors: a path that has come to lead elsewhere is not mounted, and the command does
 * not run.
 */
const SECRET = 'the-secret-beside-the-root';
const outside = realpathSync(mkdtempSync(join(tmpdir(), 'mount-race-')));
const root = join(outside, 'root');
afterAll(() => rmSync(outside, { recursive: true, force: true }));

beforeAll(() => {
  mkdirSync(join(root, 'd/.vscode'), { recursive: true });
  mkdirSync(join(root, 'd/.git/objects'), { recursive: true });
  writeFileSync(join(root, 'd/.git/HEAD'), 'ref: refs/heads/main\n');
  for (const folder of ['.vscode', '.git/hooks', '.git/objects'])
    mkdirSync(join(outside, 'd', folder), { recursive: true });
  for (const path of ['.vscode/secret', '.git/HEAD', '.git/secret', '.git/config'])
    writeFileSync(join(outside, 'd', path), SECRET);
});

const sandbox = await findCommandSandbox();
const byDescriptor = sandbox.stands && sandbox.byDescriptor;
const why = WHY_NO_SANDBOX || (byDescriptor ? '' : ' (skipped: this bubblewrap takes no descriptors)');

const SWAP = `
const fs = require('node:fs');
const [d, e, link, outside] = process.argv.slice(1);
fs.symlinkSync(outside, link);
// A process that needs a mount point creates it if nothing is there.
const move = (from, to) => {
  try {
    fs.renameSync(from, to);
  } catch {
    fs.rmSync(to, { recursive: true, force: true });
    fs.renameSync(from, to);
  }
};
for (;;) {
  try {
    move(d, e);
    move(link, d);
    move(d, link);
    move(e, d);
  } catch (error) {
    if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
    fs.rmSync(d, { recursive: true, force: true });
    if (fs.existsSync(e)) fs.renameSync(e, d);
    fs.rmSync(link, { force: true });
    fs.symlinkSync(outside, link);
  }
}
`;

describe.skipIf(why)(`sandboxes that are built in a race for links${why}`, () => {
  it('neither show nor provide anything outside', async () => {
    const swapper = spawn(process.execPath, [
      '-e',
      SWAP,
      join(root, 'd'),
      join(root, 'e'),
      join(root, 'l'),
      join(outside, 'd'),
    ]);
    const score = { ran: 0, refused: 0 };
    try {
      for (let round = 0; round < 150 || (round < 1500 && Math.min(score.ran, score.refused) <= 5); round++) {
        const outcome = await run().catch((error: { code: string }) => error.code);
        if (outcome === 'spawn_failed') score.refused++;
        else {
          expect(typeof outcome === 'string' ? outcome : outcome.stdout.head).not.toContain(SECRET);
          score.ran++;
        }
      }
      expect(swapper.exitCode).toBeNull();
    } finally {
      swapper.kill('SIGKILL');
    }
    expect(readdirSync(join(outside, 'd/.git')).toSorted()).toEqual([
      'HEAD',
      'config',
      'hooks',
      'objects',
      'secret',
    ]);
    expect(readdirSync(join(outside, 'd/.git/hooks'))).toEqual([]);
    // Otherwise there was no race.
    expect([score.ran > 5, score.refused > 5]).toEqual([true, true]);
  });
});

function run(): Promise<CommandOutcome> {
  const sandbox = createSandbox({ roots: [root] });
  const guarded = () => sandbox.guarded?.() ?? { hidden: [], readOnly: [], missing: [], incomplete: false };
  return runCommand({
    shell: 'sh',
    command:
      'cat d/.vscode/secret d/.git/secret e/.vscode/secret e/.git/secret l/.git/secret; echo x > d/.git/planted; grep -a mount-race /proc/self/mountinfo',
    cwd: root,
    env: { PATH: '/usr/bin:/bin' },
    signal: AbortSignal.timeout(20_000),
    keepBytes: 1 << 16,
    confinement: { os: 'required', network: false, roots: [root], readable: [], guarded },
  });
}
