// Requirements that no test of a single folder can show: each test uses the public entry points of the package, with
// real files and processes. docs/requirements.md names them.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ApprovalRequest, builtinTools } from '../../src/index.js';
import { OUTSIDE, withFolder } from './with-folder.js';

describe('bash in an executor', () => {
  it('reads its timeout in milliseconds: not in seconds, not in less (B007)', async () => {
    const { executor } = withFolder({ approver: null });
    const inTime = await executor.execute('bash', { command: 'sleep 0.3; echo done', timeout: 20_000 });
    expect(inTime).toMatchObject({ success: true, output: 'done\n' });
    const tooLong = await executor.execute('bash', { command: 'sleep 60', timeout: 100 });
    expect(tooLong.error).toMatchObject({ code: 'timeout', message: expect.stringContaining('100ms') });
  });

  it('starts in the background, is read, waited for, and read again (B047)', async () => {
    const { executor, root } = withFolder({ approver: null });
    const command = 'echo one; until [ -e go ]; do sleep 0.02; done; echo two';
    const { metadata } = await executor.execute('bash', { command, run_in_background: true });
    const read = () => executor.execute('bash_output', { bash_id: `${metadata.bash_id}` });
    const seen: string[] = [];
    await expect
      .poll(async () => {
        const { output, metadata: now } = await read();
        seen.push(output);
        return [seen.join('').includes('one'), now.is_running];
      })
      .toEqual([true, true]);
    expect(seen.join('')).not.toContain('two');
    const before = seen.length;
    writeFileSync(join(root, 'go'), '');
    await expect
      .poll(async () => {
        const { output, metadata: now } = await read();
        seen.push(output);
        return [now.status, now.exit_code];
      })
      .toEqual(['completed', 0]);
    const after = seen.slice(before).join('');
    expect(after).toContain('two');
    expect(after).not.toContain('one');
  });

  it('does what its four examples say: run, ask, time out, another directory (C053)', async () => {
    const asked: ApprovalRequest[] = [];
    const { executor, root } = withFolder({
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'approve_all' };
      },
    });
    const [hello, slow, there] = await executor.run([
      { id: '1', name: 'bash', args: { command: "echo 'Hello'" } },
      { id: '2', name: 'bash', args: { command: 'sleep 60', timeout: 50 } },
      { id: '3', name: 'bash', args: { command: 'pwd', working_dir: '.' } },
    ]);
    expect(asked.map(({ callId }) => callId)).toEqual(['1', '2', '3']);
    expect(hello).toMatchObject({ success: true, output: 'Hello\n', metadata: { exit_code: 0 } });
    expect(slow?.error?.code).toBe('timeout');
    expect(there).toMatchObject({ success: true, output: `${root}\n`, metadata: { working_dir: root } });
  });
});

describe('every built-in tool', () => {
  const names = builtinTools().map(({ name }) => name);
  const WRONG: readonly unknown[] = [
    {},
    null,
    undefined,
    [],
    'text',
    7,
    { path: 7, command: 7, pattern: 7, patch: 7, bash_id: 7, shell_id: 7 },
  ];

  it.each(names)('%s answers arguments of a wrong type with a result that says so (C043)', async (name) => {
    const { executor } = withFolder({ approver: null, policy: { denylist: [] } });
    for (const [index, args] of WRONG.entries()) {
      const wrong: unknown = { id: `c${index}`, name, args };
      const [result] = await executor.run([wrong as never]);
      expect([args, result?.success, result?.error?.code]).toEqual([args, false, 'bad_args']);
    }
  });

  it.each(names)('%s is not run once its batch is cancelled (C043)', async (name) => {
    const { executor } = withFolder({ approver: null, policy: { denylist: [] } });
    const [result] = await executor.run([{ id: '1', name, args: {} }], { signal: AbortSignal.abort() });
    expect(result?.error).toMatchObject({ details: { executed: 'no' } });
  });

  it('of those that take a path refuses one that leaves the root (D050)', async () => {
    const { executor, root } = withFolder({ approver: null });
    writeFileSync(join(root, 'a.txt'), 'a');
    const patch = '*** Begin Patch\n*** Add File: ../outside.txt\n+x\n*** End Patch';
    const calls = [
      ['read_file', { path: OUTSIDE }],
      ['write_file', { path: OUTSIDE, content: 'x' }],
      ['edit_file', { path: OUTSIDE, old_string: 'a', new_string: 'b' }],
      ['apply_patch', { patch }],
      ['list_directory', { path: '..' }],
      ['glob', { pattern: '*', path: '..' }],
      ['grep', { pattern: 'a', path: '..' }],
      ['bash', { command: 'pwd', working_dir: '..' }],
    ] as const;
    const takesPath = ({ inputSchema }: { readonly inputSchema: object }): boolean =>
      /"(?:path|patch|working_dir)":/.test(JSON.stringify(inputSchema));
    const withPath = executor
      .definitions()
      .filter(takesPath)
      .map(({ name }) => name);
    expect(calls.map(([name]) => name).sort()).toEqual(withPath.sort());
    for (const [name, args] of calls) {
      const { error } = await executor.execute(name, args);
      expect([name, error?.code]).toEqual([name, 'sandbox_violation']);
    }
    expect(existsSync(join(root, OUTSIDE))).toBe(false);
  });

  it('that runs commands is marked: asked for at high risk, and the result says what contained it (D050)', async () => {
    const asked: ApprovalRequest[] = [];
    const { executor } = withFolder({
      policy: { denylist: [] },
      sandbox: { os: 'off' },
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'approve_all' };
      },
    });
    for (const name of ['bash', 'run_command']) {
      const { metadata } = await executor.execute(name, { command: 'true' });
      expect(metadata.sandbox).toMatchObject({ kind: 'none', wall: 'none' });
    }
    expect(asked.map(({ risk }) => risk)).toEqual(['high', 'high']);
  });

  it('caches read_file, grep and glob, and no other tool (C017)', () => {
    const cacheable = builtinTools().filter((tool) => tool.cacheable === true);
    expect(cacheable.map(({ name }) => name).sort()).toEqual(['glob', 'grep', 'read_file']);
  });
});

describe('calls of one tool that run side by side', () => {
  it('are answered each with its own result (C043)', async () => {
    const { executor, root } = withFolder({});
    const numbers = Array.from({ length: 40 }, (_, index) => `${index}`);
    for (const number of numbers) writeFileSync(join(root, number), `content ${number}`);
    const outputs = await Promise.all(numbers.map((path) => executor.invoke('read_file', { path })));
    expect(outputs).toEqual(numbers.map((number) => `content ${number}`));
  });
});

describe('the host program', () => {
  it('continues while a command runs (D003)', async () => {
    const { executor, root } = withFolder({ approver: null });
    // The command ends only after the host program has created a file.
    const going = executor.execute('bash', { command: 'until [ -e go ]; do sleep 0.02; done; echo gone' });
    setTimeout(() => writeFileSync(join(root, 'go'), ''), 20);
    expect((await going).output).toBe('gone\n');
  });
});
