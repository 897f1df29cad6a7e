import { isToolError } from '../../errors/tool-error.js';
import { examinePostgres, type PostgresState } from '../../journal/postgres/examine-postgres.js';
import type { Check } from './check-machine.js';

/** With this lag or more, a standby that takes over may not know calls that have run. */
const MUCH_LAG_MS = 1_000;

/** Whether a journal in Postgres can be used: its versions, and the delay of a standby. Changes nothing. */
export async function checkPostgres(url: string): Promise<Check> {
  try {
    return toCheck(await examinePostgres(url));
  } catch (error) {
    if (!isToolError(error)) throw error;
    return {
      name: 'journal',
      state: 'broken',
      found: error.message,
      costs: 'A call that cannot be recorded does not run.',
      remedy: 'Start the server, or correct the address.',
    };
  }
}

function toCheck({ place, server, schema, known, standbyLagMs }: PostgresState): Check {
  const lag = standbyLagMs === undefined ? '' : `, standby ${Math.round(standbyLagMs)} ms behind`;
  const found = `${place}: Postgres ${server}, ${describeSchema(schema, known)}${lag}`;
  if (standbyLagMs === undefined || standbyLagMs < MUCH_LAG_MS)
    return { name: 'journal', state: 'ok', found };
  return {
    name: 'journal',
    state: 'missing',
    found,
    costs: 'A standby that takes over now may not know the last calls, and they may run again.',
    remedy: 'Make the standby synchronous, or find what slows it down.',
  };
}

function describeSchema(schema: number, known: number): string {
  if (schema === 0) return 'no tables yet (created by the first call)';
  if (schema < known) return `schema ${schema} (updated to ${known} with the next call)`;
  return schema === known
    ? `schema ${schema}`
    : `schema ${schema}, made by a newer version (this one knows ${known})`;
}
