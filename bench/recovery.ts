import { join } from 'node:path';
import { journalSchema, sqlite, toolexec } from './built.js';
import type { Scale } from './contents.js';
import { opaqueTool } from './no-op.js';
import type { Row } from './row.js';
import { withDirectory } from './with-directory.js';

/** Calls that are done, and calls that a dead process left: half of them started. */
const SIZES: Readonly<Record<Scale, { readonly old: number; readonly left: number }>> = {
  full: { old: 1_000_000, left: 10_000 },
  quick: { old: 10_000, left: 100 },
};

/** How long a program waits that starts after a crash, with a long journal. */
export function measureRecovery(scale: Scale): Promise<readonly Row[]> {
  const { old, left } = SIZES[scale];
  return withDirectory(async (directory) => {
    const path = join(directory, 'journal.db');
    fill(path, old, left);
    const amount = (count: number): string => count.toLocaleString('en');
    const recovered = await timeRecovery(path);
    if (recovered.batches !== left) throw new Error(`${recovered.batches} of ${left} were settled.`);
    const opened = await timeRecovery(path);
    const among = `among ${amount(old)} old`;
    return [
      { what: `settling ${amount(left)} calls ${among}`, unit: 'ms', ours: recovered.ms },
      { what: `opening, nothing unfinished ${among}`, unit: 'ms', ours: opened.ms },
    ];
  });
}

async function timeRecovery(path: string): Promise<{ readonly ms: number; readonly batches: number }> {
  const startedAt = performance.now();
  const executor = toolexec.createExecutor({ tools: [opaqueTool()], policy: null, journal: path });
  const { length } = await executor.recover();
  const ms = performance.now() - startedAt;
  await executor.close();
  return { ms, batches: length };
}

/**
 * Writes directly into the tables: the recovery does not read the chain. No process has the id of this
 * worker.
 */
function fill(path: string, old: number, left: number): void {
  const database = sqlite.openSqlite(path);
  for (const step of journalSchema.MIGRATIONS) database.exec(step);
  const { APPLICATION_ID, MIGRATIONS } = journalSchema;
  const all = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${old + left - 1})`;
  database.exec(`
    PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length};
    BEGIN;
    INSERT INTO workers VALUES (1, 'dead', 4194305, 1, 1, NULL);
    ${all} INSERT INTO batches SELECT 2 * i + 1, 'batch-' || i, 'conversation-' || (i / 100), 1, 1, i, 1 FROM n;
    ${all} INSERT INTO calls
      (number, batch, conversation, call_id, tool_name, args, args_hash, effects, disposition, reason) SELECT 2 * i + 2, 2 * i + 1, 'conversation-' || (i / 100), 'call-' || i, 'noop',
      '{"message":"hello world"}', NULL, '[{"kind":"unknown"}]', 'execute_now', '' FROM n;
    ${all} INSERT INTO claims SELECT 2 * i + 2, 'dead', 4194305, 1, i FROM n WHERE i < ${old + left / 2};
    ${all} INSERT INTO results SELECT 2 * i + 2, '{"success":true,"output":"hello world","metadata":{}}', NULL, i
      FROM n WHERE i < ${old};
    COMMIT`);
  database.close();
}
