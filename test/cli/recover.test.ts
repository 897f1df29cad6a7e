import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CallEntry } from '../../src/contract/journal.js';
import { openJournal } from '../../src/journal/open-journal.js';
import { batchEntry } from '../../src/testing/journal-entries.js';
import { DEAD, leaveHalfDone } from './leave-half-done.js';
import { useToolexec } from './toolexec.js';

const toolexec = useToolexec();
let journal: string;
beforeEach(() => {
  journal = toolexec.journal;
});

const CALLS = ['one', 'two', 'three'].map((name, index) => ({
  id: `call_${index}`,
  name: 'bash',
  args: { command: `echo ${name}` },
}));

const run = (calls: unknown, ...more: string[]) => {
  const file = toolexec.json('r.json', calls);
  return toolexec.run(['run', file, '--journal', journal, '--conversation', 'c', '--yes', ...more]);
};
const recover = (...more: string[]) => toolexec.run(['journal', 'recover', '--journal', journal, ...more]);
const codes = (stdout: string): unknown =>
  (JSON.parse(stdout) as { error?: { code: string } }[]).map(({ error }) => error?.code);

describe('toolexec run, in a conversation with a half-done batch', () => {
  it('answers the finished calls, runs no new call, says what is known about each, and exits 4', async () => {
    await leaveHalfDone(journal, CALLS, { id: 'batch-c' });
    const { code, stdout, stderr } = await run(CALLS);
    expect(codes(stdout)).toEqual([undefined, 'outcome_unknown', 'cancelled']);
    expect(stderr).toMatch(/1: done.*2: unknown.*3: never started/);
    expect(stderr).toMatch(/--resume batch-c.*--discard/);
    expect(code).toBe(4);
    const other = await run([{ id: 'new', name: 'bash', args: { command: 'echo new' } }]);
    expect([other.code, codes(other.stdout)]).toEqual([4, ['cancelled']]);
  });

  it('continues once the batch is resumed, with the known results as answers', async () => {
    await leaveHalfDone(journal, CALLS, { id: 'batch-c' });
    const resumed = await recover('--resume', 'c');
    expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining('1: done (bash), 2: unknown') });
    const { code, stdout } = await run([
      ...CALLS,
      { id: 'new', name: 'bash', args: { command: 'echo new' } },
    ]);
    expect([code, codes(stdout)]).toEqual([1, [undefined, 'outcome_unknown', 'cancelled', undefined]]);
  });

  it('answers with the outcome that the person has decided', async () => {
    await leaveHalfDone(journal, CALLS, { id: 'batch-c' });
    expect(await recover('--applied', 'call_1')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--resume'),
    });
    const wrong = await recover('--resume', 'c', '--not-applied', 'call_0');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('is known') });
    const settled = await recover('--resume', 'c', '--applied', 'call_1');
    expect(settled).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2: done, as you said (bash)'),
    });
    const { stdout } = await run(CALLS);
    expect(codes(stdout)).toEqual([undefined, undefined, 'cancelled']);
  });

  it('answers all of its calls as failed once it is discarded', async () => {
    await leaveHalfDone(journal, CALLS, { id: 'batch-c' });
    expect((await recover('--discard', 'batch-c')).stderr).toContain('discarded');
    const { code, stdout } = await run(CALLS);
    expect([code, codes(stdout)]).toEqual([1, ['cancelled', 'cancelled', 'cancelled']]);
  });
});

describe('toolexec run, with an unfinished batch of other directories', () => {
  it('reports that it is unfinished, exits 4, and leaves it to a process with the right roots', async () => {
    const store = openJournal(journal);
    const call: CallEntry = {
      callId: 'w',
      toolName: 'write_file',
      args: { path: 'f', content: 'x' },
      effects: [{ kind: 'write', path: 'f' }],
      disposition: 'execute_now',
      reason: '',
    };
    const [answer] = await store.accept(batchEntry('far', [call], { conversation: 'c', worker: DEAD }));
    await store.claim(answer?.key ?? '', DEAD, 1);
    const far = realpathSync(dirname(toolexec.write('far/away', '')));
    const changes = [{ path: join(far, 'f'), before: null, after: 'a'.repeat(64) }];
    await store.note(answer?.key ?? '', { kind: 'intent', data: { op: 'write', changes }, at: 2 });
    await store.close();
    toolexec.write('root/a.txt', 'text');
    const read = [{ id: 'r', name: 'read_file', args: { path: 'a.txt' } }];
    const { code, stderr } = await run(read);
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/far of this conversation is unfinished.*--root/),
    ]);
    expect((await recover()).stdout).toMatch(/far {2}c\n {2}left unchanged/);
    expect((await recover('--root', far)).stdout).toMatch(/far {2}c\n {2}recovered/);
    expect((await run(read)).code).toBe(0);
  });
});

describe('toolexec journal recover', () => {
  it('decides and lists, with the same result twice while a batch waits', async () => {
    await leaveHalfDone(journal, CALLS, { id: 'batch-c' });
    const first = await recover('--json');
    const [batch] = JSON.parse(first.stdout) as {
      calls: { callId: string; state: string; result: unknown }[];
    }[];
    expect(batch).toMatchObject({ batchId: 'batch-c', conversation: 'c', waits: true });
    expect(batch?.calls.map(({ callId, state }) => [callId, state])).toEqual(
      CALLS.map(({ id }) => [id, 'done']),
    );
    expect((await recover('--json')).stdout).toBe(first.stdout);
    expect((await recover()).stdout).toMatch(/batch-c {2}c\n {2}waits/);
  });

  it('lists the shortest unique beginning of an id, which is accepted as the id', async () => {
    const ids = ['11111111-aaaa-4000', '11111111-abbb-4000', '22222222-cccc-4000'];
    for (const id of ids) await leaveHalfDone(journal, CALLS, { id, conversation: id });
    const listed = (await recover()).stdout.split('\n').filter((line) => /^\d/.test(line));
    expect(listed.map((line) => line.split(' ')[0])).toEqual(['11111111-aa', '11111111-ab', '22222222']);
    const { stdout } = await recover('--discard', '11111111-ab', '--json');
    const waiting = JSON.parse(stdout).filter(({ waits }: { waits: boolean }) => waits);
    expect(waiting.map(({ batchId }: { batchId: string }) => batchId)).toEqual([ids[0], ids[2]]);
  });

  it.each(['--resume', '--discard'])('no longer lists decided batches (%s)', async (decision) => {
    await leaveHalfDone(journal, CALLS, { id: 'batch-c' });
    const decided = await recover(decision, 'batch-c', '--json');
    expect(JSON.parse(decided.stdout)).toEqual([
      expect.objectContaining({ batchId: 'batch-c', waits: false }),
    ]);
    expect(await recover()).toMatchObject({ stdout: 'Nothing was left unfinished.\n' });
  });

  it('says that there is nothing', async () => {
    await openJournal(journal).batches();
    expect(await recover()).toEqual({ code: 0, stdout: 'Nothing was left unfinished.\n', stderr: '' });
    expect((await recover('--json')).stdout).toBe('[]\n');
  });

  it('reports that there is no journal, and creates none', async () => {
    const missing = { code: 0, stderr: expect.stringContaining(`there is no journal "${journal}"`) };
    expect(await recover()).toMatchObject({ ...missing, stdout: 'Nothing was left unfinished.\n' });
    const asJson = await recover('--json');
    expect(asJson).toMatchObject({ code: 0, stdout: '[]\n' });
    expect(JSON.parse(asJson.stderr)).toEqual({
      type: 'note',
      message: expect.stringContaining(`there is no journal "${journal}"`),
    });
    const named = [
      ['journal', 'recover', '--resume', 'x'],
      ['journal', 'undo', 'x'],
      ['approve', 'x', '--yes'],
    ];
    for (const words of named) {
      const refused = await toolexec.run([...words, '--journal', journal]);
      expect(refused).toMatchObject({ ...missing, code: 2, stdout: '' });
      expect((await toolexec.run(words)).stderr).toContain('there is no journal');
    }
    expect([existsSync(journal), existsSync(toolexec.state)]).toEqual([false, false]);
  });

  it('refuses a name without a waiting batch, and a file that is not a journal', async () => {
    await leaveHalfDone(journal, CALLS, { id: 'batch-c' });
    await leaveHalfDone(journal, CALLS, { id: 'batch-d', conversation: 'd' });
    const { code, stderr } = await recover('--resume', 'e');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/"e".*batch-c, batch-d/)]);
    journal = toolexec.write(
      'no-journal',
      'this is no database, and long enough to be seen as such'.repeat(20),
    );
    expect(await recover()).toMatchObject({ code: 2, stderr: expect.stringContaining('not a journal') });
  });
});

describe.each([[['undo']], [['journal', 'undo']]])('toolexec %s', (command) => {
  const undo = (...more: string[]) => toolexec.run([...command, ...more, '--journal', journal]);
  const WRITE = { id: 'w', name: 'write_file', args: { path: 'f', content: 'new', mode: 'overwrite' } };

  it('restores the files that a call changed, and undoes that', async () => {
    toolexec.write('root/f', 'old');
    expect((await run([WRITE])).code).toBe(0);
    const dry = await undo('w', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: 'would put back f\n' });
    const { code, stdout } = await undo('w');
    expect([code, readFileSync(join(toolexec.root, 'f'), 'utf8')]).toEqual([0, 'old']);
    const id = /put back f\n.*toolexec undo (undo_\S+)/.exec(stdout)?.[1] ?? '';
    const report = JSON.parse((await undo(id, '--json')).stdout) as unknown;
    expect(report).toMatchObject({
      callId: id,
      restored: [join(realpathSync(toolexec.root), 'f')],
      skipped: [],
    });
    expect(readFileSync(join(toolexec.root, 'f'), 'utf8')).toBe('new');
  });

  it('leaves files that were changed since, and exits 1; exits 2 for an unknown call', async () => {
    toolexec.write('root/f', 'old');
    await run([WRITE]);
    toolexec.write('root/f', 'mine');
    expect(await undo('w')).toMatchObject({ code: 1, stdout: 'left f: it was changed since\n' });
    expect(readFileSync(join(toolexec.root, 'f'), 'utf8')).toBe('mine');
    expect(await undo('x')).toMatchObject({ code: 2, stderr: expect.stringContaining('no such call') });
    expect(await undo('w', '--conversation', 'd')).toMatchObject({ code: 2 });
  });
});
