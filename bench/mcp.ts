import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { cleanEnvironment } from './clean-environment.js';
import type { Scale } from './contents.js';
import { interleave } from './measure.js';
import { type Row, toMs, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const BARE = program('bare-server.mjs');
const PINNED = 1_000;

/** MCP both ways over standard input and output, beside servers and proxies written with the official SDK. */
export function measureMcp(scale: Scale): Promise<readonly Row[]> {
  const isQuick = scale === 'quick';
  return withDirectory(async (directory) => {
    const workspace = join(directory, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'a.txt'), 'a line of a file\n'.repeat(40));
    const place: Place = { workspace, state: join(directory, 'state') };
    const isWarm = { rounds: isQuick ? 1 : 25, warmUps: isQuick ? 0 : 5 };
    return [
      await measureServer(place, isWarm, isQuick ? 5 : 100),
      await measureGateway(place, isWarm, isQuick ? 5 : 100),
      ...(await measureConnecting(place, { rounds: isQuick ? 1 : 15, warmUps: isQuick ? 0 : 2 })),
    ];
  });
}

interface Place {
  readonly workspace: string;
  readonly state: string;
}

type Rounds = Parameters<typeof interleave>[1];

async function measureServer(place: Place, rounds: Rounds, calls: number): Promise<Row> {
  await using ours = await connect(commandArgs(place, '--tools', 'read_file'), place);
  await using bare = await connect([BARE, place.workspace], place);
  const reading = (client: Client) => callsOf(client, calls, 'read_file', { path: 'a.txt' });
  const times = await interleave({ ours: reading(ours.client), bare: reading(bare.client) }, rounds);
  return toRow('a file read through toolexec mcp', times.ours, ["the SDK's own server", times.bare], {
    computing: false,
    goal: { of: 'ratio', atMost: 1.3 },
  });
}

async function measureGateway(place: Place, rounds: Rounds, calls: number): Promise<Row> {
  await using ours = await connect([program('our-gateway.mjs'), BARE], place);
  await using bare = await connect([program('bare-proxy.mjs'), BARE], place);
  const times = await interleave(
    {
      ours: callsOf(ours.client, calls, 'up__echo', { text: 'hello' }),
      bare: callsOf(bare.client, calls, 'echo', { text: 'hello' }),
    },
    rounds,
  );
  return toRow('a call through a gateway, journal in memory', times.ours, ['a bare proxy', times.bare], {
    computing: false,
    goal: { of: 'ratio', atMost: 1.5 },
  });
}

async function measureConnecting(place: Place, rounds: Rounds): Promise<readonly Row[]> {
  const config = pinServer(place);
  const listing = (args: readonly string[], least: number) => {
    let connection: Awaited<ReturnType<typeof connect>>;
    return {
      units: 1,
      run: async () => {
        connection = await connect(args, place);
        const { tools } = await connection.client.listTools();
        if (tools.length < least) throw new Error(`${tools.length} tools instead of ${least}`);
      },
      after: () => connection.client.close(),
    };
  };
  const { ours, pinned, bare } = await interleave(
    {
      ours: listing(commandArgs(place), 5),
      pinned: listing(commandArgs(place, '--gateway', '--config', config), PINNED),
      bare: listing([BARE, place.workspace], 2),
    },
    rounds,
  );
  return [
    toRow('from the start of toolexec mcp to its tools', toMs(ours), ["the SDK's own server", toMs(bare)], {
      unit: 'ms',
      computing: false,
      goal: { of: 'ratio', atMost: 1.5 },
    }),
    toRow(
      'the same with 1,000 tools of another server, from the pins',
      toMs(pinned),
      ['without', toMs(ours)],
      {
        unit: 'ms',
        computing: false,
        goal: { of: 'difference', atMost: 100 },
      },
    ),
  ];
}

/** Pins of a server that cannot be reached. @returns the configuration with it */
function pinServer({ state, workspace }: Place): string {
  const tools = Array.from({ length: PINNED }, (_, at) => ({
    name: `tool_${at}`,
    description: `The tool with the number ${at}.`,
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  }));
  mkdirSync(join(state, 'toolexec'), { recursive: true, mode: 0o700 });
  const pins = JSON.stringify({ version: 1, servers: { many: tools } });
  writeFileSync(join(state, 'toolexec', 'mcp-pins.json'), pins, { mode: 0o600 });
  const config = join(workspace, '..', 'c.toml');
  // Nothing listens there.
  writeFileSync(config, '[mcp.servers.many]\nurl = "http://127.0.0.1:9/mcp"\n');
  return config;
}

function callsOf(client: Client, units: number, name: string, args: Record<string, string>) {
  return {
    units,
    run: async () => {
      for (let n = 0; n < units; n++) {
        const { isError } = await client.callTool({ name, arguments: args });
        if (isError === true) throw new Error(`${name} failed`);
      }
    },
  };
}

async function connect(args: readonly string[], { state }: Place) {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const env = { ...cleanEnvironment(), XDG_STATE_HOME: state };
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...args],
      env,
      cwd: ROOT,
      stderr: 'ignore',
    }),
  );
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

function commandArgs({ workspace }: Place, ...more: readonly string[]): readonly string[] {
  const { bin }: { bin: { toolexec: string } } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return [join(ROOT, bin.toolexec), 'mcp', '--root', workspace, ...more];
}

function program(name: string): string {
  return fileURLToPath(new URL(`./mcp/${name}`, import.meta.url));
}
