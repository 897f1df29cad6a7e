import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Model, ModelOptions } from '../src/models.js';
import * as models from '../src/models.js';
import { HTTP_FORMATS, type HttpFormat } from '../src/providers/registry.js';
import { builtCommand } from './cli/built-command.js';

const ROOT = resolve(import.meta.dirname, '..');

/** The public names, by door. A new name is a promise; a removed one breaks programs. */
const DOORS = readdirSync(join(ROOT, 'src'))
  .filter((name) => /^[a-z0-9-]+\.ts$/.test(name) && !name.endsWith('.test.ts'))
  .map((name) => name.slice(0, -'.ts'.length))
  .sort();

/** Doors whose packages are not installed here. */
const CLOSED: Readonly<Record<string, string>> = { mastra: '@mastra/core' };

/** Doors that wait for their package when they are imported, but not when they are required or bundled. */
const DIRECT = ['ai-sdk', 'claude-agent', 'langchain', 'openai-agents', 'otel'];

async function namesOf(door: string): Promise<string> {
  const exported: object = await import(join(ROOT, 'src', `${door}.ts`));
  return Object.keys(exported).sort().join(' ');
}

describe('the doors', () => {
  it('are those of package.json, each with its types', () => {
    const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      exports: Record<string, unknown>;
    };
    const expected: Record<string, unknown> = { './package.json': './package.json' };
    for (const door of DOORS) {
      const file = `./dist/${door}`;
      const direct = `./dist/direct/${door}.js`;
      const conditions = DIRECT.includes(door) ? { module: direct, require: direct } : {};
      expected[door === 'index' ? '.' : `./${door}`] = {
        types: `${file}.d.ts`,
        ...conditions,
        default: `${file}.js`,
      };
    }
    expect(exports).toEqual(expected);
  });

  it('let out exactly this', async () => {
    const open = DOORS.filter((door) => !(door in CLOSED));
    const names = await Promise.all(open.map(async (door) => `${door}: ${await namesOf(door)}`));
    expect(names).toMatchInlineSnapshot(`
      [
        "ai-sdk: aiTools",
        "claude-agent: claudeAgent",
        "fleet: createFleetServer createWorker graphileDispatcher pgBossDispatcher postgresJournal s3Objects",
        "hosts: resultContent",
        "index: ToolError builtinTools commandAgents createExecutor createMetrics createRegistry createResultCache createTiming createToolLoop defaultRegistry defineTool describeRequest discoverTools isToolError loadConfig loggingMiddleware modelAgents openJournal",
        "langchain: langchainTools",
        "lp1: applyPatch parsePatch",
        "mcp: createMcpServer mcpTools",
        "models: ModelError anthropic gemini openai openaiResponses",
        "openai-agents: agentTools",
        "otel: otel",
        "output: createSanitizer redact sanitize truncate",
        "policy: analyzeCommand createPolicy",
        "process: ShellManager commandEnvironment removedValues sanitizeEnvironment",
        "protocols: answerReadErrors createCallStream describeTools parseToolBlocks readCalls repairHistory writeResults",
        "sandbox: createSandbox",
        "testing: createScriptedModel createTape describeJournal runCrashTrial",
      ]
    `);
  });

  it.each(Object.entries(CLOSED))(
    'name the package that %s needs where it is missing: %s',
    (door, name) => {
      const built = pathToFileURL(join(dirname(dirname(builtCommand())), `${door}.js`)).href;
      const args = ['--input-type=module', '--eval', `await import(${JSON.stringify(built)})`];
      const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      expect(stderr).toContain(`Cannot load toolexec/${door}: it needs ${name} ^`);
      expect(stderr).toContain(`npm install ${name}@^`);
    },
    60_000,
  );

  it('can be required by CommonJS, with the same names (ERR_REQUIRE_ASYNC_MODULE)', async () => {
    const dist = dirname(dirname(builtCommand()));
    const script = `for (const door of ${JSON.stringify(DIRECT)})
      console.log(door + ': ' + Object.keys(require(${JSON.stringify(dist)} + '/direct/' + door + '.js')).join(' '));`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], { encoding: 'utf8' });
    const expected = await Promise.all(DIRECT.map(async (door) => `${door}: ${await namesOf(door)}`));
    expect(stdout.trim().split('\n'), stderr).toEqual(expected);
  }, 240_000);

  it('let out a function for every provider that has a server', () => {
    const functions: Record<HttpFormat, (options: ModelOptions) => Model> = {
      anthropic: models.anthropic,
      gemini: models.gemini,
      openai: models.openai,
      'openai-responses': models.openaiResponses,
    };
    const formats = Object.values(functions).map((create) => create({ model: 'm', apiKey: 'k' }).format);
    expect(formats).toEqual(Object.keys(functions));
    expect(formats.sort()).toEqual([...HTTP_FORMATS].sort());
  });

  it('let out classes that are called what they are exported as, in the built package too', async () => {
    const dist = dirname(dirname(builtCommand()));
    const classes: string[] = [];
    for (const door of DOORS.filter((each) => !(each in CLOSED))) {
      const exported: object = await import(pathToFileURL(join(dist, `${door}.js`)).href);
      for (const [name, value] of Object.entries(exported)) {
        if (typeof value !== 'function' || !/^class\b/.test(String(value))) continue;
        classes.push(name);
        expect(value.name).toBe(name);
      }
    }
    expect(classes).toEqual(['ToolError', 'ModelError', 'ShellManager']);
  }, 60_000);

  it('have no default exports and no logic of their own', () => {
    for (const door of DOORS) {
      const text = readFileSync(join(ROOT, 'src', `${door}.ts`), 'utf8');
      expect(text).not.toMatch(/export default|export \*|\bfunction\b|=>|\bclass\b/);
    }
  });
});
