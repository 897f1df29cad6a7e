// The tests of the hosts again, with the oldest versions of their packages that `package.json` allows.
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { whyNoDownloads } from './published-package.js';

const ROOT = resolve(import.meta.dirname, '../..');
const { peerDependencies }: { peerDependencies: Record<string, string> } = JSON.parse(
  readFileSync(join(ROOT, 'package.json'), 'utf8'),
);
const OLDEST = [
  'ai',
  '@openai/agents',
  '@langchain/core',
  '@langchain/langgraph',
  '@modelcontextprotocol/sdk',
];
const FILES = ['ai-sdk', 'langchain', 'openai-agents', 'claude-agent'].map(
  (name) => `src/hosts/${name}.test.ts`,
);

// Inside the repository: a package that is missing there is found in a parent directory.
mkdirSync(join(ROOT, '.tmp'), { recursive: true });
const folder = mkdtempSync(join(ROOT, '.tmp', 'oldest-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function install(): boolean {
  const manifest = { type: 'module', private: true, version: '0.0.0' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  const names = OLDEST.map((name) => `${name}@${peerDependencies[name]?.replace('^', '')}`);
  const args = ['install', '--no-audit', '--no-fund', '--legacy-peer-deps', ...names];
  return spawnSync('npm', args, { cwd: folder, timeout: 300_000 }).status === 0;
}

function versionOf(name: string): string {
  const manifest = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

describe('the hosts with the oldest packages that are supported', () => {
  it('pass their tests', { timeout: 600_000 }, async ({ skip }) => {
    const why = whyNoDownloads() ?? (install() ? undefined : 'the npm registry cannot be reached');
    skip(why !== undefined, why);
    for (const name of OLDEST) expect(`^${versionOf(name)}`).toBe(peerDependencies[name]);
    // The repository itself pairs OpenAI's Agents SDK with an older `openai` than users get.
    expect(versionOf('openai')).toMatch(/^7\./);
    cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
    writeFileSync(join(folder, 'vitest.config.mjs'), 'export default { test: { testTimeout: 60_000 } };\n');
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' };
    const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, ...FILES];
    const ended = await promisify(execFile)(process.execPath, args, { cwd: folder, env }).catch(
      (error) => error,
    );
    expect(`${ended.stdout}${ended.stderr ?? ''}`).toMatch(/Test Files .*4 passed \(4\)/);
  });
});
