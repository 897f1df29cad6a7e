// package.json lists the files that do something when they are imported. Bundlers drop the others if a
// program uses nothing of them, so the list must be true.
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCommand } from './cli/built-command.js';

const ROOT = resolve(import.meta.dirname, '..');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-side-effects-')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { exports, sideEffects } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** `toolexec/mastra` needs a package that is never installed here, so it cannot be imported. */
const doors = Object.keys(exports)
  .filter((door) => door !== './package.json' && door !== './mastra')
  .map((door) => door.replace('.', 'toolexec'));

/** The packages of the user that a door imports: their own side effects are not the door's. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  'toolexec/ai-sdk': ['ai'],
  'toolexec/claude-agent': ['@modelcontextprotocol/sdk/server/mcp.js', '@modelcontextprotocol/sdk/types.js'],
  'toolexec/fleet': ['pg'],
  'toolexec/langchain': ['@langchain/core/messages', '@langchain/core/tools'],
  'toolexec/openai-agents': ['@openai/agents'],
  'toolexec/otel': ['@opentelemetry/api'],
  'toolexec/mcp': ['@modelcontextprotocol/server'],
};

/** Prints a line for each door: the changes that its import has made in the process. */
const WATCH = `
const seen = () => JSON.stringify({
  globals: Reflect.ownKeys(globalThis).map(String),
  listeners: process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  environment: process.env,
  prototypes: [Object, Array, Function, Promise, String, Error].map((one) => Reflect.ownKeys(one.prototype).length),
  stackTraceLimit: Error.stackTraceLimit,
  directory: process.cwd(),
});
for (const [door, peers] of JSON.parse(process.argv[2])) {
  for (const peer of peers) await import(peer);
  const before = seen();
  await import(door);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const open = process.getActiveResourcesInfo().filter((name) => !/^(?:TTYWrap|PipeWrap|FSReqPromise|CloseReq)$/.test(name));
  console.log(door, before === seen(), JSON.stringify(open));
}
`;

/** Imports the doors one after the other in one process. */
function watch(doors: readonly string[]): string {
  const given = JSON.stringify(doors.map((door) => [door, PEERS[door] ?? []]));
  return execFileSync(process.execPath, [join(folder, 'watch.mjs'), given], {
    cwd: folder,
    encoding: 'utf8',
  });
}

describe('the doors of the package', () => {
  beforeAll(() => {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(dirname(dirname(dirname(builtCommand()))), join(folder, 'node_modules', 'toolexec'));
    for (const peer of new Set(Object.values(PEERS).flat().map(packageOf))) {
      mkdirSync(join(folder, 'node_modules', dirname(peer)), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', peer), join(folder, 'node_modules', peer));
    }
    writeFileSync(join(folder, 'watch.mjs'), WATCH);
  }, 240_000);

  it('change nothing when they are imported, and leave nothing running', () => {
    expect(watch(doors)).toBe(doors.map((door) => `${door} true []\n`).join(''));
  });

  it.each(doors)('alone as well: %s', { tags: ['soak'] }, (door) => {
    expect(watch([door])).toBe(`${door} true []\n`);
  });

  it('are left out of a bundle that uses nothing of them', async () => {
    expect(sideEffects).toEqual(['./dist/crash-program.js', './dist/command/*']);
    const all = doors.map((door) => `import '${door}';`).join('\n');
    expect((await bundle(`${all}\nconsole.log('alone');`)).length).toBeLessThan(1_000);
  });

  it('are bundled in part for a program that uses one name, and the program works', async () => {
    const one = await bundle(
      "import { truncate } from 'toolexec/output';\nconsole.log(truncate('x'.repeat(99), 40).text);",
    );
    const most = await bundle(
      "import { createExecutor } from 'toolexec';\nconsole.log(typeof createExecutor);",
    );
    expect(one.length).toBeLessThan(most.length / 10);
    expect(run(one)).toMatch(/^x+.*truncated/s);
    expect(run(most)).toBe('function\n');
  });
});

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: program, resolveDir: folder },
    write: false,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}

function run(text: string): string {
  const file = join(mkdtempSync(join(folder, 'run-')), 'program.mjs');
  writeFileSync(file, text);
  return execFileSync(process.execPath, [file], { cwd: folder, encoding: 'utf8' });
}
