import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleProgram } from '../../src/testing/fixtures/bundle-program.js';
import { builtCommand } from '../cli/built-command.js';
import { useToolexec } from '../cli/toolexec.js';
import { serveConformance } from './conformance-server.js';

const run = promisify(execFile);
const SUITE = '@modelcontextprotocol/conformance';
const INSPECTOR = '@modelcontextprotocol/inspector';

const folder = mkdtempSync(join(tmpdir(), 'toolexec-conformance-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const INSTALL_MS = 300_000;

/** Each has a separate directory: an installation would remove the other program. */
const placeOf = (name: string): string => join(folder, name.replace(/\W/g, '-'));

/** Installs a program of the registry for this test alone. @returns why it cannot run here; empty: it can */
function whyNot(name: string, version: string, least: readonly [major: number, minor: number]): string {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < least[0] || (major === least[0] && minor < least[1]))
    return ` (skipped: it needs Node ${least.join('.')})`;
  const place = placeOf(name);
  mkdirSync(place);
  const args = [
    'install',
    '--prefix',
    place,
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    `${name}@${version}`,
  ];
  const { status, signal } = spawnSync('npm', args, { cwd: place, timeout: INSTALL_MS, stdio: 'ignore' });
  if (status === 0) return '';
  return signal === null
    ? ' (skipped: the registry cannot be reached)'
    : ` (skipped: not installed within ${INSTALL_MS / 1000} s)`;
}

const NO_SUITE = whyNot(SUITE, '0.1.16', [22, 0]);
const NO_INSPECTOR = whyNot(INSPECTOR, '2.12.0', [22, 19]);

/** Parts of the protocol that our server does not offer by itself: each fails in the suite because it is missing. */
const NOT_OFFERED = [
  'logging-set-level',
  'completion-complete',
  'tools-call-with-logging',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];

/** A program of an installed package, run by the current Node. */
async function output(name: string, file: string, args: readonly string[], env = {}): Promise<string> {
  const program = join(placeOf(name), 'node_modules', name, file);
  const options = { timeout: 120_000, maxBuffer: 16 * 1024 * 1024, env: { ...process.env, ...env } };
  try {
    return (await run(process.execPath, [program, ...args], options)).stdout;
  } catch (error) {
    // The suite fails if one of its scenarios does: only its output counts.
    const { stdout } = error as { readonly stdout?: string };
    if (stdout === undefined || stdout === '') throw error;
    return stdout;
  }
}

describe.skipIf(NO_SUITE !== '')(`the official conformance suite${NO_SUITE}`, () => {
  const serverScenarios = async (parts: 'ours' | 'added') => {
    const url = await serveConformance(parts);
    const said = await output(SUITE, 'dist/index.js', ['server', '--url', url, '--suite', 'all']);
    const marked = (mark: string) =>
      [...said.matchAll(new RegExp(`^${mark} ([a-z0-9-]+):`, 'gm'))].map(([, name]) => name);
    return { passed: marked('✓'), failed: marked('✗') };
  };

  it('passes every scenario but those of parts that are not offered', { timeout: 240_000 }, async () => {
    const { passed, failed } = await serverScenarios('ours');
    expect(failed).toEqual(NOT_OFFERED);
    expect(passed).toHaveLength(32 - NOT_OFFERED.length);
  });

  it('passes all scenarios with handlers that a program adds for those parts', {
    timeout: 240_000,
  }, async () => {
    const { passed, failed } = await serverScenarios('added');
    expect(failed).toEqual([]);
    expect(passed).toHaveLength(32);
  });

  // The scenarios of OAuth are left out: a gateway sends the headers of its configuration.
  it.each(['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'])(
    'passes %s with the gateway as its client',
    { timeout: 180_000 },
    async (scenario) => {
      const program = bundleProgram(join(import.meta.dirname, 'conformance-client.ts'));
      const suite = join(placeOf(SUITE), 'node_modules', SUITE, 'dist/index.js');
      const command = `${process.execPath} ${program}`;
      const { stderr } = await run(process.execPath, [
        suite,
        'client',
        '--command',
        command,
        '--scenario',
        scenario,
      ]);
      expect(stderr).toContain('OVERALL: PASSED');
    },
  );
});

describe.skipIf(NO_INSPECTOR !== '')(`the MCP Inspector's command line${NO_INSPECTOR}`, () => {
  const toolexec = useToolexec();

  it('lists and calls the tools of toolexec mcp', { timeout: 240_000 }, async () => {
    toolexec.write('a.txt', 'hello\n');
    const command = [process.execPath, builtCommand(), 'mcp', '--root', toolexec.folder, '--read-only'];
    const ask = async (...args: string[]): Promise<unknown> => {
      const env = { XDG_STATE_HOME: join(folder, 'state') };
      const all = ['--cli', ...command, '--method', ...args];
      return JSON.parse(await output(INSPECTOR, 'clients/launcher/build/index.js', all, env));
    };
    expect(await ask('tools/list')).toMatchObject({
      tools: expect.arrayContaining([expect.objectContaining({ name: 'read_file' })]),
    });
    expect(await ask('tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=a.txt')).toMatchObject({
      content: [{ type: 'text', text: 'hello\n' }],
    });
  });
});
