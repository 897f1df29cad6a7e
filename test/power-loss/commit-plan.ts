import { readFileSync } from 'node:fs';
import { commitPlan } from '../../src/commands/transaction/sweep-transactions.js';

/** Commits a plan of a transaction. */
const [directory = '', plan = ''] = process.argv.slice(2);
await commitPlan(directory, JSON.parse(readFileSync(plan, 'utf8')), { onConflict: 'takeBack' });
process.exit();
