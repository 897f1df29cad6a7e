import { openSqlite } from '../../platform/sqlite.js';
import type { Check } from './check.js';

/** Opens a database in memory: whether a driver is there says little about whether it loads. */
export function checkSqlite(): Check {
  try {
    const database = openSqlite(':memory:');
    const row = database.prepare('SELECT sqlite_version() AS version').get();
    database.close();
    return { name: 'sqlite', state: 'ok', found: String(row?.version) };
  } catch (error) {
    return {
      name: 'sqlite',
      state: 'broken',
      found: `it cannot be loaded: ${firstLine(error)}`,
      costs: 'Nothing can be recorded, so the command runs no call.',
      remedy: 'Install toolexec again for this machine, with its optional packages, or use Node 24.',
    };
  }
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
