import { readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import type { Executor } from '../../contract/executor.js';
import type { JsonObject } from '../../contract/json.js';
import { builtinTools } from '../../executor/builtin-tools.js';
import { executorOf, folder } from '../../executor/fixtures/plan-fixture.js';
import { runProgram } from '../../executor/fixtures/run-program.js';

interface Desk {
  readonly root: string;
  readonly executor: Executor;
  call(name: string, args: JsonObject): Promise<ToolResult>;
  text(path: string): string;
}

function desk(): Desk {
  const root = folder();
  const executor = executorOf(builtinTools(), { root, approver: null });
  return {
    root,
    executor,
    call: (name, args) => executor.execute(name, args, { conversation: 'c' }),
    text: (path) => readFileSync(join(root, path), 'utf8'),
  };
}

describe('edit_file through the executor', () => {
  it('edits by every name of it, and a second time', async () => {
    const { root, call, text } = desk();
    writeFileSync(join(root, 'f'), 'a\n');
    await call('read_file', { path: 'f' });
    for (const [name, old_string, new_string] of [
      ['edit_file', 'a', 'b'],
      ['Edit', 'b', 'c'],
      ['edit', 'c', 'd'],
    ] as const) {
      expect(await call(name, { path: 'f', old_string, new_string })).toMatchObject({
        success: true,
        toolName: name,
        output: 'Successfully replaced 1 occurrence(s) in f',
      });
    }
    expect(text('f')).toBe('d\n');
  });

  it('is asked for as a side effect, and answered unasked where it could not be', async () => {
    const { executor } = desk();
    const edit = (id: string, args: JsonObject) => ({ id, name: 'edit_file', args });
    const { calls } = await executor.plan([
      edit('1', { path: 'f', old_string: 'a', new_string: 'b' }),
      edit('2', { path: 'f', old_string: '', new_string: 'b' }),
      edit('3', { path: 'f', old_string: 'a', new_string: '[REDACTED]' }),
      edit('4', { path: '.ssh/config', old_string: 'a', new_string: 'b' }),
    ]);
    expect(
      calls.map(({ disposition, risk, summary, result }) => [
        disposition,
        risk,
        summary,
        result?.error?.code,
      ]),
    ).toEqual([
      ['requires_confirmation', 'medium', 'Edit f', undefined],
      ...['bad_args', 'bad_args', 'sandbox_violation'].map((code) => [
        'pre_resolved',
        expect.anything(),
        expect.anything(),
        code,
      ]),
    ]);
  });

  it('names the pattern that denies a path, and does not follow a link out', async () => {
    const { root, call } = desk();
    symlinkSync('/etc/hosts', join(root, 'out'));
    for (const path of ['.env', 'k/key.pem', '.ssh/id', '../x', '/etc/hosts', 'out']) {
      const { error } = await call('edit_file', { path, old_string: 'a', new_string: 'b' });
      expect(error?.code, path).toBe('sandbox_violation');
    }
    const { error } = await call('edit_file', { path: 'k/key.pem', old_string: 'a', new_string: 'b' });
    expect(error?.message).toContain('**/*.pem');
  });

  it('refuses to overwrite or edit what changed since it was read, and writes no marker of ours', async () => {
    const { root, call, text } = desk();
    writeFileSync(join(root, 'f'), 'mine');
    await call('read_file', { path: 'f' });
    writeFileSync(join(root, 'f'), 'theirs');
    const edit = await call('edit_file', { path: 'f', old_string: 'theirs', new_string: 'x' });
    const overwrite = await call('write_file', { path: 'f', content: 'x', mode: 'overwrite' });
    expect([edit.error?.code, overwrite.error?.code]).toEqual(['stale_file', 'stale_file']);
    const marked = await call('write_file', { path: 'n', content: 'key=[REDACTED]\n' });
    expect(marked.error).toMatchObject({ code: 'bad_args', details: { executed: 'no' } });
    expect([text('f'), readdirSync(root)]).toEqual(['theirs', ['f']]);
  });

  it('loses no edit of several processes that edit one file at once', { timeout: 120_000 }, async () => {
    const root = folder();
    writeFileSync(join(root, 'f'), 'first\n// end\n');
    const [processes, edits] = [3, 15];
    const programs = Array.from({ length: processes }, (_, worker) =>
      runProgram(`
        const executor = createExecutor({ root: ${JSON.stringify(root)}, approver: null, journal: false });
        let stale = 0;
        for (let edit = 0; edit < ${edits}; edit++) {
          for (;;) {
            const line = 'line ${worker} ' + edit + '\\n';
            const by = edit % 3;
            const options = { conversation: 'c' };
            await executor.execute('read_file', { path: 'f' }, options);
            const result =
              by === 0 ? await executor.execute('edit_file', { path: 'f', old_string: '// end\\n', new_string: line + '// end\\n' }, options)
              : by === 1 ? await executor.execute('apply_patch', { patch: 'LP1\\nF f\\nP\\n// end\\n.\\n' + line + '.\\nF w${worker}-' + edit + '\\nT\\nx\\n.\\nEND\\n' }, options)
              : await executor.execute('write_file', { path: 'f', content: line, mode: 'append' }, options);
            if (result.success) break;
            if (result.error.code !== 'stale_file') throw new Error(JSON.stringify(result.error));
            stale++;
          }
        }
        await executor.close();
        console.log(stale);
      `),
    );
    for (const { code, stderr } of await Promise.all(programs)) expect([code, stderr]).toEqual([0, '']);
    const lines = readFileSync(join(root, 'f'), 'utf8').split('\n');
    const expected = Array.from(
      { length: processes * edits },
      (_, at) => `line ${at % processes} ${Math.floor(at / processes)}`,
    );
    expect(expected.filter((line) => lines.filter((other) => other === line).length !== 1)).toEqual([]);
    expect(readdirSync(root).filter((name) => name.startsWith('.toolexec'))).toEqual([]);
  });
});
