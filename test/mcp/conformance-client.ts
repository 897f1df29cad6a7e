import type { JsonObject } from '../../src/contract/json.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { openGateway } from '../../src/mcp/open-gateway.js';
import type { Pins } from '../../src/mcp/tool-pins.js';

/*
 * The gateway as the client of the official suite: node conformance-client.mjs URL. Trusts the offered tools, and calls
 * each tool once.
 */

const [url = ''] = process.argv.slice(2);
const ARGS: Readonly<Record<string, JsonObject>> = { suite__add_numbers: { a: 5, b: 3 } };

const open = (pinsOf: () => Pins) =>
  openGateway({
    servers: { suite: { url } },
    pinsOf,
    roots: [process.cwd()],
    os: 'off',
    version: '1.0.0',
    guarded: () => ({ hidden: [], readOnly: [] }),
    logger: { warn: () => {} },
  });

const look = open(() => new Map());
await look.connectAll();
const offered = look.source.offeredBy('suite') ?? [];
await look.close();

const gateway = open(() => new Map(offered.map((tool) => [tool.name, tool])));
const executor = createExecutor({
  tools: [gateway.source],
  policy: null,
  approver: null,
  journal: false,
  // A person who agrees, and fills in no field.
  asker: async (questions) =>
    questions.map(({ options, form }) => ({
      chosen: form?.kind === 'consent' ? options.slice(0, 1).map(({ label }) => label) : [],
    })),
});
for (const { name } of executor.definitions()) {
  const { success, output } = await executor.execute(name, ARGS[name] ?? {});
  if (!success) {
    console.error(`${name}: ${output}`);
    process.exitCode = 1;
  }
}
await executor.close();
await gateway.close();
