import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCommandSandbox } from '../commands/sandbox/find-sandbox.js';
import type { SandboxOptions } from '../executor/executor-options.js';
import { eachOf } from '../testing/fixtures/each-of.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { servingScript } from './fixtures/serving-program.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const { stands } = await findCommandSandbox();
const ANY = { input_schema: { type: 'object' }, output_schema: {} };

/**
 * Reports what it can reach of these: a file beside the roots, the home directory, the network, its own file,
 * the root.
 */
const REACH = `
input=$(cat)
beside=$(cat $FOLDER/secret 2>/dev/null || echo no)
: > $FOLDER/made 2>/dev/null
: > here
nets=$(tail -n +3 /proc/self/net/dev | grep -vc '^ *lo:')
printf '{"input":%s,"beside":"%s","nets":%s,"own":%s}' "$input" "$beside" "$nets" "$([ -w "$0" ] && echo true || echo false)"
`;

async function run(script: string, sandbox: SandboxOptions, trusted: boolean, args: object = { a: 1 }) {
  using folder = new ToolsFolder();
  const root = join(folder.root, 'root');
  mkdirSync(root);
  writeFileSync(join(folder.root, 'secret'), 'secret');
  folder.add('tool', script.replaceAll('$FOLDER', folder.root));
  await using service = await openTools(folder.path, trusted ? { trusted: true } : {});
  await using executor = executorFor(service, { root, sandbox, limits: { maxToolArgsBytes: 2_000_000 } });
  const result = await executor.execute('tool', { ...args });
  const made = [join(folder.root, 'made'), join(root, 'here')].map((path) => existsSync(path));
  return { result, made };
}

describe.skipIf(!stands)('an external tool in the command sandbox (skipped where there is none)', () => {
  it('reaches the roots and nothing beside them, as commands do', async () => {
    const { result, made } = await run(scriptOf(REACH, ANY), { externalTools: 'untrusted' }, false);
    expect(result).toMatchObject({
      structured: { input: { a: 1 }, beside: 'no', nets: 0, own: false },
      metadata: { exit_code: 0, sandbox: { kind: 'bubblewrap', wall: 'bubblewrap', network: false } },
    });
    expect(made).toEqual([false, true]);
  });

  eachOf<[string, 'off' | 'untrusted', boolean]>(
    [
      ['it is off', 'off', false],
      ['its directory is trusted', 'untrusted', true],
    ],
    1,
  )('is outside where %s', async (_, externalTools, trusted) => {
    const { result, made } = await run(scriptOf(REACH, ANY), { externalTools }, trusted);
    expect(result).toMatchObject({ structured: { beside: 'secret' } });
    expect(result.metadata.sandbox).toBeUndefined();
    expect(made[0]).toBe(true);
  });

  it('runs each call in a new process inside the sandbox, if all tools run there', {
    tags: ['soak'],
  }, async () => {
    const script = servingScript('answer \'"warm"\'', `echo '"cold"'`, ANY);
    const { result } = await run(script, { externalTools: 'all' }, true);
    expect(result).toMatchObject({
      structured: 'cold',
      metadata: { sandbox: { kind: 'bubblewrap', wall: 'bubblewrap' } },
    });
  });

  it('does not see the files beside it, even if its folder also contains the roots', {
    tags: ['soak'],
  }, async () => {
    using folder = new ToolsFolder();
    const root = join(folder.path, 'root');
    mkdirSync(root);
    writeFileSync(join(folder.path, 'secret'), 'secret');
    folder.add('tool', scriptOf(`[ -e ${join(folder.path, 'secret')} ] && echo true || echo false`, ANY));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service, { root, sandbox: { externalTools: 'all' } });
    expect((await executor.execute('tool', {})).structured).toBe(false);
  });

  it('fails as it does outside, with its exit code and its error output', async () => {
    const { result } = await run(scriptOf('echo why >&2; exit 7', ANY), { externalTools: 'all' }, false);
    expect(result.error).toMatchObject({
      code: 'execution_failed',
      message: expect.stringMatching(/exit code 7\nwhy/),
    });
  });

  it('reads an input of a megabyte, streams, and leaves no input behind', async () => {
    const script = scriptOf(
      `n=$(wc -c)\nprintf '{"type":"stdout","text":"x"}\\n{"type":"result","value":%s}\\n' "$n"`,
      { ...ANY, streaming: true },
    );
    const text = 'a'.repeat(1_000_000);
    const { result } = await run(script, { externalTools: 'all' }, false, { text });
    expect(result.structured).toBe(`${JSON.stringify({ text })}\n`.length);
  });

  it('is ended with all its child processes when it is cancelled', async () => {
    using folder = new ToolsFolder();
    const root = join(folder.root, 'root');
    mkdirSync(root);
    folder.add('tool', scriptOf('(while :; do echo . >> beat; sleep 0.02; done) & sleep 60', ANY));
    await using service = await openTools(folder.path);
    // Its changes are visible while it runs.
    const sandbox = { externalTools: 'all', transactions: 'off' } as const;
    await using executor = executorFor(service, { root, sandbox });
    const stop = new AbortController();
    const running = executor.execute('tool', {}, { signal: stop.signal });
    await expect.poll(() => existsSync(join(root, 'beat')), { timeout: 20_000 }).toBe(true);
    stop.abort();
    expect((await running).error?.code).toBe('cancelled');
    const beat = (): string => readFileSync(join(root, 'beat'), 'utf8');
    const before = beat();
    await new Promise((done) => setTimeout(done, 100));
    expect(beat()).toBe(before);
  });
});
