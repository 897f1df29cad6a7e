import { hash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../contract/call.js';
import type { JsonObject } from '../../contract/json.js';
import { openArchive } from '../../journal/open-archive.js';
import { openJournal } from '../../journal/open-journal.js';
import type { RedactArguments } from '../../journal/redaction/redaction-rules.js';
import { verifyJournal } from '../../journal/verify-journal.js';
import { hashArguments } from '../../schema/freeze-arguments.js';
import { builtinTools } from '../builtin-tools.js';
import { defineTool } from '../declare/define-tool.js';
import type { ExecutorOptions } from '../executor-options.js';
import { executorOf, folder } from '../fixtures/plan-fixture.js';

const SECRET = 'hunter2-Zebra"quoted" \\slash';
const MARKER = /^\[REDACTED hmac-sha256:[A-Za-z0-9_-]{43}\]$/;

/** A root, a journal beside it, and executors that act as several processes. */
function place(redactArguments: RedactArguments, more: ExecutorOptions = {}) {
  const home = folder();
  const root = folder();
  const path = join(home, 'state', 'journal.db');
  const send = defineTool({
    name: 'send',
    aliases: ['Send'],
    description: 'Sends.',
    input: { type: 'object' },
    effects: (args) => [{ kind: 'fetch', url: `https://example.test/?token=${String(args.token)}` }],
    execute: (args, ctx) => {
      void ctx.emit(`sending ${String(args.token)}\n`);
      return { text: `sent with ${String(args.token)}`, metadata: { used: String(args.token) } };
    },
  });
  const process = (): ReturnType<typeof executorOf> =>
    executorOf([...builtinTools(), send], {
      root,
      policy: null,
      approver: null,
      ...more,
      journal: { path, redactArguments },
    });
  /** Every file beside the journal, as it is on the disk. */
  const bytes = (): string =>
    readdirSync(join(home, 'state'))
      // The old versions for the undo of a command are there, and folders that are removed at the same time.
      .filter((name) => !name.endsWith('-transactions'))
      .flatMap((name) => filesIn(join(home, 'state', name)))
      .map((path) => readFileSync(path, 'latin1'))
      .join('\n');
  return { root, path, process, bytes };
}

function filesIn(path: string): readonly string[] {
  if (!lstatSync(path).isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesIn(join(path, name)));
}

/** Every form in which the secret could have been written. */
function traces(bytes: string, secret = SECRET): readonly string[] {
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret, 'utf16le').toString('latin1'),
  ];
  return forms.filter((form) => bytes.includes(form));
}

const send = (id: string, args: JsonObject): ToolCall => ({ id, name: 'send', args });

describe('an argument that the journal leaves out', () => {
  it('is in no byte of the database, its log and its index, nor is what repeats it', async () => {
    const { process, bytes, path } = place(['send/token']);
    const executor = process();
    const [result] = await executor.run([send('c1', { token: SECRET, to: 'anna' })], {
      conversation: 'c',
      message: { text: `I will use ${SECRET} now.` },
      origin: { raw: { name: 'send', arguments: JSON.stringify({ token: SECRET }) } },
    });
    // The caller receives the unredacted result.
    expect(result).toMatchObject({
      success: true,
      output: `sent with ${SECRET}`,
      metadata: { used: SECRET },
    });
    // While it is open, the entries of the log are not in the database yet.
    expect(traces(bytes())).toEqual([]);
    await executor.close();
    expect(traces(bytes())).toEqual([]);
    const archive = openArchive(path);
    const [batch] = archive.batches();
    const [call] = archive.calls(batch?.id ?? '');
    archive.close();
    expect(call?.args).toEqual({ token: expect.stringMatching(MARKER), to: 'anna' });
    expect(call?.result).toMatchObject({ output: 'sent with [REDACTED]', metadata: { redacted: true } });
    expect(call?.effects).toEqual([{ kind: 'fetch', url: 'https://example.test/?token=[REDACTED]' }]);
    expect(batch?.message?.text).toBe('I will use [REDACTED] now.');
    expect(await verifyJournal(path)).toMatchObject({ intact: true });
  });

  it('is recognised when the same call is delivered again, in this process and in another', async () => {
    const { process, bytes } = place(['send/token']);
    const first = process();
    await first.run([send('c1', { token: SECRET })], { conversation: 'c' });
    const [again] = await first.run([send('c1', { token: SECRET })], { conversation: 'c' });
    await first.close();
    const second = process();
    const [later] = await second.run([send('c1', { token: SECRET })], { conversation: 'c' });
    const [other] = await second.run([send('c1', { token: `${SECRET}!` })], { conversation: 'c' });
    expect(
      [again, later].map((one) => [one?.output, one?.metadata.replayed, one?.metadata.redacted]),
    ).toEqual([
      ['sent with [REDACTED]', true, true],
      ['sent with [REDACTED]', true, true],
    ]);
    expect(other?.error?.code).toBe('duplicate_tool_call_id');
    await second.close();
    expect(traces(bytes())).toEqual([]);
  });

  it('has another digest in another call, and under another key', async () => {
    const here = place(['send/token']);
    const there = place(['send/token']);
    const digests: unknown[] = [];
    for (const { process, path } of [here, there]) {
      const executor = process();
      await executor.run([send('c1', { token: SECRET }), send('c2', { token: SECRET })]);
      await executor.close();
      const archive = openArchive(path);
      digests.push(...archive.batches().flatMap(({ id }) => archive.calls(id).map(({ args }) => args.token)));
      archive.close();
    }
    expect(new Set(digests).size).toBe(4);
  });

  it('is recognised after the list of what is left out has changed', async () => {
    const { process, path, root } = place(['send/token']);
    const first = process();
    await first.run([send('c1', { token: SECRET, to: 'anna-the-second' })], { conversation: 'c' });
    await first.close();
    const later = executorOf(builtinTools(), {
      root,
      policy: null,
      approver: null,
      journal: { path, redactArguments: true },
    });
    const [result] = await later.run([send('c1', { token: SECRET, to: 'anna-the-second' })], {
      conversation: 'c',
    });
    expect(result?.metadata.replayed).toBe(true);
  });

  it('is left out of a call by an alias, of another call that repeats it, and of what a person writes instead', async () => {
    const { process, bytes } = place(['send/token'], {
      approver: (requests) => ({
        kind: 'approve_selected',
        ids: requests.map(({ callId }) => callId),
        edits: { c1: { token: `edited ${SECRET}` } },
      }),
    });
    const executor = process();
    const results = await executor.run([
      { id: 'c1', name: 'Send', args: { token: 'first-Value-9' } },
      send('c2', { to: `repeats edited ${SECRET}`, token: 'x' }),
      { id: 'c3', name: 'write_file', args: { path: 'a.txt', content: `has first-Value-9 in it` } },
    ]);
    expect(results.map(({ success }) => success)).toEqual([true, true, true]);
    await executor.close();
    expect(traces(bytes(), 'first-Value-9')).toEqual([]);
  });
});

describe('a deferred call with arguments that the journal leaves out', () => {
  const asking = { policy: { mode: 'prompt' }, approver: () => ({ kind: 'approve_all' as const }) } as const;

  it('is run by the process that deferred it', async () => {
    const { process, bytes } = place(['send/token'], asking);
    const executor = process();
    const [put] = await executor.run([send('c1', { token: SECRET })], { conversation: 'c', defer: true });
    const batch = String(put?.metadata.waits_for);
    expect(traces(bytes())).toEqual([]);
    expect((await executor.waiting())[0]?.requests[0]?.args).toEqual({ token: SECRET });
    const [result] = await (await executor.approve(batch)).results;
    expect(result?.output).toBe(`sent with ${SECRET}`);
    await executor.close();
    expect(traces(bytes())).toEqual([]);
  });

  it('is shown by another process, which says that it cannot run it, and can give it up', async () => {
    const { process, bytes } = place(['send/token'], asking);
    const first = process();
    const [put] = await first.run([send('c1', { token: SECRET })], { conversation: 'c', defer: true });
    const batch = String(put?.metadata.waits_for);
    const second = process();
    const [request] = (await second.waiting())[0]?.requests ?? [];
    expect(request?.args).toEqual({ token: expect.stringMatching(MARKER) });
    expect(request?.reason).toContain("the call's arguments were left out of the journal");
    await expect(second.approve(batch)).rejects.toMatchObject({
      code: 'bad_args',
      message: expect.stringContaining('Only the process that deferred it can run it'),
      details: { callId: 'c1' },
    });
    // This decided nothing.
    expect(await second.waiting()).toHaveLength(1);
    await second.decide(batch, 'discard');
    expect(await first.waiting()).toEqual([]);
    await Promise.all([first.close(), second.close()]);
    expect(traces(bytes())).toEqual([]);
  });
});

describe('a file that is written with contents that the journal leaves out', () => {
  const write = (id: string, content: string, path = 'a.txt'): ToolCall => ({
    id,
    name: 'write_file',
    args: { path, content, mode: 'overwrite' },
  });

  it('is not kept for an undo, which says so; other calls are undone as ever', async () => {
    const { process, bytes, root } = place(['write_file/content']);
    writeFileSync(join(root, 'old.txt'), 'Old-Content-1');
    const executor = process();
    await executor.run([
      write('c1', SECRET),
      write('c2', 'Other-Secret-2', 'old.txt'),
      { id: 'c3', name: 'write_file', args: { path: 'b.txt', content: 'harmless' } },
    ]);
    // The old content for the second write is the content from the first.
    await executor.run([write('c4', 'Third-Secret-3')]);
    for (const id of ['c1', 'c2', 'c4']) {
      const { restored, skipped } = await executor.undo(id);
      expect(restored).toEqual([]);
      expect(skipped.map(({ reason }) => reason)).toEqual([
        "the call's arguments were left out of the journal",
      ]);
    }
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('Third-Secret-3');
    await executor.close();
    const all = bytes();
    for (const secret of [SECRET, 'Other-Secret-2', 'Third-Secret-3'])
      expect(traces(all, secret)).toEqual([]);
  });

  it('is not kept by a call that is recorded whole and changes it, either', async () => {
    const { process, bytes, root } = place(['write_file/content']);
    const executor = process();
    await executor.run([write('c1', `first\n${SECRET}\nlast\n`)]);
    const [edited] = await executor.run([
      { id: 'c2', name: 'edit_file', args: { path: 'a.txt', old_string: 'last', new_string: 'end' } },
    ]);
    expect(edited?.success).toBe(true);
    const { restored, skipped } = await executor.undo('c2');
    expect([restored, skipped.length]).toEqual([[], 1]);
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toContain('end');
    await executor.close();
    expect(traces(bytes())).toEqual([]);
  });
});

describe('redactArguments', () => {
  it('true leaves out every argument, even of unknown tools', async () => {
    const { process, bytes } = place(true);
    const executor = process();
    await executor.run([
      { id: 'c1', name: 'nothing_of_ours', args: { a: { b: [SECRET, 471_199] } } },
      { id: 'c2', name: 'bash', args: { command: `echo ${SECRET.slice(0, 13)} > made-Up-Name.txt` } },
      { id: 'c3', name: 'write_file', args: { path: 'x.txt' } },
    ]);
    await executor.close();
    const all = bytes();
    expect(traces(all)).toEqual([]);
    const command = `echo ${SECRET.slice(0, 13)} > made-Up-Name.txt`;
    expect(all).not.toContain(hash('sha256', command));
    expect(all).not.toContain(hashArguments({ command }));
    expect(['471199', SECRET.slice(0, 13), 'made-Up-Name'].filter((part) => all.includes(part))).toEqual([]);
  });

  it('holds for the whole output that lies beside the journal', async () => {
    const { process, bytes } = place(['bash/command'], { output: { maxBytes: 500 } });
    const executor = process();
    const command = `printf 'line %s\\n' $(seq 900)\ncat <<E\nSecret-Zebra-9 it is\nE\nexit 3`;
    const [result] = await executor.run([{ id: 'c1', name: 'bash', args: { command } }]);
    expect(result?.outputRef).toBeDefined();
    const all = bytes();
    expect(all).toContain('line 450');
    expect(all).not.toContain('Secret-Zebra-9 it is');
    await executor.close();
  });

  it('lets no probe look for what is not there: a call that was cut off is unknown', async () => {
    const { path, root, bytes } = place(false);
    const options = { redactArguments: ['put/text'] };
    const journal = openJournal(path, options);
    const entry = { callId: 'c1', toolName: 'put', args: { text: SECRET }, effects: [], reason: '' } as const;
    const batch = { id: 'batch-1', conversation: 'c', attach: true, at: 1 };
    await journal.accept({ ...batch, calls: [{ ...entry, disposition: 'execute_now' }] });
    await journal.claim('batch-1/0', { id: 'dead', pid: 2 ** 22 + 1, startedAt: 1 }, 1);
    await journal.close();
    const asked: unknown[] = [];
    const put = defineTool({
      name: 'put',
      description: 'Puts.',
      input: { type: 'object' },
      execute: () => 'ok',
      probe: (args) => {
        asked.push(args);
        return 'not_applied';
      },
    });
    const executor = executorOf([put], { root, journal: { path, ...options } });
    const [recovered] = await executor.recover();
    expect(recovered?.calls[0]?.result?.error?.code).toBe('outcome_unknown');
    expect(asked).toEqual([]);
    expect(traces(bytes())).toEqual([]);
  });

  it('hides a key that was a part of a command wherever it comes again', async () => {
    const { process, bytes } = place(['bash/command']);
    const executor = process();
    const results = await executor.run(
      [
        { id: 'c1', name: 'bash', args: { command: 'echo "user:tok-Zebra-99" > out.txt' } },
        { id: 'c2', name: 'read_file', args: { path: 'out.txt' } },
        { id: 'c3', name: 'write_file', args: { path: 'b.txt', content: 'see tok-Zebra-99' } },
      ],
      { message: { text: 'I log in with tok-Zebra-99.' } },
    );
    expect(results[1]?.output).toContain('tok-Zebra-99');
    await executor.close();
    expect(bytes()).not.toContain('tok-Zebra-99');
  });

  it('keeps calls that are still coming in without them, and the answer of one that cannot be read', async () => {
    const { process, bytes } = place(['send/token']);
    const executor = process();
    const incoming = executor.receive({ conversation: 'c' });
    await incoming.add([send('c1', { token: SECRET })], `saying ${SECRET}`);
    expect(traces(bytes())).toEqual([]);
    const [result] = await incoming.start().results;
    expect(result?.output).toBe(`sent with ${SECRET}`);
    await executor.close();
    expect(traces(bytes())).toEqual([]);
  });

  it('holds for a journal in memory, and for the messages of a conversation in any shape', async () => {
    const { process, bytes } = place(['send/token']);
    const executor = process();
    await executor.transcript('c').add('assistant', {
      message: {
        calls: [{ id: 'c1', name: 'send', args: { token: SECRET } }],
        native: {
          content: [
            { type: 'text', text: `with ${SECRET}` },
            { type: 'tool_use', id: 'c1', name: 'send', input: { token: SECRET, pin: 1 } },
            {
              type: 'function',
              function: { name: 'send', arguments: `{"token": ${JSON.stringify(SECRET)}` },
            },
          ],
        },
      },
    });
    expect(traces(bytes())).toEqual([]);
    const [entry] = await executor.transcript('c').read();
    expect(JSON.stringify(entry)).toContain('"pin":1');
    const memory = executorOf(builtinTools(), { journal: { redactArguments: true } });
    await memory.run([{ id: 'c1', name: 'read_file', args: { path: 'nowhere.txt' } }], { conversation: 'c' });
    expect((await memory.recover()).length).toBe(0);
  });

  it.each([
    ['password', 'write "/password" for this argument of every tool'],
    ['send/', 'a name is missing'],
    ['sénd/x', 'no tool has such a name'],
    ['/a~2', '"~" is written as "~0"'],
  ])('refuses %j, which would leave out nothing', (pattern, why) => {
    expect(() =>
      executorOf([], { journal: { path: join(folder(), 'j.db'), redactArguments: [pattern] } }),
    ).toThrow(why);
  });

  it('cannot be read with an invalid key', async () => {
    const { process, path } = place(['send/token']);
    await process().close();
    const { mkdirSync } = await import('node:fs');
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(`${path}-key`, 'no key');
    const [result] = await process().run([send('c1', { token: SECRET })]);
    expect(result?.error).toMatchObject({ code: 'journal_unavailable', details: { executed: 'no' } });
    expect(`${result?.error?.hint}`).toContain('is not the key of a journal');
  });
});
