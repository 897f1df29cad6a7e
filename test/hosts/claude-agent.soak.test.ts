// The Claude Agent SDK and its program, as they are published, against a model on this machine. They are not installed
// with the other packages, because they have a different licence and the program has 400 MB.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Approver } from '../../src/contract/approval.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { type ClaudeAgent, claudeAgent } from '../../src/hosts/claude-agent.js';
import { useToolexec } from '../cli/toolexec.js';
import { fakeAnthropic } from './fake-anthropic.js';
import { unpackPublished, whyNoDownloads } from './published-package.js';

const ROOT = resolve(import.meta.dirname, '../..');
const SDK = '@anthropic-ai/claude-agent-sdk';
/** The oldest and the newest supported version. */
const VERSIONS = ['0.3.142', '0.3.332'] as const;

const folder = mkdtempSync(join(tmpdir(), 'toolexec-claude-agent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const toolexec = useToolexec();
const execute = promisify(execFile);

interface Message {
  readonly type: string;
  readonly tools?: readonly string[];
  readonly message?: { readonly content: unknown };
  readonly structured_output?: unknown;
}

type Query = (given: { prompt: string; options: object }) => AsyncIterable<Message>;

const placeOf = (version: string): string => join(folder, version);

/** A project with this version; its other dependencies are ours. */
function install(version: string): boolean {
  const modules = join(placeOf(version), 'node_modules');
  mkdirSync(join(modules, '@anthropic-ai'), { recursive: true });
  for (const name of ['@anthropic-ai/sdk', '@modelcontextprotocol', 'zod', '@types', 'tsx', 'typescript'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  const program = `${SDK}-${process.platform}-${process.arch}`;
  return [SDK, program].every((name) => unpackPublished(`${name}@${version}`, join(modules, name)));
}

let missing = whyNoDownloads();
beforeAll(() => {
  if (missing === undefined && !VERSIONS.every(install))
    missing = 'the npm registry cannot be reached, or has no program for here';
}, 600_000);

interface Scene {
  readonly version: string;
  readonly tool: string;
  readonly input: object;
  /** The parts that the program passes to the SDK; the rest is left out. */
  readonly parts?: readonly (keyof ClaudeAgent)[];
  readonly options?: object;
  readonly approver?: Approver;
}

/** One turn in which the model makes one call. */
async function play({ version, tool, input, parts, options = {}, approver }: Scene) {
  const home = mkdtempSync(join(folder, 'home-'));
  const root = mkdtempSync(join(folder, 'root-'));
  const model = await fakeAnthropic([{ type: 'tool_use', id: 'toolu_1', name: tool, input }]);
  const asked: string[] = [];
  const ask: Approver = (requests, given) => {
    asked.push(...requests.map(({ summary }) => summary));
    return (approver ?? (() => ({ kind: 'approve_all' })))(requests, given);
  };
  await using executor = createExecutor({ root, journal: join(home, 'journal.db'), approver: ask });
  const agent = claudeAgent(executor, { conversation: 'chat' });
  const given = Object.fromEntries(
    Object.entries(agent).filter(([name]) => parts?.some((part) => part === name) ?? true),
  );
  const env = {
    ...{
      PATH: process.env.PATH,
      HOME: home,
      CLAUDE_CONFIG_DIR: home,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'none' },
  };
  const place = join(placeOf(version), 'node_modules', SDK, 'sdk.mjs');
  const { query }: { query: Query } = await import(pathToFileURL(place).href);
  const messages: Message[] = [];
  const stream = query({
    prompt: 'go',
    options: { cwd: root, env, settingSources: [], ...given, ...options },
  });
  for await (const message of stream) messages.push(message);
  model.close();
  const results = JSON.stringify(messages.filter(({ type }) => type === 'user'));
  const structured = messages.at(-1)?.structured_output;
  return {
    asked,
    results,
    wrote: existsSync(join(root, 'new.txt')),
    tools: messages[0]?.tools ?? [],
    structured,
  };
}

const WRITE = { tool: 'mcp__toolexec__write_file', input: { path: 'new.txt', content: 'new\n' } };
const BASH = { tool: 'Bash', input: { command: 'touch new.txt', description: 'x' } };

describe.each(VERSIONS)('claudeAgent() in the Claude Agent SDK %s', (version) => {
  it('asks the approver, and runs what was approved', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const { asked, results, wrote, tools } = await play({ version, ...WRITE });
    expect([asked, wrote]).toEqual([['Create new.txt (4 bytes)'], true]);
    expect(results).toContain('Successfully wrote 4 bytes');
    expect(tools).toContain('mcp__toolexec__bash');
    expect(tools).not.toContain('Bash');
    const denied = await play({ version, ...WRITE, approver: () => ({ kind: 'deny_all' }) });
    expect([denied.asked.length, denied.wrote]).toEqual([1, false]);
  });

  it('gives a structured answer (the hook refused it)', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const schema = { type: 'object', properties: { answer: { type: 'number' } }, required: ['answer'] };
    const options = { outputFormat: { type: 'json_schema', schema } };
    const input = { answer: 42 };
    expect(await play({ version, tool: 'StructuredOutput', input, options })).toMatchObject({
      structured: input,
    });
  });

  it('runs nothing that was not asked about, whatever was forgotten', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const allowed = { allowedTools: [WRITE.tool, 'Bash'] };
    const scenes: Scene[] = [
      { version, ...WRITE, parts: ['mcpServers', 'hooks', 'disallowedTools'] },
      { version, ...WRITE, parts: ['mcpServers'], options: allowed },
      { version, ...BASH, parts: ['mcpServers', 'hooks', 'canUseTool'], options: allowed },
      { version, ...BASH, parts: ['mcpServers', 'canUseTool'] },
      { version, ...BASH },
    ];
    for (const scene of scenes) {
      const { asked, wrote, results } = await play(scene);
      expect([asked, wrote, results]).toEqual([[], false, expect.stringContaining('"is_error":true')]);
    }
  });

  it('fits the types of the SDK in both kinds of resolution', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const program = `import { type Options, query } from '${SDK}';
import { createExecutor } from 'toolexec';
import { claudeAgent } from 'toolexec/claude-agent';
const tools = claudeAgent(createExecutor(), { conversation: 'c' });
export const options: Options = { settingSources: [], ...tools };
export const running = query({ prompt: 'x', options: tools });
`;
    const place = placeOf(version);
    writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(place, 'fits.ts'), program);
    for (const [module, moduleResolution] of [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ]) {
      const compilerOptions = {
        ...{
          target: 'es2023',
          lib: ['es2023', 'esnext.disposable'],
          types: ['node'],
          module,
          moduleResolution,
        },
        ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...{ skipLibCheck: true, noEmit: true, resolveJsonModule: true },
        paths: { toolexec: [`${ROOT}/src/index.ts`], 'toolexec/*': [`${ROOT}/src/*.ts`] },
      };
      writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['fits.ts'] }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const { stdout } = await execute(process.execPath, [tsc, '-p', place]).catch(
        (error: { stdout: string }) => error,
      );
      // Errors in our sources are found elsewhere.
      expect(stdout.split('\n').filter((line) => line.includes('fits.ts('))).toEqual([]);
    }
  });
});

describe('toolexec init claude-agent', () => {
  it('writes a project that passes its own test', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const project = join(placeOf(VERSIONS[1]), 'project');
    expect(await toolexec.run(['init', 'claude-agent', project])).toMatchObject({ code: 0 });
    symlinkSync(
      dirname(dirname(dirname(toolexec.main))),
      join(placeOf(VERSIONS[1]), 'node_modules', 'toolexec'),
    );
    const args = ['--import', 'tsx', '--test', 'agent.test.ts'];
    const { stdout } = await execute(process.execPath, args, { cwd: project });
    expect(stdout).toMatch(/pass 1\n[\s\S]*fail 0\n/);
  });
});
