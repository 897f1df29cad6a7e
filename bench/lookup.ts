import type { Tool } from '../src/contract/tool.js';
import { toolexec } from './built.js';
import type { Scale } from './contents.js';
import { type Contender, interleave } from './measure.js';
import { type Row, toMs, toRow } from './row.js';

const TOOLS = 10_000;
const LOOKUPS = 200_000;

/**
 * `registry.get` beside a plain `Map.get` of the same names, and the cost of creating an executor with so
 * many tools.
 */
export async function measureLookup(scale: Scale): Promise<readonly Row[]> {
  const input = { type: 'object' } as const;
  const execute = (): string => '';
  const names = Array.from({ length: TOOLS }, (_, index) => ({
    name: `read_record_${index}`,
    alias: `rr-${index}`,
  }));
  const registry = toolexec.createRegistry(
    names.map(({ name, alias }) =>
      toolexec.defineTool({ name, aliases: [alias], description: '', input, execute }),
    ),
  );
  const map = new Map(
    names.flatMap(
      ({ name, alias }) =>
        [
          [name, name],
          [alias, name],
        ] as const,
    ),
  );
  const { hit, alias, miss, mapHit, mapAlias, mapMiss } = await interleave(
    {
      hit: repeat(LOOKUPS, (index) => registry.get(names[index % TOOLS]?.name ?? '')),
      mapHit: repeat(LOOKUPS, (index) => map.get(names[index % TOOLS]?.name ?? '')),
      alias: repeat(LOOKUPS, (index) => registry.get(names[index % TOOLS]?.alias ?? '')),
      mapAlias: repeat(LOOKUPS, (index) => map.get(names[index % TOOLS]?.alias ?? '')),
      miss: repeat(3, (index) => suggestion(() => registry.get(`read_recrod_${index}77`))),
      mapMiss: repeat(LOOKUPS, (index) => map.get(names[index % TOOLS]?.name.slice(1) ?? '')),
    },
    { rounds: scale === 'quick' ? 3 : 40, warmUps: scale === 'quick' ? 1 : 5 },
  );
  return [
    toRow('a name', hit, ['Map.get', mapHit], { computing: true }),
    toRow('an alias', alias, ['Map.get', mapAlias], { computing: true }),
    toRow('no such name, the nearest is suggested', miss, ['Map.get', mapMiss], { computing: true }),
    await measureExecutor(scale),
  ];
}

/** With new tools each time, because the facts about a tool's schema are kept with the tool. */
async function measureExecutor(scale: Scale): Promise<Row> {
  const rounds = scale === 'quick' ? 1 : 5;
  const catalogues = Array.from({ length: rounds + 1 }, () =>
    Array.from({ length: TOOLS }, (_, at) => toolOf(at)),
  );
  const { made } = await interleave(
    {
      made: {
        units: 1,
        run: () => toolexec.createExecutor({ tools: catalogues.pop() ?? [] }).close(),
      },
    },
    { rounds, warmUps: 1 },
  );
  const { wallUs, cpuUs } = toMs(made);
  const what = 'an executor of 10,000 tools';
  return { what, unit: 'ms', ours: wallUs, cpu: cpuUs, goal: { of: 'ours', atMost: 300 } };
}

function toolOf(index: number): Tool {
  return toolexec.defineTool({
    name: `write_record_${index}`,
    description: `Writes record ${index}.`,
    input: {
      type: 'object',
      properties: {
        text: { type: 'string', description: `The text of record ${index}.` },
        line: { type: 'integer', minimum: 1 },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['text'],
      additionalProperties: false,
    },
    execute: () => '',
  });
}

function repeat(units: number, look: (index: number) => unknown): Contender {
  return {
    units,
    run() {
      let found = 0;
      for (let index = 0; index < units; index++) if (look(index) !== undefined) found++;
      return found;
    },
  };
}

function suggestion(look: () => unknown): string {
  try {
    look();
  } catch (error) {
    if (String(error).includes('Did you mean')) return String(error);
  }
  throw new Error('nothing was suggested');
}
