import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BashArgs, bashTool, shortenOutput } from './bash.js';
import { accepts, callTool } from './fixtures/call-tool.js';
import { realContext } from './fixtures/real-context.js';

const tool = bashTool();
const bash = (command: string, more: Omit<BashArgs, 'command'> = {}, ctx = realContext()) =>
  callTool(tool, { command, ...more }, ctx);

describe('bash', () => {
  test('returns the output of the command', async () => {
    const { text, error, metadata } = await bash('echo first && echo second');
    expect({ text, error }).toEqual({ text: 'first\nsecond\n', error: undefined });
    expect(metadata).toMatchObject({
      exit_code: 0,
      truncated: false,
      command: 'echo first && echo second',
      stdout_lines: 2,
      stderr_lines: 0,
    });
    expect(metadata?.duration_ms).toBeGreaterThanOrEqual(0);
    expect(metadata).not.toHaveProperty('description');
  });

  test('runs bash', async () => {
    expect((await bash('[[ abc == a* ]] && a=(1 2) && echo "$BASH" | grep -o bash')).text).toBe('bash\n');
  });

  test('succeeds with standard error after its marker', async () => {
    const { text, error } = await bash('echo error >&2');
    expect({ text, error }).toEqual({ text: '[stderr]\nerror\n', error: undefined });
    expect((await bash('echo out; echo err >&2')).text).toBe('out\n\n\n[stderr]\nerr\n');
  });

  test('fails with the exit code and keeps what was printed', async () => {
    const { text, error, metadata } = await bash('echo before; exit 1 && echo second');
    expect(error).toEqual({ code: 'execution_failed', message: 'Command failed with exit code 1' });
    expect(text).toBe('before\n');
    expect(metadata?.exit_code).toBe(1);
    expect((await bash('nonexistent_command_xyz')).metadata?.exit_code).toBe(127);
    expect((await bash('kill -TERM $$')).error?.message).toBe('Command failed: ended by signal SIGTERM');
  });

  test('runs in the given directory, and reports it', async () => {
    const ctx = realContext();
    mkdirSync(join(ctx.root, 'sub'));
    const { text, metadata } = await bash('pwd', { working_dir: 'sub' }, ctx);
    expect(text).toBe(`${ctx.root}/sub\n`);
    expect(metadata?.working_dir).toBe(join(ctx.root, 'sub'));
    expect((await bash('pwd', {}, ctx)).metadata?.working_dir).toBe(ctx.root);
  });

  test('records its description', async () => {
    const { metadata } = await bash('true', { description: 'Install dependencies' });
    expect(metadata?.description).toBe('Install dependencies');
  });

  test('cuts an output of over 30000 characters in the middle, and succeeds', async () => {
    const { text, error, metadata } = await bash('yes x | head -c 49990; printf "1234567890"');
    expect(error).toBeUndefined();
    expect(metadata).toMatchObject({ exit_code: 0, truncated: true, stdout_bytes: 50_000 });
    expect(text.slice(0, 30_000)).toBe('x\n'.repeat(15_000));
    expect(text.slice(30_000)).toMatch(
      /^\n\n\[Output truncated: 50000 characters in total;.*\]\n\n[\s\S]{1990}1234567890$/,
    );
  });

  test('keeps an output of exactly 30000 characters whole', async () => {
    const { text, metadata } = await bash('yes x | head -c 30000');
    expect(text).toHaveLength(30_000);
    expect(metadata?.truncated).toBe(false);
  });

  test('keeps the first 30000 characters of a huge output, and its end', async () => {
    const { text, metadata } = await bash('printf begin; yes 😀 | head -c 5000000; echo; echo end >&2');
    expect(metadata?.truncated).toBe(true);
    const shown = text.slice(0, text.indexOf('\n\n[Output truncated: 5000010 bytes in total'));
    expect(Array.from(shown)).toHaveLength(30_000);
    expect(text).toMatch(/^begin😀\n[\s\S]*\[stderr\]\nend\n$/);
    expect(text).not.toContain('\ufffd');
  });

  test('returns its output so far when it is stopped', async () => {
    const abort = new AbortController();
    const ctx = realContext({ signal: abort.signal });
    setTimeout(() => abort.abort(), 2_000);
    const { text, error } = await bash('echo begun; (sleep 30 & wait)', {}, ctx);
    expect(text).toBe('begun\n');
    expect(error?.message).toBe('Command failed: stopped before its end');
  });

  test.each([
    [{}, false],
    [{ command: ' ' }, false],
    [{ command: 'ls', timeout: 0 }, false],
    [{ command: 'ls', timeout: 600_001 }, false],
    [{ command: 'ls', timeout: 1.5 }, false],
    [{ command: 'ls', timeout: '5' }, false],
    [{ command: 'ls', working_dir: '' }, false],
    [{ command: 'ls', run_in_background: 'yes' }, false],
    [{ command: 'ls', run_in_background: true }, true],
    [{ command: 'ls', timeout: 1 }, true],
    [{ command: 'ls', timeout: 600_000, description: '', working_dir: '.' }, true],
  ])('its schema checks %j', (args, ok) => {
    expect(accepts(tool, args)).toBe(ok);
  });

  test('declares its timeout, and that it always needs approval', () => {
    const ask = typeof tool.timeoutMs === 'function' ? tool.timeoutMs : () => undefined;
    expect(ask({ command: 'x', timeout: 5 })).toBe(5);
    expect(ask({ command: 'x' })).toBeUndefined();
    expect(tool.defaultTimeoutMs).toBe(120_000);
    expect(tool.requiresApproval).toBe(true);
    expect(tool.aliases).toEqual(['Bash']);
  });

  test('declares the command, and the directory if one is given', () => {
    expect(tool.effects?.({ command: 'x' }, { cwd: '/' })).toEqual([
      { kind: 'run', command: 'x', shell: 'bash' },
    ]);
    expect(tool.effects?.({ command: 'x', working_dir: 'd' }, { cwd: '/' })).toEqual([
      { kind: 'run', command: 'x', shell: 'bash', cwd: 'd' },
    ]);
  });
});

describe('shortenOutput()', () => {
  test('leaves 30000 characters unchanged, even if they have more UTF-16 units', () => {
    for (const text of ['', 'x'.repeat(30_000), '😀'.repeat(30_000)]) {
      expect(shortenOutput(text)).toEqual({ text, truncated: false });
    }
  });

  test('shows a slightly longer text completely, without repeating a part', () => {
    const { text, truncated } = shortenOutput(`${'a'.repeat(30_000)}bc`);
    expect(truncated).toBe(true);
    expect(text).toMatch(
      /^a{30000}\n\n\[Output truncated: 30002 characters .* last 2 characters are shown\]\n\nbc$/,
    );
  });

  test('counts in bytes if the text itself is only a part', () => {
    expect(shortenOutput('x'.repeat(40_000), 9_000_000).text).toContain(
      '[Output truncated: 9000000 bytes in total',
    );
  });

  test('keeps the first 30000 and the last 2000 characters, and splits none', () => {
    const character = fc.constantFrom('a', 'é', '€', '😀');
    const text = fc
      .tuple(fc.array(character, { minLength: 1, maxLength: 7 }), fc.integer({ min: 32_000, max: 40_000 }))
      .map(([pattern, length]) => Array.from({ length }, (_, i) => pattern[i % pattern.length]).join(''));
    fc.assert(
      fc.property(text, (whole) => {
        const characters = [...whole];
        const { text: short } = shortenOutput(whole);
        expect(short.startsWith(`${characters.slice(0, 30_000).join('')}\n\n[Output truncated`)).toBe(true);
        expect(short.endsWith(`]\n\n${characters.slice(-2000).join('')}`)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
