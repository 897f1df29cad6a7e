import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createExecutor, type JsonObject, openJournal } from '../../src/index.js';
import { openSqlite } from '../../src/platform/sqlite/sqlite.js';
import { createTape } from '../../src/testing.js';
import { message, useToolexec } from './toolexec.js';

const toolexec = useToolexec();
let file: string;
beforeEach(() => {
  file = join(toolexec.folder, 'calls.db');
});

/** Runs these calls in conversations c1, c2, … */
async function record(...responses: readonly unknown[]): Promise<void> {
  for (const [at, response] of responses.entries()) {
    const args = ['run', '-', '--yes', '--journal', file, '--conversation', `c${at + 1}`];
    await toolexec.run(args, { stdin: JSON.stringify(response) });
  }
}

async function journal(...args: readonly string[]) {
  return toolexec.run(['journal', ...args, '--journal', file]);
}

const HELLO = message(['bash', { command: 'echo hello' }], ['bash', { command: 'exit 3' }]);
const HOSTILE = message(['bash', { command: "printf '\\033]0;title\\007x'" }]);

describe('a command that reads a journal', () => {
  it.each([
    ['journal list', 0, 'nothing is recorded'],
    ['journal show toolu_1', 2, 'holds no batch'],
    ['journal report', 0, ''],
    ['journal export', 0, ''],
    ['journal verify', 0, ''],
    ['journal prune --older-than 1d', 0, ''],
    ['journal recover', 0, 'is empty'],
    ['waiting', 0, 'is empty'],
    ['undo toolu_1', 2, 'is empty'],
    ['approve thread-7 --yes', 2, 'is empty'],
    ['repair', 0, 'nothing to mend'],
    ['tools list --metrics', 0, ''],
    ['serve token list', 0, 'is empty'],
  ])('leaves an empty file empty: %s', async (command, code, told) => {
    const empty = toolexec.write('empty/calls.db', '');
    const ran = await toolexec.run([...command.split(' '), '--journal', empty], {
      stdin: '[{"role":"user","content":"hi"}]',
    });
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining(told) });
    expect(readdirSync(dirname(empty))).toEqual(['calls.db']);
    expect(readFileSync(empty, 'utf8')).toBe('');
  });
});

describe('toolexec journal list and show', () => {
  it('list batches, newest first, with the outcomes of their calls', async () => {
    await record(HELLO, message(['no_such_tool', {}]));
    const { code, stdout } = await journal('list');
    expect(code).toBe(0);
    const [head, newest, oldest] = stdout.split('\n');
    expect(head).toMatch(/^WHEN +BATCH +CONVERSATION +CALLS +OUTCOME$/);
    expect(newest).toMatch(/^20\d\d-.* c2 +1 +1 not run$/);
    expect(oldest).toMatch(/ c1 +2 +1 ok, 1 failed$/);
    const listed = JSON.parse((await journal('list', '--json', '--limit', '1')).stdout);
    expect(listed).toEqual([
      expect.objectContaining({ conversation: 'c2', size: 1, decision: null, outcomes: { 'not run': 1 } }),
    ]);
    expect((await journal('list', '--conversation', 'none')).stderr).toBe('toolexec: nothing is recorded\n');
  });

  it('show a call, a batch and a conversation, and nothing in them controls the terminal', async () => {
    await record(HELLO, HOSTILE);
    const byCall = await journal('show', 'toolu_2');
    expect(byCall.code).toBe(0);
    expect(byCall.stdout).toMatch(/\[1\] ✗ bash \(toolu_2\) .*execution_failed/);
    expect(byCall.stdout).toContain('{"command":"exit 3"}');
    expect(byCall.stdout).not.toContain('toolu_1');
    const whole = JSON.parse((await journal('show', 'c1', '--json')).stdout);
    expect(whole.batches).toMatchObject([
      {
        conversation: 'c1',
        calls: [{ callId: 'toolu_1', result: { output: 'hello\n' } }, { state: 'done' }],
      },
    ]);
    const byBatch = await journal('show', String(whole.batches[0].id));
    expect(byBatch.stdout).toContain('effects  run echo hello');
    expect(byBatch.stdout).toContain('started  20');
    const hostile = await journal('show', 'c2');
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(hostile.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(await journal('show', 'none')).toMatchObject({ code: 2, stdout: '' });
  });

  it('say in one line what is missing', async () => {
    const none = await toolexec.run(['journal', 'show', 'x']);
    expect(none).toMatchObject({ code: 2, stdout: '' });
    expect(none.stderr).toContain('There is no journal yet');
    const bad = await toolexec.run(['journal', 'list', '--journal', toolexec.write('x', 'x'.repeat(2000))]);
    expect(bad).toMatchObject({ code: 2, stdout: '' });
    expect(bad.stderr.trim().split('\n')).toHaveLength(1);
  });
});

describe('toolexec journal, before anything was run', () => {
  const pruned = {
    batches: 0,
    calls: 0,
    messages: 0,
    blobs: 0,
    bytesBefore: 0,
    bytesAfter: 0,
    shrunk: false,
  };
  it.each([
    [['list'], '', []],
    [['export'], '', undefined],
    [['verify'], 'There is nothing to verify.\n', { intact: true, commits: 0, head: '', prunes: 0 }],
    [['prune', '--older-than', '1d'], 'There is nothing to remove.\n', { ...pruned, dryRun: false }],
  ])(
    'has nothing to %s: that is reported, not an error, and creates no journal',
    async (words, said, json) => {
      const plain = await toolexec.run(['journal', ...words]);
      expect(plain).toMatchObject({ code: 0, stdout: said });
      expect(plain.stderr).toMatch(/^toolexec: There is no journal yet: nothing was run here\. .*\n$/);
      if (json !== undefined) {
        const asJson = await toolexec.run(['journal', ...words, '--json']);
        expect([asJson.code, JSON.parse(asJson.stdout)]).toEqual([0, json]);
      }
      expect(existsSync(toolexec.state)).toBe(false);
      const place = join(toolexec.folder, 'none.db');
      const named = await toolexec.run(['journal', ...words, '--journal', place]);
      expect(named).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('no such file') });
      expect(existsSync(place)).toBe(false);
    },
  );
});

describe('toolexec journal export', () => {
  it('writes every record as a line with its kind, and serves as a tape', async () => {
    await record(HELLO, HELLO);
    await toolexec.run(['run', '-', '--yes', '--journal', file, '--conversation', 'c1'], {
      stdin: JSON.stringify(HELLO),
    });
    const { code, stdout } = await journal('export');
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line): JsonObject => JSON.parse(line));
    const kinds = lines.map(({ kind }) => kind).filter((kind) => kind !== 'note');
    expect(kinds.slice(0, 7)).toEqual(['conversation', 'batch', 'call', 'call', 'batch', 'repeat', 'repeat']);
    expect(lines.find(({ kind }) => kind === 'call')).toMatchObject({
      conversation: 'c1',
      batch: expect.any(String),
      index: 0,
      callId: 'toolu_1',
      toolName: 'bash',
      args: { command: 'echo hello' },
      state: 'done',
      result: { success: true, output: 'hello\n' },
      at: expect.any(Number),
    });
    const only = await journal('export', '--conversation', 'c2');
    expect(only.stdout.split('\n')[0]).toBe('{"kind":"conversation","id":"c2"}');
    const tape = createTape(only.stdout);
    await using executor = createExecutor({ ...tape.options });
    expect(await executor.invoke('bash', { command: 'echo hello' })).toBe('hello\n');
    await expect(executor.invoke('bash', { command: 'exit 3' })).rejects.toThrow('exit');
    tape.assertDone();
  });

  it('includes the files that a conversation has read, and the next command of the conversation knows them', async () => {
    const path = toolexec.write('root/notes.txt', 'mine\n');
    const turn = (id: string, name: string, args: JsonObject): Promise<{ stdout: string }> =>
      toolexec.run(['run', '-', '--yes', '--journal', file, '--conversation', 'talk'], {
        stdin: JSON.stringify([{ id, name, args }]),
      });
    await turn('r', 'read_file', { path });
    const lines = (await journal('export', '--conversation', 'talk')).stdout.trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      kind: 'fact',
      conversation: 'talk',
      key: expect.stringMatching(/^file:\/.*notes\.txt$/),
      value: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
      at: expect.any(Number),
    });
    toolexec.write('root/notes.txt', 'mine\nand the person’s\n');
    const { stdout } = await turn('e', 'edit_file', { path, old_string: 'mine', new_string: 'x' });
    expect(JSON.parse(stdout)).toMatchObject([{ success: false, error: { code: 'stale_file' } }]);
  });

  it('reads while another process writes', { tags: ['soak'] }, async () => {
    await record(HELLO);
    const writing = openJournal(file);
    const entry = { callId: 'x', toolName: 't', args: {}, effects: [], reason: '' };
    const calls = [{ ...entry, disposition: 'execute_now' as const }];
    let done = false;
    let written = 0;
    const writer = (async () => {
      for (; !done; written++) {
        await writing.accept({ id: `w${written}`, conversation: 'w', attach: false, at: 1, calls });
      }
    })();
    const ran: unknown[] = [];
    // On a busy machine the writer hardly runs.
    for (const before = written; written - before <= 10 || ran.length === 0; ) {
      const said = await Promise.all([journal('export'), journal('list'), journal('verify')]);
      ran.push(said.map(({ code }) => code));
    }
    done = true;
    await writer;
    await writing.close();
    expect(ran).toEqual(ran.map(() => [0, 0, 0]));
  });

  it('ends silently if its reader stops', { tags: ['soak'] }, async () => {
    await record(HELLO);
    const child = spawn(
      'sh',
      ['-c', `"$0" "$1" journal export --journal "$2" | head -1`, process.execPath, toolexec.main, file],
      {
        env: toolexec.environment(),
      },
    );
    let stderr = '';
    child.stderr.on('data', (chunk) => {
      stderr += String(chunk);
    });
    await new Promise((resolve) => child.once('close', resolve));
    expect(stderr).toBe('');
  });
});

describe('toolexec journal verify and prune', () => {
  it('finds changed records, names them, and exits 1', async () => {
    await record(HELLO);
    const intact = await journal('verify');
    expect(intact).toMatchObject({ code: 0, stderr: '' });
    expect(intact.stdout).toMatch(/^The journal is intact: \d+ commits\.\nhead [0-9a-f]{64}\n$/);
    const database = openSqlite(file);
    database.exec("UPDATE calls SET args = '{}'");
    database.close();
    const broken = await journal('verify');
    expect(broken.code).toBe(1);
    expect(broken.stdout).toMatch(/^The journal was changed, from commit \d+ on: /);
    expect(JSON.parse((await journal('verify', '--json')).stdout)).toMatchObject({
      intact: false,
      commit: 1,
    });
  });

  it('prunes by age and by size, and the journal is intact after that', { tags: ['soak'] }, async () => {
    await record(HELLO, HELLO, HELLO);
    expect((await journal('prune', '--older-than', '1d')).stdout).toBe('There is nothing to remove.\n');
    const said = await journal('prune', '--older-than', '0s', '--dry-run');
    expect(said.stdout).toMatch(/^Would remove 2 batches with 4 calls, and 0 messages: /);
    expect(JSON.parse((await journal('list', '--json')).stdout)).toHaveLength(3);
    const done = JSON.parse((await journal('prune', '--max-size', '1KB', '--json')).stdout);
    expect(done).toMatchObject({ batches: 2, calls: 4, dryRun: false });
    expect(JSON.parse((await journal('list', '--json')).stdout)).toMatchObject([{ conversation: 'c3' }]);
    expect((await journal('verify')).stdout).toContain('pruned ');
  });

  it.each([
    [[], 'Say what to remove'],
    [['--older-than', '30'], '30d'],
    [['--older-than', '-1d'], '30d'],
    [['--max-size', 'big'], '100MB'],
  ])('prune %j is wrong usage', async (args, why) => {
    const { code, stderr } = await journal('prune', ...args);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });
});

describe('a journal that has lost commits', () => {
  it('causes a warning on standard error, a failure of verify and a report of doctor, until it is accepted', {
    tags: ['soak'],
  }, async () => {
    await record(message(['bash', { command: 'echo hello' }]));
    rmSync(file);
    const gone = await journal('verify');
    expect(gone).toMatchObject({ code: 1, stdout: expect.stringContaining('The journal has lost commits') });
    await record(message(['bash', { command: 'echo again' }]));
    const listed = await journal('list');
    expect(listed).toMatchObject({ code: 0, stderr: expect.stringContaining('may have lost commits') });
    const again = await toolexec.run(['run', '-', '--yes', '--journal', file], {
      stdin: JSON.stringify(message(['bash', { command: 'echo more' }])),
    });
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('verify --accept') });
    const checks = await toolexec.run(['doctor', '--journal', file]);
    expect(checks.stdout).toContain('has lost records');
    expect((await journal('verify', '--json')).stdout).toContain('"lost":true');
    expect(await journal('verify', '--accept')).toMatchObject({ code: 0 });
    expect(await journal('verify')).toMatchObject({ code: 0, stderr: '' });
  });

  it('runs nothing if the configuration says refuse', async () => {
    await record(message(['bash', { command: 'echo hello' }]));
    rmSync(file);
    const config = join(toolexec.folder, 'refuse.toml');
    writeFileSync(config, '[journal]\non_loss = "refuse"\n');
    const refused = await toolexec.run(['run', '-', '--yes', '--journal', file, '--config', config], {
      stdin: JSON.stringify(message(['bash', { command: 'echo more' }])),
    });
    expect(refused.code).not.toBe(0);
    expect(refused.stdout + refused.stderr).toContain('may have lost commits');
    expect(refused.stdout).not.toContain('more\\n');
  });
});
