import { describe, expect, test } from 'vitest';
import { accepts, callTool } from './fixtures/call-tool.js';
import { realContext } from './fixtures/real-context.js';
import { runCommandTool } from './run-command.js';

const tool = runCommandTool();
const run = (command: string, ctx = realContext()) => callTool(tool, { command }, ctx);

describe('run_command', () => {
  test('returns standard output unchanged', async () => {
    const { text, error, metadata } = await run('printf "a\\n\\nb"');
    expect({ text, error }).toEqual({ text: 'a\n\nb', error: undefined });
    expect(metadata).toMatchObject({
      exit_code: 0,
      signal: null,
      stdout: 'a\n\nb',
      stderr: '',
      stdout_lines: 3,
    });
  });

  test('appends standard error after its marker, even if there is no output', async () => {
    expect((await run('printf out; printf err >&2')).text).toBe('out\n\n[stderr]\nerr');
    const { text, error } = await run('printf err >&2');
    expect({ text, error }).toEqual({ text: '\n\n[stderr]\nerr', error: undefined });
  });

  test('uses sh in the working directory, without input', async () => {
    const ctx = realContext();
    expect((await run('pwd -P', ctx)).text).toBe(`${ctx.root}\n`);
    expect((await run('cat; echo "$0"; echo a && echo b | tr b c')).text).toBe('sh\na\nc\n');
    expect((await run('pwd', ctx)).metadata?.working_dir).toBe(ctx.root);
  });

  test('fails with the exit code and keeps what was printed', async () => {
    const { text, error, metadata } = await run('echo x; echo y >&2; exit 3');
    expect(error).toEqual({ code: 'execution_failed', message: 'run_command failed: exit code 3' });
    expect(text).toBe('x\n\n\n[stderr]\ny\n');
    expect(metadata).toMatchObject({ exit_code: 3, stdout: 'x\n', stderr: 'y\n', stderr_lines: 1 });
  });

  test('names the signal that ended it', async () => {
    const { error, metadata } = await run('kill -KILL $$');
    expect(error?.message).toBe('run_command failed: ended by signal SIGKILL');
    expect(metadata).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
  });

  test('returns its output so far when it is stopped', async () => {
    const abort = new AbortController();
    const ctx = realContext({ signal: abort.signal });
    setTimeout(() => abort.abort(), 2_000);
    const { text, error } = await run('echo begun; sleep 30', ctx);
    expect(text).toBe('begun\n');
    expect(error?.message).toBe('run_command failed: stopped before its end');
  });

  test('repeats at most 4 KB of a stream in metadata, as whole characters from both ends', async () => {
    const { text, metadata } = await run("printf a; head -c 9000 /dev/zero | sed 's/\\x00/é/g'; printf z");
    expect(text).toHaveLength(9002);
    const stdout = String(metadata?.stdout);
    expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(4096 + 32);
    expect(stdout).toMatch(/^aé+\n\.\.\. \[cut\] \.\.\.\né+z$/);
    expect(metadata?.stdout_bytes).toBe(18_002);
    expect((await run('head -c 4096 /dev/zero | tr "\\0" x')).metadata?.stdout).toBe('x'.repeat(4096));
  });

  test('marks the place of the missing bytes in a huge output', async () => {
    const { text, metadata } = await run('head -c 3000000 /dev/zero | tr "\\0" x; echo end');
    expect(text).toMatch(/^x{524288}\n\.\.\. \[1951428 bytes left out\] \.\.\.\nx+end\n$/);
    expect(metadata).toMatchObject({ stdout_bytes: 3_000_004 });
    expect(metadata).not.toHaveProperty('stdout_lines');
  });

  test.each([
    [{ command: '' }, false],
    [{ command: ' \n' }, false],
    [{}, false],
    [{ command: 'ls', timeout: 5 }, false],
    [{ command: 'ls' }, true],
  ])('its schema checks %j', (args, ok) => {
    expect(accepts(tool, args)).toBe(ok);
  });

  test('always needs approval, as a command of high risk', () => {
    expect(tool.requiresApproval).toBe(true);
    expect(tool.risk).toBe('high');
    expect(tool.timeoutMs).toBeUndefined();
    expect(tool.effects?.({ command: 'ls' }, { cwd: '/' })).toEqual([
      { kind: 'run', command: 'ls', shell: 'sh' },
    ]);
    expect(tool.summarize?.({ command: 'ls -l' })).toBe('Run command: ls -l');
  });
});
