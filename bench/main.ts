import { fork } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { CONTENTS, type Measurement, type Scale } from './contents.js';
import { isMet, type Row } from './row.js';
import { showTable } from './show-table.js';

/*
 * Measures the built package beside a floor and a peer, in turns, and says which goals are met.
 *
 *   npm run bench -- [--only NAME]… [--quick] [--json]
 *
 * Figures change with the machine and with what else runs on it; ratios hold. Always exits 0 when it could measure.
 */

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const chosen = choose(values.only);
const scale: Scale = values.quick ? 'quick' : 'full';
const measured: Record<string, readonly Row[]> = {};
if (!values.json) console.log(describeMachine());
for (const measurement of chosen) {
  const rows = await measureApart(measurement, scale);
  measured[measurement.name] = rows;
  if (!values.json) console.log(`\n${measurement.title} (${measurement.name})\n${showTable(rows)}`);
}
console.log(
  values.json ? JSON.stringify({ machine: describeMachine(), scale, measured }, null, 2) : summarize(),
);

function choose(only: readonly string[] | undefined): readonly Measurement[] {
  if (only === undefined) return CONTENTS;
  return only.map((name) => {
    const found = CONTENTS.find((measurement) => measurement.name === name);
    if (found !== undefined) return found;
    const known = CONTENTS.map((measurement) => measurement.name).join(', ');
    throw new Error(`Cannot measure "${name}": choose from ${known}.`);
  });
}

/** Runs a measurement in a separate process, with the options of Node that it needs. */
function measureApart({ name, nodeOptions }: Measurement, scale: Scale): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    let rows: readonly Row[] | undefined;
    const child = fork(new URL('./measure-one.ts', import.meta.url), [name, scale], {
      execArgv: [...process.execArgv, ...nodeOptions],
    });
    child.on('message', (message) => {
      rows = message as readonly Row[];
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (rows !== undefined && code === 0) resolve(rows);
      else reject(new Error(`Cannot measure "${name}": its process ended with code ${code}.`));
    });
  });
}

function describeMachine(): string {
  const processors = cpus();
  const load = loadavg()[0]?.toFixed(1);
  return `Node ${process.version}, ${processors.length} × ${processors[0]?.model.trim()}, load ${load}`;
}

function summarize(): string {
  const verdicts = Object.values(measured).flat().map(isMet);
  const met = verdicts.filter((verdict) => verdict === true).length;
  const missed = verdicts.filter((verdict) => verdict === false).length;
  return `\n${met} goals met, ${missed} not met (scale: ${scale})`;
}
