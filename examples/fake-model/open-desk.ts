// The workplace of the examples with a provider's SDK: a folder with orders, and a place outside of it for
// the journal.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const PROMPT = 'How many orders are open? Write the number to open.txt.';
/** The calls that the model asks for, in this order: the first two at once. */
export const READ = { path: 'orders.csv' };
export const GREP = { pattern: 'open', output_mode: 'count' };
export const WRITE = { path: 'open.txt', content: '2\n' };
export const ANSWER = 'Two orders are open.';

export interface Desk {
  readonly workspace: string;
  readonly journal: string;
  /** After a loop that is done: every result went back to the model, and the file was written. */
  check(requests: readonly string[]): void;
  clear(): void;
}

export function openDesk(): Desk {
  const folder = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
  const records = mkdtempSync(join(tmpdir(), 'toolexec-example-'));
  writeFileSync(join(folder, 'orders.csv'), 'Ada,open\nBob,sent\nCleo,open\n');
  const written = join(folder, 'open.txt');
  return {
    workspace: folder,
    journal: join(records, 'journal.db'),
    check(requests) {
      const [first = '', second = '', third = ''] = requests.slice(-3);
      assert.match(first, /write_file/);
      assert.match(second, /Cleo,open/);
      assert.match(second, /orders\.csv:2/);
      assert.match(third, /open\.txt/);
      assert.equal(readFileSync(written, 'utf8'), '2\n');
      rmSync(written);
    },
    clear() {
      rmSync(folder, { recursive: true });
      rmSync(records, { recursive: true });
    },
  };
}
