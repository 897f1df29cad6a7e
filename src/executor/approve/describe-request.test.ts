import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalRequest } from '../../contract/approval.js';
import type { Executor } from '../../contract/executor.js';
import type { Picture } from '../../contract/picture.js';
import type { Tool } from '../../contract/tool.js';
import { systemClock } from '../../platform/clock/clock.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { describeRequest } from './describe-request.js';

let root: string;
let asked: ApprovalRequest[];
const opened: Executor[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-picture-')));
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\n');
  asked = [];
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
  rmSync(root, { recursive: true, force: true });
});

function open(options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({
    root,
    sandbox: { os: 'off' },
    approver: (requests) => {
      asked.push(...requests);
      return { kind: 'deny_all' };
    },
    ...options,
  });
  opened.push(executor);
  return executor;
}

/** The picture of one call, as the approver receives it; the plan shows the same. */
async function pictureOf(name: string, args: Tool['input'] & object, own?: Tool): Promise<Picture> {
  const executor = open({ tools: own === undefined ? builtinTools() : [own] });
  const call = { id: 'c', name, args: args as never };
  const { calls } = await executor.plan([call]);
  await executor.run([call]);
  const [request] = asked;
  const [planned] = calls;
  if (request === undefined || planned === undefined) throw new Error('nothing was asked');
  expect(describeRequest(planned).parts).toEqual(describeRequest(request).parts);
  return describeRequest(request);
}

describe('the picture of a call that changes files', () => {
  it('is the difference that an edit makes', async () => {
    const picture = await pictureOf('edit_file', { path: 'a.txt', old_string: 'two', new_string: '2' });
    expect(picture).toMatchObject({ title: 'edit_file · Edit a.txt', risk: 'medium', dangerous: false });
    expect(picture.parts).toEqual([{ kind: 'diff', path: 'a.txt', before: 'one\ntwo\n', after: 'one\n2\n' }]);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  it.each([
    [
      'a new file',
      { path: 'sub/new.txt', content: 'new\n' },
      { kind: 'file', path: 'sub/new.txt', text: 'new\n' },
    ],
    [
      'what overwriting replaces',
      { path: 'a.txt', content: 'new\n', mode: 'overwrite' },
      { kind: 'diff', path: 'a.txt', before: 'one\ntwo\n', after: 'new\n' },
    ],
    [
      'what is appended, at its place',
      { path: 'a.txt', content: 'three\n', mode: 'append' },
      { kind: 'diff', path: 'a.txt', before: 'one\ntwo\n', after: 'one\ntwo\nthree\n' },
    ],
  ])('is %s', async (_, args, part) => {
    expect((await pictureOf('write_file', args)).parts).toEqual([part]);
  });

  it('reads no large file to show that it is overwritten or added to', async () => {
    writeFileSync(join(root, 'large.txt'), 'x'.repeat(70 * 1024 * 1024));
    const overwrite = { path: 'large.txt', content: 'y', mode: 'overwrite' };
    expect((await pictureOf('write_file', overwrite)).parts).toEqual([
      {
        kind: 'unshown',
        path: 'large.txt',
        why: 'it is too large to be shown',
        bytesBefore: 70 * 1024 * 1024,
        bytesAfter: 1,
      },
    ]);
    asked = [];
    const append = { ...overwrite, mode: 'append' };
    expect((await pictureOf('write_file', append)).parts).toEqual([{ kind: 'arguments', json: append }]);
  });

  it('says why the call would fail', async () => {
    const edit = { path: 'a.txt', old_string: 'nowhere', new_string: 'x' };
    expect((await pictureOf('edit_file', edit)).parts).toEqual([
      { kind: 'problem', text: expect.stringContaining('old_string not found in a.txt') },
      { kind: 'arguments', json: edit },
    ]);
    asked = [];
    const { parts } = await pictureOf('write_file', { path: 'a.txt', content: 'x' });
    expect(parts[0]).toEqual({
      kind: 'problem',
      text: expect.stringContaining('file already exists: a.txt'),
    });
  });

  it('shows each file of a patch, a move as one thing, and calls a deletion dangerous', async () => {
    writeFileSync(join(root, 'gone.txt'), 'gone\n');
    writeFileSync(join(root, 'old.txt'), 'moved\n');
    const patch = [
      '*** Begin Patch',
      '*** Update File: a.txt',
      '@@',
      '-one',
      '+1',
      '*** Delete File: gone.txt',
      '*** Update File: old.txt',
      '*** Move to: new.txt',
      '@@',
      '-moved',
      '+moved on',
      '*** End Patch',
    ].join('\n');
    const picture = await pictureOf('apply_patch', { patch });
    expect(picture.parts).toEqual([
      { kind: 'diff', path: 'a.txt', before: 'one\ntwo\n', after: '1\ntwo\n' },
      { kind: 'diff', path: 'gone.txt', before: 'gone\n', after: undefined },
      { kind: 'diff', path: 'new.txt', from: 'old.txt', before: 'moved\n', after: 'moved on\n' },
    ]);
    expect(picture.dangerous).toBe(true);
  });

  it('does not show content that is not text, or too large', async () => {
    writeFileSync(join(root, 'a.bin'), Buffer.from([0xff, 0x00]));
    const small = await pictureOf('write_file', { path: 'a.bin', content: 'x', mode: 'overwrite' });
    expect(small.parts).toEqual([
      { kind: 'unshown', path: 'a.bin', why: 'it is not text', bytesBefore: 2, bytesAfter: 1 },
    ]);
    asked = [];
    const large = await pictureOf('write_file', { path: 'large.txt', content: 'x'.repeat(1024 * 1024 + 1) });
    expect(large.parts).toEqual([
      {
        kind: 'unshown',
        path: 'large.txt',
        why: 'it is too large to be shown',
        bytesBefore: undefined,
        bytesAfter: 1024 * 1024 + 1,
      },
    ]);
  });
});

describe('the picture of a command', () => {
  it('marks what is taken away, and tells what each part touches', async () => {
    const { parts, dangerous } = await pictureOf('bash', { command: 'echo hi && rm -rf build' });
    expect(dangerous).toBe(true);
    expect(parts).toMatchObject([
      {
        kind: 'command',
        shell: 'bash',
        text: 'echo hi && rm -rf build',
        marks: [{ start: 11, end: 23, reason: expect.stringContaining('build') }],
        commands: [
          { words: ['echo', 'hi'], touches: [] },
          { words: ['rm', '-rf', 'build'], touches: [{ kind: 'delete', path: 'build' }] },
        ],
      },
    ]);
  });

  it('marks what is not understood', async () => {
    const { parts, dangerous } = await pictureOf('bash', { command: 'ls; $(cat script)' });
    expect(dangerous).toBe(true);
    expect(parts[0]).toMatchObject({ marks: [{ reason: expect.stringMatching(/./) }] });
  });

  it('is dangerous where nothing contains it, even if it is plain', async () => {
    expect(await pictureOf('bash', { command: 'git status' })).toMatchObject({
      risk: 'high',
      dangerous: true,
      containment: { transaction: false, network: true, undo: false },
    });
  });
});

describe('the picture of a tool of the host', () => {
  const base = {
    name: 'mine',
    description: 'mine',
    input: { type: 'object', properties: { n: { type: 'number' } } },
    effects: () => [{ kind: 'write', path: 'a.txt' }] as const,
    execute: () => 'done',
  } as const;

  it('is its arguments', async () => {
    expect((await pictureOf('mine', { n: 1 } as never, defineTool(base))).parts).toEqual([
      { kind: 'arguments', json: { n: 1 } },
    ]);
  });

  it('is what it says that it would change, and it can change nothing by saying so', async () => {
    const tool = defineTool({
      ...base,
      previewChanges: async (_args, { files }) => {
        await expect(files.write('a.txt', new Uint8Array(), { mode: 'overwrite' })).rejects.toThrow(
          'looked at',
        );
        return [{ path: 'a.txt', bytes: Buffer.from('new\n') }];
      },
    });
    expect((await pictureOf('mine', {} as never, tool)).parts).toEqual([
      { kind: 'diff', path: 'a.txt', before: 'one\ntwo\n', after: 'new\n' },
    ]);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('no idea')), 'no idea'],
    ['gives nonsense', () => 7 as never, /./],
  ])('says so where its preview %s', async (_, previewChanges, text) => {
    const { parts } = await pictureOf('mine', {} as never, defineTool({ ...base, previewChanges }));
    expect(parts[0]).toEqual({ kind: 'problem', text: expect.stringMatching(text) });
    expect(parts[1]).toEqual({ kind: 'arguments', json: {} });
  });

  it('does not wait for a preview that never ends', async () => {
    // Only the timer of the preview fires immediately.
    const clock = {
      ...systemClock,
      after: (ms: number, done: () => void) => systemClock.after(ms === 5_000 ? 0 : ms, done),
    };
    const tool = defineTool({ ...base, previewChanges: () => new Promise<never>(() => {}) });
    const executor = open({ tools: [tool], clock });
    await executor.run([{ id: 'c', name: 'mine', args: {} }]);
    expect(asked[0]?.parts?.[0]).toEqual({ kind: 'problem', text: expect.stringContaining('within 5 s') });
  });

  it('is dangerous where nobody can tell what it touches', async () => {
    const { effects: _, ...unknown } = base;
    expect((await pictureOf('mine', {} as never, defineTool(unknown))).dangerous).toBe(true);
  });
});

it('a request from elsewhere is described by what it says itself', () => {
  const request = {
    callId: 'c',
    toolName: 'bash\u001b[2J',
    summary: 'ls\u202e',
    risk: 'high',
    containment: { transaction: false, network: true, undo: false },
    args: { command: 'ls' },
    effects: [{ kind: 'run', command: 'ls', shell: 'bash' }],
    reason: 'because',
    shown: [],
  } as const;
  const picture = describeRequest(request);
  expect(picture.title).not.toMatch(/[\u001b\u202e]/);
  expect(picture).toMatchObject({ dangerous: true, parts: [{ kind: 'command', text: 'ls' }] });
});
