import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Executor } from '../../contract/executor.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';

let root: string;
let executor: Executor;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'kept-output-')));
  executor = createExecutor({ root, approver: null, policy: { denylist: [] } });
});

afterEach(async () => {
  await executor.close();
  rmSync(root, { recursive: true, force: true });
});

const bash = (command: string) => executor.execute('bash', { command });

describe('an output that is too long for its result', () => {
  it('can be read whole through its reference, in lines and in bytes', async () => {
    const { output, outputRef = '', truncated } = await bash('seq 1 100000');
    expect(truncated).toBe(true);
    expect(outputRef).toMatch(/^toolexec-output:[0-9a-f]{32}$/);
    expect(output).toContain('[Output truncated');
    expect(output).toContain(outputRef);
    const lines = await executor.execute('read_file', {
      path: outputRef,
      start_line: 50_000,
      end_line: 50_001,
    });
    expect(lines).toMatchObject({ success: true, output: '50000\n50001\n' });
    const bytes = await executor.execute('Read', { path: outputRef, offset: 588_888, limit: 100 });
    expect(bytes.output).toBe('100000\n');
    let whole = '';
    for (let offset = 0; offset < 588_895; offset += 100_000) {
      whole += (await executor.execute('read_file', { path: outputRef, offset, limit: 100_000 })).output;
    }
    expect(whole).toBe(Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`).join(''));
  });

  it('holds both streams in the order of their arrival', { tags: ['soak'] }, async () => {
    const { outputRef = '' } = await bash(
      'seq 1 20000; sleep 1; echo in between >&2; sleep 1; echo at the end',
    );
    const { output } = await executor.execute('read_file', { path: outputRef, start_line: 20_000 });
    expect(output).toBe('20000\nin between\nat the end\n');
  });

  it('is kept for run_command, and for any tool whose output the executor cuts', {
    tags: ['soak'],
  }, async () => {
    const cut = await executor.execute('run_command', { command: 'seq 1 100000' });
    expect(cut.truncated).toBe(true);
    const last = await executor.execute('read_file', { path: cut.outputRef ?? '', offset: 588_888 });
    expect(last.output).toBe('100000\n');
    const talker = defineTool({
      name: 'talker',
      description: '',
      input: { type: 'object' },
      effects: () => [],
      execute: () => `${'x'.repeat(200_000)}END`,
    });
    await using small = createExecutor({ root, tools: [...builtinTools(), talker], approver: null });
    const { outputRef = '', output } = await small.execute('talker', {});
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(102_400);
    const end = await small.execute('read_file', { path: outputRef, offset: 200_000 });
    expect(end.output).toBe('END');
  });

  it('has no reference where nothing was cut', { tags: ['soak'] }, async () => {
    const short = await bash('seq 1 100');
    expect(short).not.toHaveProperty('outputRef');
    expect(short.truncated).toBe(false);
  });

  it('is redacted when it is read', async () => {
    const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`;
    const { outputRef = '' } = await bash(`seq 1 20000; echo token ${secret}; seq 1 20000`);
    const { output } = await executor.execute('read_file', {
      path: outputRef,
      start_line: 20_001,
      end_line: 20_001,
    });
    expect(output).toContain('token');
    expect(output).not.toContain(secret);
  });

  it('lies on the disk without the values that commands do not get, and is read without them in any slice', async () => {
    const secret = 'correct-horse-battery-staple';
    process.env.KEPT_OUTPUT_TOKEN = secret;
    const journal = join(root, 'j.db');
    await using keeping = createExecutor({ root, journal, approver: null });
    const say = `printf correct-; sleep 0.1; printf horse-battery-staple`;
    const { outputRef: path = '' } = await keeping.execute('bash', {
      command: `seq 1 20000; ${say}; seq 1 20000; ${say}`,
    });
    delete process.env.KEPT_OUTPUT_TOKEN;
    const [file = ''] = readdirSync(`${journal}-outputs`);
    const kept = readFileSync(join(`${journal}-outputs`, file), 'utf8');
    expect(kept.match(/\[REDACTED\]/g)).toHaveLength(2);
    expect(kept).not.toContain('horse');
    const offset = kept.indexOf('[REDACTED]') + 1;
    expect((await keeping.execute('read_file', { path, offset, limit: 9 })).output).toBe('REDACTED]');
    const { outputRef: binary = '' } = await keeping.execute('bash', {
      command: `head -c 9000 /dev/zero; ${say}`,
    });
    const { output } = await keeping.execute('read_file', { path: binary, offset: 0 });
    expect(Buffer.from(output.split('\n')[1] ?? '', 'base64').toString('latin1')).toMatch(/\0\[REDACTED\]$/);
  });

  it('is kept on the disk for us alone, and gone when the executor is closed', async () => {
    const mine = () =>
      readdirSync(tmpdir()).filter((name) => name.startsWith(`toolexec-outputs-${process.pid}-`));
    const before = mine();
    await bash('seq 1 100000');
    const [place = ''] = mine().filter((name) => !before.includes(name));
    const directory = join(tmpdir(), place);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const files = readdirSync(directory);
    expect(files).toHaveLength(1);
    expect(statSync(join(directory, files[0] ?? '')).mode & 0o777).toBe(0o600);
    await executor.close();
    expect(mine()).toEqual(before);
  });

  it('outlives the executor where the journal does', { tags: ['soak'] }, async () => {
    const journal = join(root, 'j.db');
    const first = createExecutor({ root, journal, approver: null });
    const { outputRef = '' } = await first.execute('bash', { command: 'seq 1 100000' });
    await first.close();
    await using second = createExecutor({ root, journal, approver: null });
    const { output } = await second.execute('read_file', { path: outputRef, start_line: 100_000 });
    expect(output).toBe('100000\n');
  });
});

describe('a reference', () => {
  it.each([
    'toolexec-output:00000000000000000000000000000000',
    'toolexec-output:../../etc/passwd',
    'toolexec-output:/etc/passwd',
    'toolexec-output:',
  ])('to nothing is an error that says so: %s', async (path) => {
    const { error } = await executor.execute('read_file', { path });
    expect(error?.code).toBe('execution_failed');
    expect(error?.message).toContain('not found');
  });

  it('is for read_file: searching tools say so', { tags: ['soak'] }, async () => {
    const { outputRef: path = '' } = await bash('seq 1 100000');
    for (const name of ['grep', 'glob']) {
      const { error } = await executor.execute(name, { pattern: '7', path });
      expect(error?.message).toContain('it is a kept output');
      expect(error?.message).toContain('read_file');
    }
  });

  it('is for reading only', { tags: ['soak'] }, async () => {
    const { outputRef: path = '' } = await bash('seq 1 100000');
    const { error } = await executor.execute('write_file', { path, content: 'x', mode: 'overwrite' });
    expect(error?.code).toBe('sandbox_violation');
    expect((await executor.execute('read_file', { path, end_line: 1 })).output).toBe('1\n');
  });
});

describe('binary output', () => {
  it('is reported, not shown, and can be read as base64', async () => {
    const { success, output, outputRef = '', metadata } = await bash('head -c 6000 /dev/urandom');
    expect(success).toBe(true);
    expect(output).toMatch(/^\[binary output: 6000 bytes, not shown\]\n$/);
    expect(metadata).toMatchObject({ binary: true, stdout_bytes: 6000, exit_code: 0 });
    const read = await executor.execute('read_file', { path: outputRef, offset: 0, limit: 600 });
    expect(read.output).toMatch(/^\[binary:base64\]\n[A-Za-z0-9+/]{800}$/);
  });

  it.each([
    ['names that end with NUL', "printf 'src/one.ts\\0src/two.ts\\0src/three.ts\\0'"],
    ['colours', "for i in 1 2 3 4 5 6; do printf '\\033[31mred\\033[0m\\n'; done"],
    ['a stray byte', "printf 'caf\\351 au lait, s il vous plait\\n'"],
    ['many languages', "printf 'Привет мир, 你好世界, مرحبا 😀\\n'"],
  ])('is not what has %s', async (_what, command) => {
    expect((await bash(command)).metadata).not.toHaveProperty('binary');
  });
});
