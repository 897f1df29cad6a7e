import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bundleProgram } from '../../testing/fixtures/bundle-program.js';

const MODULE = pathToFileURL(bundleProgram(`${import.meta.dirname}/stdio.ts`)).href;

/** Writes its standard input to its standard output in two parts, and reports what Node has loaded for that. */
const COPY = `
  import { openStdio } from '${MODULE}';
  const { stdin, stdout, stderr } = openStdio();
  const text = await stdin.readText(10_000_000);
  stdout.write(text.slice(0, 400_000));
  stdout.write(text.slice(400_000));
  await stdout.flushed();
  stderr.write(String(process.moduleLoadList.includes('NativeModule net')));
`;

const TEXT = 'a line of ünusual text\n'.repeat(40_000);

describe('openStdio()', () => {
  it('copies a file to a file without the streams of Node', () => {
    const { copy, directory } = place();
    writeFileSync(join(directory, 'in'), TEXT);
    const [input, output] = [openSync(join(directory, 'in'), 'r'), openSync(join(directory, 'out'), 'w+')];
    const { stderr, status } = spawnSync(process.execPath, [copy], { stdio: [input, output, 'pipe'] });
    expect({ status, stderr: `${stderr}` }).toEqual({ status: 0, stderr: 'false' });
    const written = Buffer.alloc(2_000_000);
    expect(written.toString('utf8', 0, readSync(output, written, 0, written.length, 0))).toBe(TEXT);
  });

  it.skipIf(process.platform === 'win32')('reads and writes /dev/null without the streams of Node', () => {
    const { copy } = place();
    const { stderr, status } = spawnSync(process.execPath, [copy], { stdio: ['ignore', 'ignore', 'pipe'] });
    expect({ status, stderr: `${stderr}` }).toEqual({ status: 0, stderr: 'false' });
  });

  it.skipIf(process.platform === 'win32')(
    'loses nothing in a pipe that is non-blocking and slower than the program',
    async () => {
      const { copy, directory } = place();
      const [input, output] = [join(directory, 'in'), join(directory, 'out')];
      writeFileSync(input, TEXT);
      execFileSync('mkfifo', [output]);
      const pipe = openSync(output, constants.O_RDWR | constants.O_NONBLOCK);
      onTestFinished(() => closeSync(pipe));
      // Node makes inherited streams blocking; a shell passes them on as they are.
      const child = spawn('sh', ['-c', 'exec "$0" "$1" <"$2" >&4', process.execPath, copy, input], {
        stdio: ['ignore', 'ignore', 'pipe', 'ignore', pipe],
      });
      if (child.stderr === null) throw new Error('standard error is a pipe');
      let isOver = false;
      const ended = Promise.all([once(child, 'close'), readText(child.stderr)]).finally(() => {
        isOver = true;
      });
      const parts: Buffer[] = [];
      for (;;) {
        const part = readPart(pipe);
        if (part !== undefined) parts.push(part);
        else if (isOver) break;
        else await setTimeout(5);
      }
      const [status, stderr] = await ended;
      expect({ status, stderr }).toEqual({ status: [0, null], stderr: 'true' });
      expect(Buffer.concat(parts).toString()).toBe(TEXT);
    },
  );
});

function place(): { readonly directory: string; readonly copy: string } {
  const directory = mkdtempSync(join(tmpdir(), 'toolexec-stdio-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const copy = join(directory, 'copy.mjs');
  writeFileSync(copy, COPY);
  return { directory, copy };
}

/** Undefined: no input is available now. */
function readPart(descriptor: number): Buffer | undefined {
  const part = Buffer.alloc(65_536);
  try {
    return part.subarray(0, readSync(descriptor, part));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    return undefined;
  }
}
