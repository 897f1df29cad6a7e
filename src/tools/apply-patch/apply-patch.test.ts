import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../../contract/call.js';
import { builtinTools } from '../../executor/builtin-tools.js';
import { createExecutor } from '../../executor/create-executor.js';
import { defineTool } from '../../executor/declare/define-tool.js';
import type { ExecutorOptions } from '../../executor/executor-options.js';
import { executorOf, folder, snapshot } from '../../executor/fixtures/plan-fixture.js';
import { filesRead } from '../files-read.js';

interface Desk {
  readonly root: string;
  patch(...lines: readonly string[]): Promise<ToolResult>;
  read(path: string): Promise<ToolResult>;
  put(path: string, content: string): void;
  text(path: string): string;
}

function desk(options: ExecutorOptions = {}): Desk {
  const root = folder();
  const executor = executorOf(builtinTools(), { root, approver: null, ...options });
  const conversation = { conversation: 'c' };
  return {
    root,
    patch: (...lines) => executor.execute('apply_patch', { patch: `${lines.join('\n')}\n` }, conversation),
    read: (path) => executor.execute('read_file', { path }, conversation),
    put: (path, content) => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), content);
    },
    text: (path) => readFileSync(join(root, path), 'utf8'),
  };
}

const codeOf = ({ error }: ToolResult): string | undefined => error?.code;
/** The same change in the formats that contain the surrounding lines. */
const CARRIED = {
  'Begin Patch': ['*** Begin Patch', '*** Update File: f', '@@', '-a', '+b', ' end', '*** End Patch'],
  'a unified diff': ['--- a/f', '+++ b/f', '@@ -1,2 +1,2 @@', '-a', '+b', ' end'],
};
const REPLACE = ['LP1', 'F f', 'R', 'a', '.', 'b', '.', 'END'];

describe('apply_patch', () => {
  it('changes and creates files, and answers with a line for each', async () => {
    const { patch, read, put, text } = desk();
    put('b', 'b\n');
    put('a', 'a\r\nx\r\n');
    for (const path of ['a', 'b']) await read(path);
    const result = await patch(
      ...['LP1', 'F b', 'R', 'b', '.', 'B', '.', 'F n/new', 'T', '1', '.', 'F a', 'I', 'a', '.', 'A', '.'],
      ...['F b', 'T', 'C', '.', 'F a', 'N +', 'END'],
    );
    expect(result.output).toBe('modified: b\ncreated: n/new\nmodified: a');
    expect(result.metadata).toMatchObject({
      format: 'lp1',
      files: [
        { path: 'b', status: 'modified', sha256_before: expect.stringMatching(/^[0-9a-f]{64}$/) },
        { path: 'n/new', status: 'created', sha256_before: null },
        { path: 'a', status: 'modified' },
      ],
    });
    expect([text('b'), text('n/new'), text('a')]).toEqual(['B\nC\n', '1\n', 'a\r\nA\r\nx\r\n']);
  });

  it('says if nothing changed, and then writes nothing', async () => {
    const { root, patch, read, put } = desk();
    put('f', 'a\n');
    await read('f');
    const before = snapshot(root);
    expect((await patch('LP1', 'F f', 'N +', 'END')).output).toBe('No changes applied.');
    expect((await patch('LP1', 'F f', 'F none', 'END')).output).toBe('No changes applied.');
    expect((await patch('LP1', 'END')).output).toBe('No changes applied.');
    expect(snapshot(root)).toEqual(before);
  });

  it('accepts patches in other formats, which can also delete and move', async () => {
    const { root, patch, read, put, text } = desk();
    put('old', '#!/bin/sh\nx\n');
    chmodSync(join(root, 'old'), 0o755);
    put('gone', 'g\n');
    for (const path of ['old', 'gone']) await read(path);
    const begun = await patch(
      ...['*** Begin Patch', '*** Update File: old', '*** Move to: bin/new', '@@', ' #!/bin/sh', '-x', '+y'],
      ...['*** Delete File: gone', '*** Add File: added', '+1', '*** End Patch'],
    );
    expect(begun.output).toBe('moved: old -> bin/new\ndeleted: gone\ncreated: added');
    expect([text('bin/new'), text('added'), existsSync(join(root, 'old'))]).toEqual([
      '#!/bin/sh\ny\n',
      '1\n',
      false,
    ]);
    expect(statSync(join(root, 'bin/new')).mode & 0o777).toBe(0o755);
    const diff = await patch('--- a/added', '+++ b/added', '@@ -1 +1,2 @@', ' 1', '+2');
    expect([diff.output, text('added')]).toEqual(['modified: added', '1\n2\n']);
  });

  it('needs approval for changes, always for deletions, and not for an unreadable patch', async () => {
    const executor = executorOf(builtinTools(), {
      policy: { allowlist: ['apply_patch'], mode: 'auto', promptSideEffects: false },
    });
    const patchOf = (id: string, patch: string) => ({ id, name: 'apply_patch', args: { patch } });
    const { calls } = await executor.plan([
      patchOf('1', REPLACE.join('\n')),
      patchOf('2', '*** Begin Patch\n*** Delete File: f\n*** End Patch'),
      patchOf('3', 'LP1\nF f\nE\na\n'),
      patchOf('4', ''),
      patchOf('5', 'LP1\nF f\nT\nkey=[REDACTED]\n.\nEND\n'),
      patchOf('6', 'LP1\nF ../f\nT\nx\n.\nEND\n'),
    ]);
    expect(calls.map(({ disposition, risk, result }) => [disposition, risk, result?.error?.code])).toEqual([
      ['execute_now', 'medium', undefined],
      ['requires_confirmation', 'high', undefined],
      ...['patch_failed', 'patch_failed', 'bad_args', 'sandbox_violation'].map((code) => [
        'pre_resolved',
        expect.anything(),
        code,
      ]),
    ]);
    expect(calls[1]?.summary).toBe('Apply patch to 1 file: f');
  });

  it('applies all or nothing', async () => {
    const { root, patch, read, put } = desk();
    put('a', 'a\n');
    put('mixed', 'b\n1\r\n');
    for (const path of ['a', 'mixed']) await read(path);
    const before = snapshot(root);
    const first = ['LP1', 'F a', 'R', 'a', '.', 'A', '.', 'F d/new', 'T', 'x', '.'];
    for (const second of [
      ['F mixed', 'T', 'x', '.'],
      ['F a', 'E', 'zzz', '.'],
      ['F none', 'E', 'x', '.'],
      ['F none', 'T', 'a', '.', 'R', 'a', '.', 'b', '.'],
    ]) {
      expect((await patch(...first, ...second, 'END')).success, second.join(' ')).toBe(false);
      expect(snapshot(root)).toEqual(before);
    }
  });

  it('bug: a file that would also be a directory was blamed on another program, after eight seconds', async () => {
    const { root, patch } = desk();
    const { error } = await patch('LP1', 'F x', 'T', '1', '.', 'F x/y', 'T', '2', '.', 'END');
    expect(error?.message).toContain('"x" would be a file and a directory');
    expect(snapshot(root)).toEqual([]);
  });

  it('checks the sandbox before it checks what was read', async () => {
    const { root, patch, put, read, text } = desk();
    put('a', 'a\n');
    put('k/id_rsa', 's\n');
    await read('a');
    symlinkSync('/etc/hosts', join(root, 'out'));
    symlinkSync('k', join(root, 'way'));
    for (const path of ['../f', '/etc/hosts', '.ssh/k', 'k/id_rsa', 'way/id_rsa', 'out', '.git/config']) {
      const result = await patch('LP1', 'F a', 'R', 'a', '.', 'A', '.', `F ${path}`, 'T', 's', '.', 'END');
      expect([path, codeOf(result)]).toEqual([path, 'sandbox_violation']);
    }
    mkdirSync(join(root, 'dir'));
    expect((await patch('LP1', 'F dir', 'T', 'x', '.', 'END')).error?.message).toContain('is a directory');
    const moved = await patch('*** Begin Patch', '*** Update File: a', '*** Move to: ../a', '*** End Patch');
    expect(codeOf(moved)).toBe('sandbox_violation');
    expect([text('a'), text('k/id_rsa')]).toEqual(['a\n', 's\n']);
  });

  it('treats two spellings of a path, and a link to it, as one file', async () => {
    const { root, patch, read, put, text } = desk();
    put('d/f', 'a\n');
    symlinkSync('d', join(root, 'way'));
    await read('d/f');
    const parts = ['d/f', './d//f', 'way/f'].flatMap((path, at) => [`F ${path}`, 'T', `${at}`, '.']);
    expect((await patch('LP1', ...parts, 'END')).output).toBe('modified: d/f');
    expect(text('d/f')).toBe('a\n0\n1\n2\n');
  });

  it('neither deletes nor moves a link, and never overwrites a file by creating one', async () => {
    const { root, patch, read, put } = desk();
    put('f', 'a\n');
    put('g', 'b\n');
    symlinkSync('f', join(root, 'link'));
    for (const path of ['f', 'g']) await read(path);
    const before = snapshot(root);
    for (const lines of [
      ['*** Delete File: link'],
      ['*** Update File: link', '*** Move to: l2'],
      ['*** Add File: f', '+x'],
      ['*** Update File: f', '*** Move to: g'],
      ['*** Delete File: none'],
    ]) {
      const result = await patch('*** Begin Patch', ...lines, '*** End Patch');
      expect([lines[0], codeOf(result)]).toEqual([lines[0], 'patch_failed']);
    }
    expect(snapshot(root)).toEqual(before);
  });

  it('has a size limit in bytes', async () => {
    const { patch, text } = desk();
    const sized = (bytes: number): string => {
      const [head, tail] = ['LP1\nF f\nT\n', '\n.\nEND\n'];
      const letters = bytes - head.length - tail.length - 2;
      return `${head}é${'x'.repeat(letters)}${tail}`.slice(0, -1);
    };
    expect(codeOf(await patch(sized(524_289)))).toBe('limit_exceeded');
    expect((await patch(sized(524_288))).output).toBe('created: f');
    expect(Buffer.byteLength(text('f'))).toBe(524_288 - 'LP1FfTEND'.length - '\n \n\n\n.\n\n'.length + 1);
  });

  it("follows the executor's option, whether smaller or larger, also in tools that the caller passes", async () => {
    for (const [max, options] of [
      [2000, {}],
      [2_000_000, { tools: builtinTools() }],
    ] as const) {
      await using executor = createExecutor({
        root: folder(),
        approver: null,
        limits: { maxApplyPatchBytes: max },
        ...options,
      });
      const text = (bytes: number): string => {
        const [head, end] = ['LP1\nF new.txt\nT\n', '\n.\nEND\n'];
        return head + 'x'.repeat(bytes - head.length - end.length) + end;
      };
      const over = await executor.execute('apply_patch', { patch: text(max + 1) });
      expect(over.error?.code).toBe('limit_exceeded');
      expect((await executor.execute('apply_patch', { patch: text(max) })).success).toBe(true);
    }
  });

  it('accepts ten thousand sections, but not ten thousand files', async () => {
    const { patch, text } = desk();
    const one = Array.from({ length: 10_000 }, (_, at) => ['F f', 'T', `${at}`, '.']);
    expect((await patch('LP1', ...one.flat(), 'END')).output).toBe('created: f');
    expect(text('f').split('\n')).toHaveLength(10_001);
    const many = Array.from({ length: 10_000 }, (_, at) => [`F f${at}`, 'T', '.']);
    expect(codeOf(await patch('LP1', ...many.flat(), 'END'))).toBe('limit_exceeded');
  });
});

describe('apply_patch and what was read', () => {
  it('refuses an LP1 patch of an existing file that this conversation has not read', async () => {
    const { root, patch, read, put, text } = desk();
    put('f', 'a\n');
    expect((await patch(...REPLACE)).error).toMatchObject({
      code: 'stale_file',
      message: expect.stringContaining('File was not read before patching'),
      details: { path: 'f', reason: 'File was not read before patching' },
    });
    await executorOf(builtinTools(), { root, approver: null }).execute('read_file', { path: 'f' });
    expect(codeOf(await patch(...REPLACE))).toBe('stale_file');
    await read('f');
    expect([(await patch(...REPLACE)).success, text('f')]).toEqual([true, 'b\n']);
  });

  it.each(Object.entries(CARRIED))(
    'accepts a patch in %s of a file that was never read, because its context matches',
    async (_, lines) => {
      const { patch, put, text } = desk();
      put('f', 'a\nother\n');
      const missed = await patch(...lines);
      expect([codeOf(missed), text('f')]).toEqual(['patch_failed', 'a\nother\n']);
      put('f', 'a\nend\n');
      expect([(await patch(...lines)).output, text('f')]).toEqual(['modified: f', 'b\nend\n']);
      expect(codeOf(await patch('LP1', 'F f', 'R', 'b', '.', 'c', '.', 'END'))).toBe(undefined);
    },
  );

  it.each(Object.entries(CARRIED))(
    'refuses a patch in %s of a file that was read and has changed since',
    async (_, lines) => {
      const { patch, read, put, text } = desk();
      put('f', 'a\n');
      await read('f');
      put('f', 'a\nend\n');
      expect([codeOf(await patch(...lines)), text('f')]).toEqual(['stale_file', 'a\nend\n']);
      await read('f');
      expect([codeOf(await patch(...lines)), text('f')]).toEqual([undefined, 'b\nend\n']);
    },
  );

  it('deletes and moves files that were never read, but none that changed after they were read', async () => {
    const { root, patch, read, put, text } = desk();
    const deletion = ['*** Begin Patch', '*** Delete File: f', '*** End Patch'];
    const move = ['*** Begin Patch', '*** Update File: g', '*** Move to: h', '*** End Patch'];
    for (const name of ['f', 'g']) {
      put(name, 'a\n');
      await read(name);
      put(name, 'theirs\n');
    }
    expect([codeOf(await patch(...deletion)), codeOf(await patch(...move))]).toEqual([
      'stale_file',
      'stale_file',
    ]);
    expect([text('f'), text('g')]).toEqual(['theirs\n', 'theirs\n']);
    const other = executorOf(builtinTools(), { root, approver: null });
    const results = await other.run(
      [deletion, move].map((lines, at) => ({
        id: `p${at}`,
        name: 'apply_patch',
        args: { patch: lines.join('\n') },
      })),
      { conversation: 'other' },
    );
    expect(results.map(({ output }) => output)).toEqual(['deleted: f', 'moved: g -> h']);
  });

  it('refuses a file only if its content has changed since', async () => {
    const { patch, read, put, text } = desk();
    put('f', 'a\n');
    await read('f');
    put('f', 'a\nmore\n');
    expect((await patch(...REPLACE)).error).toMatchObject({
      code: 'stale_file',
      details: { reason: 'File content changed since last read' },
    });
    expect(text('f')).toBe('a\nmore\n');
    put('f', 'a\n');
    expect((await patch(...REPLACE)).success).toBe(true);
  });

  it('counts files that it patched, created or moved as read', async () => {
    const { patch, read, put, text } = desk();
    put('f', 'a\n');
    await read('f');
    await patch(...REPLACE);
    await patch('LP1', 'F f', 'R', 'b', '.', 'c', '.', 'F n', 'T', '1', '.', 'END');
    await patch('LP1', 'F n', 'R', '1', '.', '2', '.', 'END');
    const moved = await patch('*** Begin Patch', '*** Update File: f', '*** Move to: g', '*** End Patch');
    expect(moved.output).toBe('moved: f -> g');
    expect((await patch('LP1', 'F g', 'T', 'd', '.', 'END')).success).toBe(true);
    expect([text('g'), text('n')]).toEqual(['c\nd\n', '2\n']);
  });

  it('records canonical path, hash and time, if the tools have a clock', async () => {
    const root = folder();
    writeFileSync(join(root, 'f'), 'a\n');
    symlinkSync('f', join(root, 'link'));
    const records: unknown[] = [];
    const look = defineTool({
      name: 'look',
      description: 'd',
      input: { type: 'object' },
      effects: () => [],
      execute: (_args, ctx) => {
        records.push([...filesRead(ctx.memory)]);
        return 'ok';
      },
    });
    const executor = executorOf([...builtinTools(), look], { root, approver: null });
    await executor.execute('read_file', { path: 'link' }, { conversation: 'c' });
    await executor.execute('look', {}, { conversation: 'c' });
    expect(records).toEqual([
      [[join(root, 'f'), expect.objectContaining({ sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })]],
    ]);
  });
});
