import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { HOSTS_OF_PROJECTS } from '../../src/cli/init/templates.js';
import { useToolexec } from './toolexec.js';

const ROOT = resolve(import.meta.dirname, '../..');
const toolexec = useToolexec();
const execute = promisify(execFile);

/** Like `npm install`, but from the packages installed here, with toolexec as built for tests. */
function install(project: string): void {
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  const ours = dirname(dirname(dirname(toolexec.main)));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) {
    const place = join(project, 'node_modules', name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(name === 'toolexec' ? ours : join(ROOT, 'node_modules', name), place);
  }
}

/** A project of `toolexec init`, installed. */
async function projectOf(host: string) {
  const project = join(toolexec.folder, host);
  const { code, stderr } = await toolexec.run(['init', host, project]);
  expect([code, stderr]).toEqual([0, `toolexec: next, in "${project}": npm install; npm test\n`]);
  install(project);
  const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  const [compile, test = ''] = String(manifest.scripts.test).split(' && ');
  expect(compile).toBe('tsc');
  const node = async (...args: string[]): Promise<string> =>
    (await execute(process.execPath, args, { cwd: project, timeout: 200_000 })).stdout;
  return {
    runTest: () => node(...test.split(' ').slice(1)),
    /** Against the sources: the package built for tests has no declarations. @returns its errors */
    compile() {
      const paths = { toolexec: [`${ROOT}/src/index.ts`], 'toolexec/*': [`${ROOT}/src/*.ts`] };
      const compilerOptions = { paths, resolveJsonModule: true, noUncheckedIndexedAccess: true };
      toolexec.write(`${host}/check.json`, JSON.stringify({ extends: './tsconfig.json', compilerOptions }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      return node(tsc, '-p', 'check.json').catch(({ stdout }: { stdout: string }) =>
        stdout.split('\n').filter((line) => /^[\w.-]+\.ts\(/.test(line)),
      );
    },
  };
}

describe('toolexec init', () => {
  it('writes a project that passes its own test', async () => {
    expect(await (await projectOf('ai-sdk')).runTest()).toMatch(/pass 1\n[\s\S]*fail 0\n/);
  });

  // `test/hosts/*.soak.test.ts` run those whose frameworks are not installed here.
  it.each(HOSTS_OF_PROJECTS.filter((host) => host !== 'claude-agent' && host !== 'mastra'))(
    'writes a project that compiles and passes its own test: %s',
    { tags: ['soak'], timeout: 300_000 },
    async (host) => {
      const project = await projectOf(host);
      expect(await project.compile()).toHaveLength(0);
      expect(await project.runTest()).toMatch(/pass 1\n[\s\S]*fail 0\n/);
    },
  );

  it.each(HOSTS_OF_PROJECTS)(
    'proposes contained commands, and versions that this one supports: %s',
    async (host) => {
      const project = join(toolexec.folder, host);
      await toolexec.run(['init', host, project]);
      expect(readFileSync(join(project, 'toolexec.toml'), 'utf8')).toMatch(/^profile = "contained"$/m);
      const ours = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
      const theirs = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
      const peers: Record<string, string> = { ...ours.peerDependencies, toolexec: `^${ours.version}` };
      for (const [name, range] of Object.entries(theirs.dependencies)) {
        if (name in peers) expect([name, range]).toEqual([name, peers[name]]);
      }
      expect(
        readFileSync(join(project, host === 'mcp' ? 'server.ts' : 'agent.ts'), 'utf8').split('\n').length,
      ).toBeLessThan(50);
    },
  );

  it('overwrites nothing, and lists the supported hosts', async () => {
    const project = join(toolexec.folder, 'taken');
    mkdirSync(project);
    toolexec.write('taken/package.json', '{}');
    const taken = await toolexec.run(['init', 'mcp', project]);
    expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining('it is there already') });
    const unknown = await toolexec.run(['init', 'crew', join(toolexec.folder, 'other')]);
    expect(unknown).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ai-sdk, agents, langchain, claude-agent, mastra, mcp'),
    });
    expect(existsSync(join(toolexec.folder, 'other'))).toBe(false);
    expect(readdirSync(project)).toEqual(['package.json']);
  });
});
