import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import type { Executor } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import { builtinTools } from '../executor/builtin-tools.js';
import { executorOf, folder } from '../executor/fixtures/plan-fixture.js';
import { runProgram } from '../executor/fixtures/run-program.js';
import { editFileTool } from './edit-file.js';
import { filesRead, sha256Of } from './files-read.js';
import { accepts, callTool, failureOf } from './fixtures/call-tool.js';
import { type RealContext, realContext } from './fixtures/real-context.js';
import { readFileTool } from './read-file/read-file.js';

const tool = editFileTool({ now: () => 7 });

function withFile(content: string | Uint8Array): RealContext {
  const ctx = realContext();
  writeFileSync(join(ctx.root, 'f'), content);
  return ctx;
}

const contentOf = (ctx: RealContext): string => readFileSync(join(ctx.root, 'f'), 'latin1');

describe('edit_file', () => {
  test.each<[string, string, string, string, boolean | undefined, string]>([
    ['replaces one text', 'Hello World\n', 'World', 'Universe', undefined, 'Hello Universe\n'],
    ['deletes', 'abc', 'b', '', undefined, 'ac'],
    [
      'takes $ literally',
      'price: X;',
      'X',
      "\x24{HOME} $(id) $& $1 $' $$",
      undefined,
      "price: \x24{HOME} $(id) $& $1 $' $$;",
    ],
    ['replaces all', 'foo bar foo baz foo', 'foo', 'qux', true, 'qux bar qux baz qux'],
    ['replaces all of what there is once', 'foo', 'foo', 'x', true, 'x'],
    ['replaces from the left', 'aaaaa', 'aa', 'b', true, 'bba'],
    ['does not replace what it has put there', 'aa', 'a', 'aa', true, 'aaaa'],
    ['goes over line ends', 'a\nb\nc\n', 'a\nb', 'x', undefined, 'x\nc\n'],
    ['keeps CRLF where the text has it', 'a\r\nb\r\n', 'a\r\nb', 'x\r\ny', undefined, 'x\r\ny\r\n'],
    ['may empty a file', 'all', 'all', '', undefined, ''],
  ])('%s', async (_what, before, old_string, new_string, all, after) => {
    const ctx = withFile(before);
    const replace_all = all === undefined ? {} : { replace_all: all };
    const { text } = await callTool(tool, { path: 'f', old_string, new_string, ...replace_all }, ctx);
    expect(contentOf(ctx)).toBe(after);
    expect(text).toMatch(/^Successfully replaced \d occurrence\(s\) in f$/);
  });

  test('reports the place, and the text before the edit', async () => {
    const ctx = withFile('a\nb\na\n');
    const args = { file_path: join(ctx.root, 'f'), old_string: 'a', new_string: 'x', replace_all: true };
    expect(await callTool(tool, args, ctx)).toEqual({
      text: `Successfully replaced 2 occurrence(s) in ${join(ctx.root, 'f')}`,
      metadata: {
        path: join(ctx.root, 'f'),
        replacements: 2,
        lines: [1, 3],
        sha256_before: sha256Of(Buffer.from('a\nb\na\n')),
        sha256_after: sha256Of(Buffer.from('x\nb\nx\n')),
      },
    });
  });

  test('keeps bytes that are not UTF-8', async () => {
    const ctx = withFile(Buffer.from('key=old\n\xff\xfe\0\n', 'latin1'));
    await callTool(tool, { path: 'f', old_string: 'old', new_string: 'neu' }, ctx);
    expect(contentOf(ctx)).toBe('key=neu\n\xff\xfe\0\n');
    // Nor does a replacement character match lost bytes.
    const lost = await failureOf(() =>
      callTool(tool, { path: 'f', old_string: '\ufffd', new_string: 'x' }, ctx),
    );
    expect(lost.message).toContain('not found');
  });

  test.each<[string, string, string, readonly string[]]>([
    ['what is not there', 'axb', 'a.b', ['not found in f']],
    ['an empty file', '', 'foo', ['not found in f', 'Nothing in the file is similar']],
    ['other line ends', 'a\r\nb\r\n', 'a\nb', ['not found', 'lines 1-2', 'line endings']],
    [
      'other indentation',
      'if x:\n\treturn\n',
      'if x:\n    return',
      ['lines 1-2', 'indentation', '+"\\treturn"'],
    ],
    [
      'something like it',
      'const alpha = 1;\nconst beta = 2;\n',
      'const alpha = 3;',
      ['nearest is at line 1', '+const alpha = 1;'],
    ],
    ['two places', 'a\nb\na\n', 'a', ['not unique', 'appears 2 times (lines 1, 3)', 'replace_all']],
    ['places that overlap', 'aaa', 'aa', ['not unique', 'appears 2 times', 'overlapping']],
    ['many places', 'x\n'.repeat(50), 'x', ['appears 50 times', '20 and 30 more']],
  ])('changes nothing for %s, and explains why', async (_what, before, old_string, words) => {
    const ctx = withFile(before);
    const error = await failureOf(() => callTool(tool, { path: 'f', old_string, new_string: 'new' }, ctx));
    expect(error.code).toBe('patch_failed');
    for (const word of words) expect(error.message).toContain(word);
    expect(contentOf(ctx)).toBe(before);
  });

  test('refuses an impossible edit before anything runs', async () => {
    const messages: (readonly [JsonObject, string])[] = [
      [{ path: 'f', old_string: '', new_string: 'x' }, "missing or invalid 'old_string' parameter"],
      [{ path: 'f', old_string: 'a', new_string: 'a' }, 'nothing would change'],
      [{ path: 'f', old_string: 'a', new_string: 'k=[REDACTED]' }, 'stands for a hidden value'],
      [{ old_string: 'a', new_string: 'b' }, 'give path'],
      [{ path: 'f', file_path: 'g', old_string: 'a', new_string: 'b' }, 'name different files'],
    ];
    for (const [args, message] of messages) {
      const error = await failureOf(() => tool.effects?.(args as never, { cwd: '/' }));
      expect([error.code, error.message]).toEqual(['bad_args', expect.stringContaining(message)]);
    }
  });

  test.each<[JsonObject, boolean]>([
    [{ path: 'f', old_string: 'a', new_string: 'b' }, true],
    [{ path: 'f', old_string: 'a', new_string: 'b', replace_all: false }, true],
    [{ path: 'f', old_string: 'a' }, false],
    [{ path: 'f', new_string: 'a' }, false],
    [{ path: ' ', old_string: 'a', new_string: 'b' }, false],
    [{ path: 1, old_string: 'a', new_string: 'b' }, false],
    [{ path: 'f', old_string: 'a', new_string: 'b', replace_all: 'yes' }, false],
    [{ path: 'f', old_string: 'a', new_string: 'b', extra: 1 }, false],
  ])('its schema checks %j', (args, ok) => {
    expect(accepts(tool, args)).toBe(ok);
  });

  test('reports a missing file, and a file that it cannot edit', async () => {
    const ctx = realContext();
    mkdirSync(join(ctx.root, 'd'));
    const edit = (path: string) =>
      failureOf(() => callTool(tool, { path, old_string: 'a', new_string: 'b' }, ctx));
    expect((await edit('none')).message).toBe('file not found: none. Use write_file to create it.');
    expect((await edit('d')).code).toBe('execution_failed');
    expect((await edit('../x')).code).toBe('sandbox_violation');
    expect(existsSync(join(ctx.root, 'none'))).toBe(false);
  });

  test('limits the size that a file can grow to', async () => {
    const ctx = withFile('a'.repeat(100_000));
    const args = { path: 'f', old_string: 'a', new_string: 'b'.repeat(10_000), replace_all: true };
    expect((await failureOf(() => callTool(tool, args, ctx))).code).toBe('limit_exceeded');
  });

  test('declares a write of its path, and names the path', () => {
    const args = { path: 'p', old_string: 'a', new_string: 'b' };
    expect(tool.effects?.(args, { cwd: '/' })).toEqual([{ kind: 'write', path: 'p' }]);
    expect(tool.summarize?.(args)).toBe('Edit p');
    expect(tool.summarize?.({ ...args, replace_all: true })).toBe('Edit p (every occurrence)');
    expect(tool.aliases).toEqual(['Edit', 'edit']);
  });
});

describe('edit_file and what was read', () => {
  const edit = { path: 'f', old_string: 'a', new_string: 'b' };

  test('edits a file that was never read, and counts it as read from then on', async () => {
    const ctx = withFile('a');
    await callTool(tool, edit, ctx);
    expect([...filesRead(ctx.memory)]).toEqual([
      [join(ctx.root, 'f'), { sha256: sha256Of(Buffer.from('b')), at: 7 }],
    ]);
    await callTool(tool, { path: 'f', old_string: 'b', new_string: 'c' }, ctx);
    expect(contentOf(ctx)).toBe('c');
  });

  test('refuses a file that has changed since it was read', async () => {
    const ctx = withFile('a');
    await callTool(readFileTool(), { path: 'f' }, ctx);
    writeFileSync(join(ctx.root, 'f'), 'a and more');
    const error = await failureOf(() => callTool(tool, edit, ctx));
    expect(error).toMatchObject({
      code: 'stale_file',
      details: { reason: 'File content changed since last read' },
    });
    expect(contentOf(ctx)).toBe('a and more');
  });
});

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
  test('works under all of its tool names, one call after another', async () => {
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

  test('needs approval as a side effect, and is refused without a question if it cannot work', async () => {
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

  test('names the pattern that denies a path, and does not follow a link out', async () => {
    const { root, call } = desk();
    symlinkSync('/etc/hosts', join(root, 'out'));
    for (const path of ['.env', 'k/key.pem', '.ssh/id', '../x', '/etc/hosts', 'out']) {
      const { error } = await call('edit_file', { path, old_string: 'a', new_string: 'b' });
      expect(error?.code, path).toBe('sandbox_violation');
    }
    const { error } = await call('edit_file', { path: 'k/key.pem', old_string: 'a', new_string: 'b' });
    expect(error?.message).toContain('**/*.pem');
  });

  test('refuses to overwrite or edit a file that changed since it was read, and never writes our markers', async () => {
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

  test('loses no edit when several processes edit one file at once', async () => {
    const root = folder();
    writeFileSync(join(root, 'f'), 'first\n// end\n');
    const [processes, edits] = [3, 6];
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
