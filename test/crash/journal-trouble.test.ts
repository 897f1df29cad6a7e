import { execFile, spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createExecutor, defineTool, openJournal } from '../../src/index.js';
import { verifyJournal } from '../../src/journal/verify-journal.js';
import { systemClock } from '../../src/platform/clock/clock.js';
import { builtCommand } from '../cli/built-command.js';

const run = promisify(execFile);
const DOOR = pathToFileURL(join(dirname(dirname(builtCommand())), 'index.js')).href;
const PROGRAM = join(import.meta.dirname, 'run-batches.mjs');
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

let folder: string;
let journal: string;
let ledger: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolexec-trouble-'));
  mkdirSync(join(folder, 'disk'));
  mkdirSync(join(folder, 'root'));
  journal = join(folder, 'disk', 'journal.db');
  ledger = join(folder, 'root', 'ledger');
  writeFileSync(ledger, '');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Seen {
  readonly id: string;
  readonly ok: boolean;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly details: { readonly executed: string };
  };
}

/** In a separate mount namespace, after `prepare`, which receives the journal's folder as $1. */
async function runMounted(prepare: string, count: number): Promise<readonly Seen[]> {
  const script = `${prepare}\nshift\nexec "$@"`;
  const program = [process.execPath, PROGRAM, DOOR, journal, ledger, String(count)];
  const { stdout } = await run('unshare', ['-rm', 'sh', '-ec', script, 'sh', dirname(journal), ...program]);
  return JSON.parse(stdout) as Seen[];
}

const paid = (): string[] => readFileSync(ledger, 'utf8').split('\n').slice(0, -1);

describe.skipIf(!canMount)('a journal on a disk that fails (skipped where nothing may be mounted)', () => {
  it('runs nothing more that could not be recorded, once the disk is full', async () => {
    const seen = await runMounted('mount -t tmpfs -o size=600k none "$1"', 60);
    const ok = seen.filter(({ ok }) => ok).map(({ id }) => id);
    const refused = seen.filter(({ error }) => error?.code === 'journal_unavailable');
    expect(ok.length).toBeGreaterThan(3);
    expect(refused.length).toBeGreaterThan(3);
    expect(ok.length + refused.length).toBe(60);
    for (const { error } of refused) expect(error?.details.executed).toBe('no');
    expect(refused[0]?.error?.hint).toMatch(/full|no space/i);
    // A call that could not be claimed has not run, and a call that ran has reported it.
    expect(paid()).toEqual(ok);
  });

  it('runs nothing when the journal can only be read', async () => {
    const first = await run(process.execPath, [PROGRAM, DOOR, journal, ledger, '1']);
    expect(JSON.parse(first.stdout)).toMatchObject([{ ok: true }]);
    writeFileSync(ledger, '');
    const seen = await runMounted('mount --bind -o ro "$1" "$1"', 2);
    // The first call is answered from the journal if the journal can be read at all; the other cannot be recorded.
    expect(seen[1]?.error).toMatchObject({ code: 'journal_unavailable', details: { executed: 'no' } });
    expect(seen[1]?.error?.hint).toMatch(/read-only|readonly|cannot be written/i);
    expect(paid()).toEqual([]);
  });
});

describe('a journal whose file was damaged', () => {
  it('runs nothing, and says so', async () => {
    await run(process.execPath, [PROGRAM, DOOR, journal, ledger, '40']);
    const whole = join(folder, 'whole.db');
    copyFileSync(journal, whole);
    expect(verifyJournal(whole)).toMatchObject({ intact: true });
    const pages = statSync(journal).size / 4096;
    for (const page of [pages - 1, Math.floor(pages / 2), 1]) {
      copyFileSync(whole, journal);
      rmSync(`${journal}-wal`, { force: true });
      damagePage(journal, page);
      writeFileSync(ledger, '');
      const found = damageIsFound();
      const { stdout } = await run(process.execPath, [PROGRAM, DOOR, journal, ledger, '41']);
      const seen = JSON.parse(stdout) as Seen[];
      expect(seen).toHaveLength(41);
      // If the damage is elsewhere, the journal continues. An earlier payment is never made again.
      expect(paid().filter((id) => id !== 'pay_40')).toEqual([]);
      expect(found).toBe(true);
    }
  });
});

function damagePage(path: string, page: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096);
  closeSync(file);
}

function damageIsFound(): boolean {
  try {
    return !verifyJournal(journal).intact;
  } catch (error) {
    expect(error).toMatchObject({ code: 'journal_unavailable' });
    return true;
  }
}

it('keeps the order and every answer when the clock jumps back', async () => {
  let now = Date.parse('2030-01-01T12:00:00Z');
  const clock = { ...systemClock, now: () => now };
  const count = defineTool({
    name: 'count',
    description: 'Counts.',
    input: { type: 'object', properties: { n: { type: 'integer' } } },
    execute: ({ n }) => `was ${String(n)}`,
  });
  const file = openJournal(journal);
  const executor = createExecutor({
    tools: [count],
    root: join(folder, 'root'),
    journal: file,
    clock,
    policy: null,
    approver: null,
  });
  for (let n = 0; n < 6; n++) {
    await executor.run([{ id: `c${n}`, name: 'count', args: { n } }], { conversation: 'c' });
    now -= 3_600_000;
  }
  const again = await executor.run([{ id: 'c0', name: 'count', args: { n: 0 } }], { conversation: 'c' });
  expect(again).toMatchObject([{ output: 'was 0', metadata: { replayed: true } }]);
  const history = await file.history('c');
  const batches = history.flatMap((entry) => (entry.kind === 'batch' ? [entry.id] : []));
  expect(new Set(batches).size).toBe(7);
  const calls = (await Promise.all(batches.map((id) => file.batch(id)))).flat();
  expect(calls.slice(0, 6).map(({ callId }) => callId)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5']);
  expect(calls.every(({ state }) => state === 'done')).toBe(true);
  expect(await executor.recover()).toEqual([]);
  await executor.close();
  await file.close();
  expect(verifyJournal(journal)).toMatchObject({ intact: true });
});
