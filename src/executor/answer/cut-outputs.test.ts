import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import { OUTPUT_LIMITS } from '../../contract/output-limits.js';
import { SHARE_OF_RUNS } from '../../testing/fixtures/share-of-runs.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'cut-outputs-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const input = { type: 'object' } as const;
const letters = ({ letter, count }: { readonly letter: string; readonly count: number }): string =>
  letter.repeat(count);

const says = defineTool({
  name: 'says',
  description: '',
  input,
  effects: () => [],
  execute: (args) => letters(args as { letter: string; count: number }),
});
const fails = defineTool({
  name: 'fails',
  description: '',
  input,
  effects: () => [],
  execute: (args) => ({
    text: '',
    error: { message: letters(args as { letter: string; count: number }) },
  }),
});
const throws = defineTool({
  name: 'throws',
  description: '',
  input,
  effects: () => [],
  execute: (args) => {
    throw new Error(letters(args as { letter: string; count: number }));
  },
});

const open = (maxBytes: number): Executor =>
  createExecutor({
    root,
    tools: [...builtinTools(), says, fails, throws],
    approver: null,
    policy: null,
    sandbox: { os: 'off' },
    output: { maxBytes },
  });

/** Sizes on both sides of every limit that a result can reach in a test, and small ones. */
const sizes = fc
  .tuple(
    fc.constantFrom(
      ...[OUTPUT_LIMITS.resultBytes, OUTPUT_LIMITS.headCharacters, OUTPUT_LIMITS.panicBytes],
      ...[OUTPUT_LIMITS.headCharacters + OUTPUT_LIMITS.tailCharacters, OUTPUT_LIMITS.metadataBytes, 200],
    ),
    fc.integer({ min: -30, max: 30 }),
  )
  .map(([limit, more]) => limit + more);
const limits = fc.constantFrom(300, 5_000, OUTPUT_LIMITS.headCharacters, OUTPUT_LIMITS.resultBytes);

async function expectWhole(executor: Executor, result: ToolResult, whole: readonly string[]): Promise<void> {
  if (!result.truncated) {
    expect(result).not.toHaveProperty('outputRef');
    for (const part of whole) expect(result.output + (result.error?.message ?? '')).toContain(part);
    return;
  }
  expect(result.outputRef).toMatch(/^toolexec-output:/);
  const bytes = await executor.readOutput(result.outputRef ?? '');
  for (const part of whole) expect(Buffer.from(bytes).toString('utf8')).toContain(part);
}

describe('a result that is cut', () => {
  it.each([says, fails, throws])('has a reference to the whole: $name', async ({ name }) => {
    const text = fc.record({ letter: fc.constantFrom('a', 'ü', '😀'), count: sizes });
    await fc.assert(
      fc.asyncProperty(text, limits, fc.option(limits), async (args, maxBytes, room) => {
        await using executor = open(maxBytes);
        const options = room === null ? {} : { availableCapacityBytes: room };
        const [result] = await executor.run([{ id: '1', name, args }], options);
        if (result === undefined) throw new Error('There is no result.');
        await expectWhole(executor, result, [letters(args)]);
      }),
      { numRuns: 200 * SHARE_OF_RUNS },
    );
  });

  it.each(['bash', 'run_command'])('has a reference to the whole: %s', async (name) => {
    await using small = open(5_000);
    await using usual = open(OUTPUT_LIMITS.resultBytes);
    const print = (letter: string, count: number): string =>
      `head -c ${count} /dev/zero | tr '\\0' ${letter}`;
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(small, usual),
        sizes,
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom(0, 3),
        async (executor, out, err, code) => {
          const command = `${print('a', out)}; ${print('b', err)} >&2; exit ${code}`;
          const result = await executor.execute(name, { command });
          await expectWhole(executor, result, ['a'.repeat(out), 'b'.repeat(err)]);
        },
      ),
      { numRuns: 60 * SHARE_OF_RUNS },
    );
  });

  it('of bash kept its whole only from 30,000 printed bytes, and was cut from 30,000 shown characters', async () => {
    await using executor = open(OUTPUT_LIMITS.resultBytes);
    const command = "head -c 29995 /dev/zero | tr '\\0' a; printf bbbbb >&2";
    const result = await executor.execute('bash', { command });
    expect(result.truncated).toBe(true);
    await expectWhole(executor, result, ['a'.repeat(29_995), 'bbbbb']);
  });

  it('has limits that are whole numbers, and the parts that bash shows fit in one result', () => {
    const wrong = Object.entries(OUTPUT_LIMITS).filter(
      ([, limit]) => !Number.isSafeInteger(limit) || limit <= 0,
    );
    expect(wrong).toEqual([]);
    expect(OUTPUT_LIMITS.headCharacters + OUTPUT_LIMITS.tailCharacters).toBeLessThan(
      OUTPUT_LIMITS.resultBytes,
    );
  });
});
