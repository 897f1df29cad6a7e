// The published types of the hosts' doors fit the types of the frameworks without a cast, in both kinds of resolution.
// `claude-agent.soak.test.ts` and `mastra.soak.test.ts` compile the two that are not installed here.
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { eachOf } from '../../src/testing/fixtures/each-of.js';

const ROOT = resolve(import.meta.dirname, '../..');
const execute = promisify(execFile);
mkdirSync(join(ROOT, '.tmp'), { recursive: true });
// Inside the repository: the frameworks are found in a parent directory, and the package next to the program, as
// published.
const folder = mkdtempSync(join(ROOT, '.tmp', 'host-types-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const place = join(folder, 'node_modules/toolexec');
  mkdirSync(place, { recursive: true });
  copyFileSync(join(ROOT, 'package.json'), join(place, 'package.json'));
  const build = ['--import', 'tsx', join(ROOT, 'scripts/build.ts'), '--out', join(place, 'dist')];
  await execute(process.execPath, build, { cwd: ROOT });
}, 240_000);

const PROGRAM = `import { ToolMessage } from '@langchain/core/messages';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { Agent } from '@openai/agents';
import { generateText, type LanguageModel, streamText, ToolLoopAgent, type ToolResultPart } from 'ai';
import { createExecutor } from 'toolexec';
import { aiTools } from 'toolexec/ai-sdk';
import { resultContent } from 'toolexec/hosts';
import { langchainTools } from 'toolexec/langchain';
import { createMcpServer } from 'toolexec/mcp';
import { agentTools } from 'toolexec/openai-agents';
import type { CallToolResult as EarlierResult } from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult, Server } from '@modelcontextprotocol/server';

declare const model: LanguageModel;
const executor = createExecutor();
const at = { conversation: 'c' };
export const text = generateText({ model, prompt: 'x', ...aiTools(executor, at) });
export const stream = streamText({ model, prompt: 'x', ...aiTools(executor, at) });
export const loop = new ToolLoopAgent({ model, ...aiTools(executor, at) });
export const agent = new Agent({ name: 'a', tools: agentTools(executor, at) });
export const typed = new Agent<{ user: string }>({ name: 'a', tools: agentTools<{ user: string }>(executor, at) });
export const node = new ToolNode(langchainTools(executor, at));
export const bound = new FakeListChatModel({ responses: [] }).bindTools?.(langchainTools(executor, at));
export const server: Server = createMcpServer(executor);
const [result] = await executor.run([]);
export const content: CallToolResult | undefined = result && resultContent(result, 'mcp');
export const earlier: EarlierResult | undefined = result && resultContent(result, 'mcp');
export const output: ToolResultPart['output'] | undefined = result && resultContent(result, 'ai-sdk');
export const message = result && new ToolMessage({ tool_call_id: 'c', content: resultContent(result, 'langchain') });
`;

describe('the doors of the hosts', () => {
  eachOf(
    [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ],
    1,
  )(
    'fit the types of the frameworks: module %s, resolution %s',
    async (module, moduleResolution) => {
      const place = mkdtempSync(join(folder, 'project-'));
      const compilerOptions = {
        ...{
          target: 'es2023',
          lib: ['es2023', 'dom', 'esnext.disposable'],
          types: ['node'],
          module,
          moduleResolution,
        },
        ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
        ...{ skipLibCheck: true, noEmit: true, resolveJsonModule: true },
      };
      writeFileSync(join(place, 'package.json'), '{ "type": "module" }');
      const wrong = 'export const wrong = new Agent({ name: 7, tools: agentTools(executor, at) });\n';
      writeFileSync(join(place, 'fits.ts'), PROGRAM);
      writeFileSync(join(place, 'wrong.ts'), `${PROGRAM}${wrong}`);
      const files = ['fits.ts', 'wrong.ts'];
      writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const compiling = execute(process.execPath, [tsc, '-p', place]);
      const { stdout } = await compiling.catch((error: { stdout: string }) => error);
      const errors = stdout.split('\n').filter((line) => /(?:fits|wrong)\.ts\(/.test(line));
      expect(errors).toEqual([expect.stringMatching(/wrong\.ts\(/)]);
    },
    180_000,
  );
});
