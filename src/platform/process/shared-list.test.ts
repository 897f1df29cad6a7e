import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedList } from './shared-list.js';

let list: SharedList;
beforeEach(() => {
  list = new SharedList();
});
afterEach(() => list.close());

/** The list as read by another process, which inherits it as its descriptor 3. */
async function readElsewhere(): Promise<string[]> {
  const reader = spawn('sh', ['-c', 'while read -r entry; do echo "$entry"; done <&3'], {
    stdio: ['ignore', 'pipe', 'inherit', list.fd],
  });
  let text = '';
  reader.stdout?.on('data', (chunk) => {
    text += String(chunk);
  });
  await once(reader, 'close');
  return text.split('\n').filter((line) => line !== '');
}

describe('SharedList', () => {
  it('is what was added and not removed, as it was changed last', async () => {
    const [first, second, third] = ['one', 'two', 'three'].map((text) => list.add(text));
    second?.remove();
    third?.change('3');
    first?.change('a much longer one');
    first?.change('short');
    expect(await readElsewhere()).toEqual(['short', '3']);
  });

  it('grows no longer than what is in it at once', () => {
    list.add('stays');
    for (let at = 0; at < 1_000; at++) list.add(`${at}`).remove();
    expect(fstatSync(list.fd).size).toBe(256);
  });

  it('does not remove an entry that has reused the line of a removed one', async () => {
    const first = list.add('first');
    first.remove();
    list.add('second');
    first.remove();
    first.change('again');
    list.add('third');
    expect(await readElsewhere()).toEqual(['second', 'third']);
  });

  it('accepts at most 127 characters', async () => {
    list.add('x'.repeat(127));
    expect(() => list.add('y'.repeat(128))).toThrow(RangeError);
    expect(await readElsewhere()).toEqual(['x'.repeat(127)]);
  });
});
