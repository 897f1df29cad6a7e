import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { failureOf, pictureOf, successOf } from '../../testing/journal-entries.js';
import { contentHashes } from '../records/stored-content.js';
import { fromStoredResult, toStoredResult } from './long-results.js';

const MOST = 1_000_000;

function restored(result: ToolResult, without?: number): ToolResult {
  const { text, contents } = toStoredResult(result, MOST);
  const lost = without === undefined ? undefined : [...contents.keys()][without];
  return fromStoredResult(text, (hash) => (hash === lost ? undefined : contents.get(hash)));
}

describe('long results in Postgres', () => {
  it.each([0, 21_000, 65_000, 66_000, 200_000])('are returned unchanged: %i characters', (size) => {
    const picture = Uint8Array.of(1, 2, 3);
    for (const output of ['x'.repeat(size), 'ä"\0'.repeat(size / 5)]) {
      const results: readonly ToolResult[] = [
        successOf('x', output),
        { ...successOf('x'), structured: { rows: [output] }, outputRef: 'toolexec-output:1' },
        { ...failureOf('x', 'timeout'), output, metadata: { stderr: output } },
        pictureOf('x', picture, output),
      ];
      for (const result of results) expect(restored(result)).toEqual(result);
    }
  });

  it('leave a short row, which names every content and tells older versions that there is more', () => {
    const { text, contents } = toStoredResult(pictureOf('x', Uint8Array.of(1), 'z'.repeat(100_000)), MOST);
    expect(text.length).toBeLessThan(1_000);
    expect(contentHashes(text)).toEqual([...contents.keys()]);
    expect(contents.size).toBe(2);
    expect(JSON.parse(text)).toMatchObject({ success: true, truncated: true });
    expect(JSON.parse(text).output).toContain('update it');
  });

  it('never turn into an empty result if their content is lost', () => {
    const { output, ...rest } = restored(successOf('x', 'z'.repeat(100_000)), 0);
    expect(output).toMatch(/^\[The output is lost: its content of 100\d{3} bytes \(SHA-256 [\da-f]{64}\)/);
    expect(rest).toMatchObject({ callId: 'x', success: true, truncated: true });
  });

  it('keep their beginning, and say so, above the limit of the journal', () => {
    const long = restored(successOf('x', 'z'.repeat(MOST)));
    expect(long).toMatchObject({ success: true, truncated: true });
    expect(long.output.slice(0, 65_536)).toBe('z'.repeat(65_536));
    expect(long.output.slice(65_536)).toMatch(
      /^\n\[The result has 1000\d{3} bytes: too long for this journal/,
    );
    const error = {
      code: 'execution_failed',
      message: 'm'.repeat(MOST),
      details: { executed: 'yes' },
    } as const;
    const { success: _, ...rest } = successOf('x');
    const failure = restored({ ...rest, error, success: false });
    expect(failure.error).toEqual({
      code: 'execution_failed',
      message: 'm'.repeat(2_000),
      details: { executed: 'yes' },
    });
    const picture = restored(pictureOf('x', new Uint8Array(MOST + 1)));
    expect(picture.content?.map(({ type }) => type)).toEqual(['text', 'text', 'resource', 'text']);
    expect(picture.content?.[1]).toMatchObject({
      text: expect.stringMatching(/^\[image, 1000001 bytes: too long/),
    });
  });
});
