import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './clean-environment.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type Timing } from './measure.js';
import { type Goal, type Row, toMs, toRow } from './row.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const FIRST_CALL = `
  import { createExecutor, defineTool } from 'toolexec';
  const tool = defineTool({
    name: 'noop', description: '', effects: () => [], execute: async ({ message }) => message,
    input: { type: 'object', properties: { message: { type: 'string' }, count: { type: 'integer' } }, required: ['message'] },
  });
  const [result] = await createExecutor({ tools: [tool] }).run([{ id: '1', name: 'noop', args: { message: 'x', count: 1 } }]);
  if (result.output !== 'x') process.exit(1);
`;

const FLOOR_CALL = `
  import { Ajv2020 } from 'ajv/dist/2020.js';
  const validate = new Ajv2020().compile(
    { type: 'object', properties: { message: { type: 'string' }, count: { type: 'integer' } }, required: ['message'] },
  );
  if (!validate({ message: 'x', count: 1 })) process.exit(1);
`;

/** Its loader takes longer than those of Node 22 and 24. */
const OLD = process.versions.node.startsWith('20.');

/** Whole processes, from their start to their end. */
export async function measureStart(scale: Scale): Promise<readonly Row[]> {
  const { bare, imported, called, floor } = await interleave(
    {
      bare: processOf(['-e'], '0'),
      imported: nodeWith("import 'toolexec'"),
      called: nodeWith(FIRST_CALL),
      floor: nodeWith(FLOOR_CALL),
    },
    { rounds: scale === 'quick' ? 1 : 25, warmUps: 1 },
  );
  return [
    inMs("import 'toolexec'", imported, ['node -e 0', bare], { of: 'difference', atMost: OLD ? 110 : 80 }),
    inMs('its first call', called, ["import 'toolexec'", imported], { of: 'difference', atMost: 60 }),
    inMs('its first call', called, ['ajv alone', floor]),
  ];
}

function nodeWith(program: string): Contender {
  return processOf(['--input-type=module', '-e'], program);
}

function processOf(options: readonly string[], program: string): Contender {
  const env = cleanEnvironment();
  const args = [...options, `${program};${TELL_CPU}`];
  let cpuUs = 0;
  return {
    units: 1,
    cpuUs: () => cpuUs,
    run() {
      const { status, stdout, stderr } = spawnSync(process.execPath, args, {
        cwd: ROOT,
        env,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`Cannot measure a start: ${stderr}`);
      const { user, system }: NodeJS.CpuUsage = JSON.parse(stdout);
      cpuUs += user + system;
    },
  };
}

const TELL_CPU = 'process.stdout.write(JSON.stringify(process.cpuUsage()))';

function inMs(what: string, ours: Timing, beside: readonly [string, Timing], goal?: Goal): Row {
  return toRow(what, toMs(ours), [beside[0], toMs(beside[1])], {
    unit: 'ms',
    computing: true,
    ...(goal === undefined ? {} : { goal }),
  });
}
