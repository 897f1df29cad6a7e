import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { writeInputFile } from './input-file.js';

it.skipIf(process.platform === 'win32')(
  'an input under a name is ours alone; what a killed process has left goes with the next one',
  () => {
    const first = writeInputFile('first');
    const folder = dirname(first.path);
    expect([readFileSync(first.path, 'utf8'), statSync(folder).mode & 0o777]).toEqual(['first', 0o700]);
    // The tag of a process with this id and another start time.
    const [, tag = ''] = /-([0-9a-f]{24})-/.exec(basename(folder)) ?? [];
    const other = `${tag.slice(0, -1)}${tag.endsWith('0') ? '1' : '0'}`;
    const left = join(dirname(folder), basename(folder).replace(tag, other));
    mkdirSync(left);
    writeFileSync(join(left, 'input'), 'left');
    const second = writeInputFile('second');
    expect([existsSync(left), existsSync(first.path), existsSync(second.path)]).toEqual([false, true, true]);
    for (const input of [first, second]) input.close();
    expect([first, second].map(({ path }) => existsSync(dirname(path)))).toEqual([false, false]);
  },
);
