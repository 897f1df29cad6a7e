// Mastra as it is published, with a model in this process. It is not installed with the other packages: it needs Node
// 22.13 and brings 150 packages.
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useToolexec } from '../cli/toolexec.js';
import { whyNoDownloads } from './published-package.js';

const ROOT = resolve(import.meta.dirname, '../..');
/** The oldest and the newest supported version. */
const VERSIONS = ['1.0.4', '1.71.0'] as const;
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

const folder = mkdtempSync(join(tmpdir(), 'toolexec-mastra-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }), 240_000);
const toolexec = useToolexec();
const execute = promisify(execFile);
const placeOf = (version: string): string => join(folder, version);

let missing = whyNoDownloads();
beforeAll(() => {
  if (missing !== undefined) return;
  if (major < 22 || (major === 22 && minor < 13)) missing = 'Mastra needs Node 22.13';
  else if (!VERSIONS.every(install)) missing = 'the npm registry cannot be reached';
}, 600_000);

/** A project with this version, and with toolexec as built for tests. */
function install(version: string): boolean {
  const place = placeOf(version);
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), '{ "type": "module", "private": true }');
  const args = ['install', '--no-audit', '--no-fund', `@mastra/core@${version}`, 'zod@4'];
  if (spawnSync('npm', args, { cwd: place, timeout: 300_000 }).status !== 0) return false;
  for (const name of ['@types/node', 'tsx', 'typescript', 'ai']) {
    const link = join(place, 'node_modules', name);
    rmSync(link, { recursive: true, force: true });
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), link);
  }
  // A copy, so that it finds Mastra beside itself.
  const built = dirname(dirname(dirname(toolexec.main)));
  cpSync(built, join(place, 'node_modules', 'toolexec'), {
    recursive: true,
    dereference: true,
    filter: isOwn,
  });
  return true;
}

const isOwn = (path: string): boolean => basename(path) !== 'node_modules';

/** Each attack in one program; it prints what happened. */
const PROGRAM = `
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { Mastra } from '@mastra/core';
import { Agent } from '@mastra/core/agent';
import { InMemoryStore } from '@mastra/core/storage';
import { createExecutor, defineTool } from 'toolexec';
import { mastraTools } from 'toolexec/mastra';

writeFileSync('ledger', '');
const remove = defineTool({
  name: 'remove', description: 'Removes.', input: { type: 'object', required: ['what'], properties: { what: { type: 'string' } } },
  requiresApproval: true, summarize: ({ what }) => 'remove ' + what, effects: () => [{ kind: 'fetch', url: 'https://example.org' }],
  execute: ({ what }, { callId }) => { appendFileSync('ledger', callId + ' ' + what + '\\n'); return 'removed ' + what; },
});
const look = defineTool({
  name: 'look', description: 'Looks.', input: { type: 'object' }, effects: () => [],
  execute: () => ({ text: 'seen', content: [{ type: 'image', mediaType: 'image/png', data: new Uint8Array([1, 2]) }] }),
});
const fail = defineTool({
  name: 'fail', description: 'Fails.', input: { type: 'object' }, effects: () => [],
  execute: () => ({ text: 'the log', error: { message: 'it broke' } }),
});
const open = () => createExecutor({ tools: [remove, look, fail], root: '.', policy: { mode: 'auto' }, journal: '../journal-' + process.argv[2] + '.db' });

function modelOf(toolName, args, toolCallId) {
  const sent = [];
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const partsFor = (prompt) => {
    sent.push(JSON.stringify(prompt));
    return sent.at(-1).includes('"tool-result"') ? undefined : { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(args) };
  };
  return {
    specificationVersion: 'v2', provider: 'fake', modelId: 'm', supportedUrls: {}, sent,
    async doGenerate({ prompt }) {
      const call = partsFor(prompt);
      return { content: [call ?? { type: 'text', text: 'done' }], finishReason: call ? 'tool-calls' : 'stop', usage, warnings: [] };
    },
    async doStream({ prompt }) {
      const call = partsFor(prompt);
      const said = [{ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'done' }, { type: 'text-end', id: '1' }];
      const parts = [{ type: 'stream-start', warnings: [] }, ...(call ? [call] : said), { type: 'finish', finishReason: call ? 'tool-calls' : 'stop', usage }];
      return { stream: new ReadableStream({ start(to) { for (const part of parts) to.enqueue(part); to.close(); } }) };
    },
  };
}

function agentOf(executor, model, storage) {
  const agent = new Agent({ id: 'a', name: 'a', instructions: 'i', model, tools: mastraTools(executor, { conversation: 'chat' }) });
  return new Mastra({ agents: { agent }, storage, logger: false }).getAgent('agent');
}

const seen = {};
const ran = () => readFileSync('ledger', 'utf8').split('\\n').slice(0, -1);
{
  const storage = new InMemoryStore({ id: 's' });
  const model = modelOf('remove', { what: 'x' }, 'c1');
  const one = open();
  const asked = await agentOf(one, model, storage).generate('go');
  seen.asked = [asked.finishReason, asked.suspendPayload?.suspendPayload ?? asked.suspendPayload, ran()];
  const two = open();
  const agent = agentOf(two, model, storage);
  const done = await agent.approveToolCallGenerate({ runId: asked.runId, toolCallId: 'c1' });
  seen.approved = [done.text, model.sent.at(-1).includes('removed x'), ran()];
  seen.twice = await agent.approveToolCallGenerate({ runId: asked.runId, toolCallId: 'c1' }).then(() => 'ran', () => 'refused');
  seen.again = await agentOf(two, modelOf('remove', { what: 'x' }, 'c1'), storage).generate('again').then(({ text }) => text);
  seen.ran = ran();
  await Promise.all([one.close(), two.close()]);
}
{
  const model = modelOf('remove', { what: 'y' }, 'c2');
  const one = open();
  const agent = agentOf(one, model, new InMemoryStore({ id: 's' }));
  const asked = await agent.generate('go');
  await agent.declineToolCallGenerate({ runId: asked.runId, toolCallId: 'c2' });
  seen.declined = [ran().length, model.sent.at(-1).includes('removed y')];
  await one.close();
}
{
  const one = open();
  const store = () => new InMemoryStore({ id: 's' });
  const failing = modelOf('fail', {}, 'c3');
  await agentOf(one, failing, store()).generate('go');
  seen.failed = failing.sent.at(-1).includes('it broke') && failing.sent.at(-1).includes('error');
  const looking = modelOf('look', {}, 'c4');
  await agentOf(one, looking, store()).generate('go');
  seen.picture = looking.sent.at(-1).includes('"mediaType":"image/png"');
  const wrong = modelOf('remove', { what: 7 }, 'c5');
  await agentOf(one, wrong, store()).generate('go');
  seen.wrong = [ran().length, wrong.sent.at(-1).includes('what')];
  await one.close();
}
console.log(JSON.stringify(seen));
`;

describe.each(VERSIONS)('mastraTools() in Mastra %s', (version) => {
  it('suspends for approval, runs what was approved once, and nothing else', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const place = placeOf(version);
    writeFileSync(join(place, 'program.mjs'), PROGRAM);
    const { stdout } = await execute(process.execPath, ['program.mjs', version], { cwd: place });
    const seen = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    expect(seen).toMatchObject({
      asked: ['suspended', { type: 'tool_approval', toolName: 'remove', summary: 'remove x' }, []],
      approved: ['done', true, ['c1 x']],
      twice: 'refused',
      again: 'done',
      ran: ['c1 x'],
      declined: [1, false],
      failed: true,
      picture: true,
      wrong: [1, true],
    });
  });

  it('fits the types of Mastra in both kinds of resolution', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const place = placeOf(version);
    const program = `import { Agent } from '@mastra/core/agent';
import { createExecutor } from 'toolexec';
import { mastraTools } from 'toolexec/mastra';
const tools = mastraTools(createExecutor(), { conversation: 'c' });
export const agent = new Agent({ id: 'a', name: 'a', instructions: 'i', model: 'openai/gpt-5', tools });
`;
    writeFileSync(join(place, 'fits.ts'), program);
    for (const [module, moduleResolution] of [
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ]) {
      const compilerOptions = {
        ...{
          target: 'es2023',
          lib: ['es2023', 'dom', 'esnext.disposable'],
          types: ['node'],
          module,
          moduleResolution,
        },
        ...{
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: true,
          noEmit: true,
          resolveJsonModule: true,
        },
        paths: {
          toolexec: [`${ROOT}/src/index.ts`],
          'toolexec/*': [`${ROOT}/src/*.ts`],
          '@mastra/core/tools': [`${place}/node_modules/@mastra/core/dist/tools/index.d.ts`],
          '@mastra/core/agent': [`${place}/node_modules/@mastra/core/dist/agent/index.d.ts`],
        },
      };
      writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['fits.ts'] }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const { stdout } = await execute(process.execPath, [tsc, '-p', place]).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout.split('\n').filter((line) => line.includes('fits.ts('))).toEqual([]);
    }
  });
});

describe('examples/mastra.ts', () => {
  it('runs its agent where Mastra is installed', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const place = join(placeOf(VERSIONS[1]), 'examples');
    cpSync(join(ROOT, 'examples/mastra'), join(place, 'mastra'), { recursive: true });
    cpSync(join(ROOT, 'examples/mastra.ts'), join(place, 'mastra.ts'));
    // The configuration of the test above maps Mastra's imports to its types.
    writeFileSync(join(place, 'tsconfig.json'), '{}');
    const { stdout } = await execute(process.execPath, ['--import', 'tsx', 'mastra.ts'], { cwd: place });
    expect(stdout).not.toContain('Skipped');
  });
});

describe('toolexec init mastra', () => {
  it('writes a project that passes its own test', async ({ skip }) => {
    skip(missing !== undefined, missing);
    const project = join(placeOf(VERSIONS[1]), 'project');
    expect(await toolexec.run(['init', 'mastra', project])).toMatchObject({ code: 0 });
    expect(readFileSync(join(project, 'agent.ts'), 'utf8')).toContain('mastraTools');
    // Against the sources: the package built for tests has no declarations.
    const paths = { toolexec: [`${ROOT}/src/index.ts`], 'toolexec/*': [`${ROOT}/src/*.ts`] };
    const checked = { extends: './tsconfig.json', compilerOptions: { paths, resolveJsonModule: true } };
    writeFileSync(join(project, 'check.json'), JSON.stringify(checked));
    const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'check.json'];
    const compiled = await execute(process.execPath, tsc, { cwd: project }).catch(
      (error: { stdout: string }) => error,
    );
    expect(compiled.stdout.split('\n').filter((line) => /^[\w.-]+\.ts\(/.test(line))).toEqual([]);
    const args = ['--import', 'tsx', '--test', 'agent.test.ts'];
    const { stdout } = await execute(process.execPath, args, { cwd: project });
    expect(stdout).toMatch(/pass 1\n[\s\S]*fail 0\n/);
  });
});
