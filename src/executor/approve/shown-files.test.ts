import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApprovalDecision, ApprovalRequest } from '../../contract/approval.js';
import type { Executor } from '../../contract/executor.js';
import { builtinTools } from '../builtin-tools.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';

let root: string;
let state: string;
const opened: Executor[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-shown-')));
  state = mkdtempSync(join(tmpdir(), 'toolexec-shown-state-'));
  writeFileSync(join(root, 'a.txt'), 'old\n');
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((executor) => executor.close()));
  for (const path of [root, state]) rmSync(path, { recursive: true, force: true });
});

function executor(options: ExecutorOptions = {}): Executor {
  const made = createExecutor({
    root,
    tools: builtinTools(),
    journal: join(state, 'journal.db'),
    ...options,
  });
  opened.push(made);
  return made;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const content = (name = 'a.txt'): string => readFileSync(join(root, name), 'utf8');
const EDIT = {
  id: 'edit',
  name: 'edit_file',
  args: { path: 'a.txt', old_string: 'old', new_string: 'new' },
};
const CREATE = { id: 'create', name: 'write_file', args: { path: 'new.txt', content: 'made' } };

describe('a request', () => {
  it('shows the current state of the files that the call would change; a new one is left out', async () => {
    const asked: ApprovalRequest[] = [];
    const one = executor({
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'deny_all' };
      },
    });
    await one.run([EDIT, CREATE]);
    expect(asked.map(({ shown }) => shown)).toEqual([
      [{ path: join(root, 'a.txt'), hash: sha256('old\n') }],
      [],
    ]);
  });

  it('is planned and asked again when a file has changed while the person decided', async () => {
    const asked: ApprovalRequest[] = [];
    const one = executor({
      approver: ([request]) => {
        if (request !== undefined) asked.push(request);
        if (asked.length === 1) writeFileSync(join(root, 'a.txt'), 'old, and more\n');
        return { kind: 'approve_all' };
      },
    });
    const [result] = await one.run([EDIT]);
    expect(result?.success).toBe(true);
    expect(content()).toBe('new, and more\n');
    expect(asked.map(({ shown }) => shown[0]?.hash)).toEqual([sha256('old\n'), sha256('old, and more\n')]);
    expect(asked[1]?.reason).toContain(`changed since it was shown: ${join(root, 'a.txt')}`);
  });

  it.each<[string, () => void]>([
    ['a file that was not there is there now', () => writeFileSync(join(root, 'new.txt'), 'somebody else')],
    [
      'a link leads elsewhere now',
      () => {
        unlinkSync(join(root, 'here'));
        symlinkSync(join(root, 'other'), join(root, 'here'));
      },
    ],
  ])('is asked again when %s', async (_, change) => {
    mkdirSync(join(root, 'one'));
    mkdirSync(join(root, 'other'));
    symlinkSync(join(root, 'one'), join(root, 'here'));
    let asked = 0;
    const one = executor({
      approver: () => {
        asked++;
        if (asked === 1) change();
        return asked === 1 ? { kind: 'approve_all' } : { kind: 'deny_all', reason: 'not that' };
      },
    });
    const below = { id: 'below', name: 'write_file', args: { path: 'here/x.txt', content: 'x' } };
    const results = await one.run([_.includes('link') ? below : CREATE]);
    expect(asked).toBe(2);
    expect(results[0]?.error?.code).toBe('user_denied');
  });

  it('gives up on files that never stop changing', async () => {
    let turn = 0;
    const one = executor({
      approver: () => {
        writeFileSync(join(root, 'a.txt'), `old ${++turn}\n`);
        return { kind: 'approve_all' };
      },
    });
    const [result] = await one.run([EDIT]);
    expect(result?.error).toMatchObject({ code: 'approval_unavailable', details: { executed: 'no' } });
    expect(content()).toBe(`old ${turn}\n`);
  });
});

describe('a deferred request', () => {
  async function deferred(): Promise<string> {
    const one = executor();
    const run = one.start([EDIT, CREATE], { conversation: 'c', defer: true });
    await run.results;
    await one.close();
    return run.id;
  }

  it('runs as it was shown, where the host program has consented in advance', async () => {
    const id = await deferred();
    const run = await executor().approve(id, { approver: null });
    expect((await run.results).map(({ success }) => success)).toEqual([true, true]);
    expect(content()).toBe('new\n');
  });

  it.each<[string, null | undefined]>([
    ['with consent in advance', null],
    ['with no approver', undefined],
  ])('keeps waiting when a file has changed and there is no person to ask, %s', async (_, approver) => {
    const id = await deferred();
    writeFileSync(join(root, 'a.txt'), 'old, edited by a person\n');
    const later = executor();
    const [edit, create] = await (await later.approve(id, approver === undefined ? {} : { approver }))
      .results;
    expect(edit).toMatchObject({
      error: { code: 'approval_unavailable', details: { executed: 'no', changed: [join(root, 'a.txt')] } },
      metadata: { pending: true },
    });
    expect(create?.error?.details?.changed).toBeUndefined();
    expect(content()).toBe('old, edited by a person\n');
    expect(await later.recover()).toMatchObject([{ batchId: id, waitsFor: 'approval' }]);
  });

  it('is asked again with the new picture where there is somebody to ask', async () => {
    const id = await deferred();
    writeFileSync(join(root, 'a.txt'), 'old, edited\n');
    const asked: ApprovalRequest[] = [];
    const approver = (requests: readonly ApprovalRequest[]): ApprovalDecision => {
      asked.push(...requests);
      return { kind: 'approve_all' };
    };
    const results = await (await executor().approve(id, { approver })).results;
    expect(results.map(({ success }) => success)).toEqual([true, true]);
    expect(asked.map(({ callId, shown }) => [callId, shown[0]?.hash])).toEqual([
      ['edit', sha256('old, edited\n')],
      ['create', undefined],
    ]);
    expect(asked.map(({ changed }) => changed)).toEqual([[join(root, 'a.txt')], undefined]);
    expect(asked[0]?.reason).toContain('changed since it was shown');
    expect(content()).toBe('new, edited\n');
  });

  it('counts as read once the person has seen the new content', async () => {
    const one = executor({ approver: null });
    const read = { id: 'read', name: 'read_file', args: { path: 'a.txt' } };
    const overwrite = {
      id: 'overwrite',
      name: 'write_file',
      args: { path: 'a.txt', content: 'all new', mode: 'overwrite' },
    };
    await one.run([read], { conversation: 'c' });
    const run = executor().start([overwrite], { conversation: 'c', defer: true });
    await run.results;
    writeFileSync(join(root, 'a.txt'), 'edited by a person');
    const later = executor();
    const asked: ApprovalRequest[] = [];
    const approver = (requests: readonly ApprovalRequest[]): ApprovalDecision => {
      asked.push(...requests);
      return { kind: 'approve_all' };
    };
    const [result] = await (await later.approve(run.id, { approver })).results;
    expect(asked).toMatchObject([{ changed: [join(root, 'a.txt')] }]);
    expect(result?.error?.message).toBeUndefined();
    expect(content()).toBe('all new');
  });

  it('is bound to what the caller says that the person saw', async () => {
    const id = await deferred();
    writeFileSync(join(root, 'a.txt'), 'old, edited\n');
    const later = executor();
    const path = join(root, 'a.txt');
    const wrong = await later.approve(id, { approver: null, shown: [{ path, hash: sha256('else') }] });
    expect((await wrong.results)[0]?.error?.details?.changed).toEqual([path]);
    const right = await later.approve(id, {
      approver: null,
      shown: [{ path, hash: sha256('old, edited\n') }],
    });
    expect((await right.results).map(({ success }) => success)).toEqual([true, true]);
    expect(content()).toBe('new, edited\n');
  });

  it('takes no other shape for what was shown', async () => {
    const id = await deferred();
    for (const shown of ['a.txt', [{ path: 'a.txt' }], [{ path: 'a.txt', hash: 'short' }], [null]]) {
      await expect(executor().approve(id, { shown: shown as never })).rejects.toMatchObject({
        code: 'config_invalid',
      });
    }
    await expect(executor().run([EDIT], { shown: [] } as never)).rejects.toMatchObject({
      code: 'config_invalid',
    });
  });
});
