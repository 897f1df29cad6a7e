import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Executor } from '../../contract/executor.js';
import { createExecutor } from '../create-executor.js';

const SECRET = 'hunter2-hunter2-hunter2';
const LONG = 'Zk3'.repeat(700);

let root: string;
let executor: Executor;

beforeEach(() => {
  process.env.CUT_OUTPUT_TOKEN = SECRET;
  process.env.CUT_OUTPUT_LONG_KEY = LONG;
  root = realpathSync(mkdtempSync(join(tmpdir(), 'executor-cut-')));
  executor = createExecutor({ root, policy: null, approver: null });
});

afterEach(async () => {
  await executor.close();
  rmSync(root, { recursive: true, force: true });
  delete process.env.CUT_OUTPUT_TOKEN;
  delete process.env.CUT_OUTPUT_LONG_KEY;
});

const many = (count: number, character: string) => `head -c ${count} /dev/zero | tr '\\0' ${character}; `;
const bash = (command: string) => executor.execute('bash', { command });

/** Reads a background shell to its end: its output without the status lines. */
async function readAll(command: string, filter?: string): Promise<string> {
  const { metadata } = await executor.execute('bash', { command, run_in_background: true });
  const args = { bash_id: String(metadata.bash_id), ...(filter === undefined ? {} : { filter }) };
  for (let all = ''; ; await new Promise((resolve) => setTimeout(resolve, 30))) {
    const { output, metadata: now } = await executor.execute('bash_output', args);
    all += output.replace(/\n?\[Status: [^\]]*\]|\(no new output[^)]*\)\n/g, '');
    if (now.is_running !== true) return all;
  }
}

describe('output that is cut (D077)', () => {
  it('holds no half of a secret at either cut, nor in the metadata', async () => {
    const atHead = await bash(`${many(29_990, 'x')}printf ${SECRET}; ${many(9_000, 'y')}`);
    expect(atHead.metadata.truncated).toBe(true);
    expect(atHead.output).not.toContain('hunter');
    const atTail = await bash(`${many(40_000, 'x')}printf ${SECRET}; ${many(1_990, 'y')}`);
    expect(atTail.output).not.toContain('ter2');
    const inExcerpt = await bash(`${many(2_040, 'x')}printf ${SECRET}; ${many(9_000, 'y')}`);
    expect(JSON.stringify(inExcerpt.metadata)).not.toContain('hunter');
    const command = `${many(2_040, 'x')}printf ${SECRET}; ${many(9_000, 'y')}`;
    const other = await executor.execute('run_command', { command });
    expect(JSON.stringify(other)).not.toContain('hunter');
  });

  it('holds no half of an escape sequence, and counts what is shown', async () => {
    const cut = await bash(`${many(40_000, 'x')}printf '\\033[31;1m'; ${many(1_996, 'y')}`);
    expect(cut.output).toMatch(/\]\n\nxxxxy+$/);
    const coloured = await bash("printf '\\033[31mab\\033[0m\\n%.0s' $(seq 3000)");
    expect(coloured).toMatchObject({ truncated: false, output: 'ab\n'.repeat(3000) });
  });

  it('keeps the ends of output that is larger than what is cleaned', async () => {
    const { output } = await bash(`printf ${SECRET}; ${many(700_000, 'x')}printf ${SECRET}`);
    expect(output).toMatch(/^\[REDACTED\]x+\n/);
    expect(output).toMatch(/x\[REDACTED\]$/);
  });
});

describe('a secret that the host program has learned since', () => {
  it('is kept from commands, and from what they show', async () => {
    await bash('true');
    process.env.LEARNED_LATER_TOKEN = 'learned-later-0815';
    const run = executor.start([
      { id: '1', name: 'bash', args: { command: 'env | grep -c LEARNED; echo learned-later-0815' } },
    ]);
    let live = '';
    for await (const event of run.events) if (event.type === 'stdout') live += event.chunk;
    delete process.env.LEARNED_LATER_TOKEN;
    const [result] = await run.results;
    expect(result?.output).toBe('0\n[REDACTED]\n');
    expect(live).toBe('0\n[REDACTED]\n');
    expect(JSON.stringify(result?.metadata)).not.toContain('0\nlearned');
    expect((await bash('echo learned-later-0815')).output).toBe('[REDACTED]\n');
  });
});

describe('output that comes in pieces (D077)', () => {
  it('of a background shell shows no secret and no sequence that two readings cut', async () => {
    const pieces = [SECRET.slice(0, 9), `${SECRET.slice(9)} \\033[3`, '1mred\\033[0m\\n'];
    const command = pieces.map((piece) => `printf '${piece}'; sleep 0.4`).join('; ');
    expect((await readAll(command)).replaceAll('\n', '')).toBe('[REDACTED] red');
  });

  it('of a background shell is filtered in whole lines', { tags: ['soak'] }, async () => {
    const command = `echo 'a ${SECRET.slice(0, 9)}'; printf 'KEEP ${SECRET.slice(0, 9)}'; sleep 0.4; printf '${SECRET.slice(9)} end\\n'`;
    expect((await readAll(command, '(?i)^keep')).trim()).toBe('KEEP [REDACTED] end');
  });

  it('is shown while a command waits, however long a secret is', async () => {
    const run = executor.start([{ id: '1', name: 'bash', args: { command: 'printf "Name: "; sleep 300' } }]);
    for await (const event of run.events) {
      if (event.type !== 'stdout') continue;
      expect(event.chunk).toBe('Name: ');
      run.cancel();
    }
  });
});

it('the status of a background shell is not cut off with its output (B027)', async () => {
  const command = `${many(200_000, 'x')}touch done`;
  const { metadata } = await executor.execute('bash', { command, run_in_background: true });
  while (!existsSync(join(root, 'done'))) await new Promise((resolve) => setTimeout(resolve, 20));
  const result = await executor.execute('bash_output', { bash_id: String(metadata.bash_id) });
  expect(result.truncated).toBe(true);
  expect(result.output).toMatch(/^\[Status: [^\]]*Duration: \d+ms\]\nx/);
});

it('both ends of what a background shell has printed are shown, and the rest can be read', async () => {
  const token = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
  const lines = `awk 'BEGIN { for (i = 1; i <= 4000; i++) print i, "${token}" }'`;
  const command = `echo BEGIN; ${lines}; echo what became of it; touch done`;
  const { metadata } = await executor.execute('bash', { command, run_in_background: true });
  const id = String(metadata.bash_id);
  while (!existsSync(join(root, 'done'))) await new Promise((resolve) => setTimeout(resolve, 20));
  // Resolves when it has ended and all of its output has arrived.
  await executor.execute('kill_shell', { shell_id: id });
  const { output, truncated, outputRef = '' } = await executor.execute('bash_output', { bash_id: id });
  expect(truncated).toBe(true);
  expect(Buffer.byteLength(output)).toBeLessThanOrEqual(102_400);
  expect(output).toMatch(/^\[Status: [^\]]*Duration: \d+ms\]\nBEGIN\n1 /);
  expect(output).toContain('[Output truncated: ');
  expect(output).toContain(outputRef);
  expect(output.endsWith('what became of it\n')).toBe(true);
  expect(output).not.toMatch(/ghp_|c3D4e5/);
  const middle = await executor.execute('read_file', { path: outputRef, start_line: 2001, end_line: 2001 });
  expect(middle.output).toMatch(/^2000 /);
  expect(middle.output).not.toContain('c3D4');
});
