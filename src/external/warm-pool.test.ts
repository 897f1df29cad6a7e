import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ToolEvent } from '../contract/executor.js';
import { readProcess } from '../platform/process/proc-table.js';
import { bundleProgram } from '../testing/fixtures/bundle-program.js';
import type { DiscoverOptions } from './external-options.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { servingScript } from './fixtures/serving-program.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

/** Makes one call after another to a program that serves, and returns the outcomes. */
async function callAll(
  script: string,
  argsOfAll: readonly object[],
  options: DiscoverOptions = {},
  timeoutMs = 20_000,
) {
  using folder = new ToolsFolder();
  folder.add('tool', script.replaceAll('$FOLDER', folder.root));
  await using service = await openTools(folder.path, options);
  await using executor = executorFor(service, { timeouts: { externalToolsMs: timeoutMs } });
  const results = [];
  for (const args of argsOfAll) results.push(await executor.execute('tool', { ...args }));
  return results;
}

const codesOf = (results: Awaited<ReturnType<typeof callAll>>): unknown[] =>
  results.map(({ error, structured }) => error?.code ?? structured);

/** An ended process may keep its number until its parent has waited for it. */
function isAlive(pid: number): boolean {
  return readProcess(pid)?.alive === true;
}

describe('a tool that serves', () => {
  it('answers many calls with one process (E043)', async () => {
    const script = servingScript('answer "[$n,$$,$line]"');
    const results = await callAll(script, [{ a: 1 }, { a: 2 }, { a: 3 }]);
    const values = results.map(({ structured }) => structured as [number, number, { arguments: object }]);
    expect(values.map(([n, , request]) => [n, request.arguments])).toEqual([
      [1, { a: 1 }],
      [2, { a: 2 }],
      [3, { a: 3 }],
    ]);
    expect(new Set(values.map(([, pid]) => pid)).size).toBe(1);
    expect(results[0]?.metadata).toMatchObject({ warm: true });
  });

  it('sees the same environment as every tool, and no secret', { tags: ['soak'] }, async () => {
    process.env.TEST_API_TOKEN = 'tok-1234567890';
    try {
      const said = `answer "[\\"$TOOLEXEC_TOOL_MODE\\",\\"$GIBSON_TOOL_MODE\\",\\"$TEST_API_TOKEN\\"]"`;
      expect(codesOf(await callAll(servingScript(said), [{}]))).toEqual([['serve', 'subprocess', '']]);
    } finally {
      delete process.env.TEST_API_TOKEN;
    }
  });

  it('shows progress and output while it works (E044)', async () => {
    using folder = new ToolsFolder();
    const lines = [
      `printf '{"type":"progress","id":"%s","message":"half","percent":50}\\n' "$id"`,
      `printf '{"type":"stdout","id":"%s","text":"row\\\\n"}\\n' "$id"`,
    ];
    folder.add('tool', servingScript([...lines, 'answer 1'].join('\n')));
    await using service = await openTools(folder.path);
    const events: ToolEvent[] = [];
    await using executor = executorFor(service);
    const run = executor.start([{ id: '1', name: 'tool', args: {} }]);
    for await (const event of run.events) events.push(event);
    const shown = events.map((event) => (event.type === 'stdout' ? event.chunk : '')).join('');
    expect(shown).toBe('50% half\nrow\n');
  });

  it('may report that a call failed, and continues', { tags: ['soak'] }, async () => {
    const script = servingScript(`case $n in
      1) printf '{"type":"error","id":"%s","message":"no such row"}\\n' "$id" ;;
      *) answer $n ;;
    esac`);
    const results = await callAll(script, [{}, {}]);
    expect(codesOf(results)).toEqual(['execution_failed', 2]);
    expect(results[0]?.error?.message).toBe('tool failed: no such row');
  });

  it('is checked against its output schema', { tags: ['soak'] }, async () => {
    const document = { input_schema: { type: 'object' }, output_schema: { type: 'string' } };
    const results = await callAll(servingScript('answer $n', '', document), [{}, {}]);
    // The second process starts counting from one.
    expect(codesOf(results)).toEqual(['invalid_tool_output', 'invalid_tool_output']);
    expect(results[0]?.error?.message).toMatch(/^tool failed: /);
  });

  it('answers each of many concurrent calls with its own result', { tags: ['soak'] }, async () => {
    using folder = new ToolsFolder();
    folder.add('tool', servingScript('v=$(echo "$line" | cut -d: -f4 | cut -d"}" -f1)\nanswer "[$v,$$]"'));
    await using service = await openTools(folder.path, { warm: { processes: 3 } });
    await using executor = executorFor(service);
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const results = await Promise.all(
      numbers.map((n) => executor.execute('tool', { n }, { conversation: `c${n}` })),
    );
    const values = results.map(({ structured }) => structured as [number, number]);
    expect(values.map(([n]) => n)).toEqual(numbers);
    expect(new Set(values.map(([, pid]) => pid)).size).toBeLessThanOrEqual(3);
  });
});

describe('a process that misbehaves gets no further call', () => {
  const results = async (body: string, options?: DiscoverOptions, timeoutMs?: number) =>
    codesOf(await callAll(servingScript(body), [{}, {}], options, timeoutMs));

  it('dies in the middle of a call', { tags: ['soak'] }, async () => {
    // If it were the same process, it would die as well.
    const body = '[ -e $FOLDER/died ] || { touch $FOLDER/died; exit 3; }\nanswer $n';
    expect(await results(body)).toEqual(['execution_failed', 1]);
  });

  it('answers twice', { tags: ['soak'] }, async () => {
    const twice = `one=$(answer $n)\nprintf '%s\\n%s\\n' "$one" "$one"`;
    expect(await results(twice)).toEqual([1, 1]);
  });

  it.each([
    ['a line of progress', '{"type":"progress","id":"%s","message":"late"}'],
    ['an answer', '{"type":"result","id":"%s","value":"late"}'],
  ])('writes %s late: the next call has its own answer all the same', async (_, line) => {
    const late = `(was=$id; sleep 0.1; printf '${line}\\n' "$was") &`;
    const body = `[ $n = 1 ] || sleep 0.4\nanswer "[$n,$$]"\n[ $n = 2 ] || ${late}`;
    const results = await callAll(servingScript(body), [{}, {}, {}]);
    // If this comes before the next call, that call gets another process.
    expect(results.map(({ error, structured }) => error ?? structured)).toEqual([
      [1, expect.any(Number)],
      [expect.any(Number), expect.any(Number)],
      [expect.any(Number), expect.any(Number)],
    ]);
  });

  it('answers with the id of an earlier call: no call gets that answer', async () => {
    const body = 'new=$id; [ $n = 1 ] || id=$old; old=$new\nanswer "\\"secret of call $n\\""';
    expect(await results(body)).toEqual(['secret of call 1', 'invalid_tool_output']);
  });

  it('answers without an id', { tags: ['soak'] }, async () => {
    expect(await results(`echo '{"type":"result","value":1}'`)).toEqual([
      'invalid_tool_output',
      'invalid_tool_output',
    ]);
  });

  it('begins another line after its answer', { tags: ['soak'] }, async () => {
    const body = `one=$(answer $n)\nprintf '%s\\n{"type"' "$one"`;
    expect(await results(body)).toEqual([1, 1]);
  });

  it('changes the format of its answers', { tags: ['soak'] }, async () => {
    const body = 'case $n in 1) answer $n ;; *) echo "Result: $n" ;; esac';
    const [first, second, third] = await callAll(servingScript(body), [{}, {}, {}]);
    expect([first?.structured, second?.error?.code, third?.structured]).toEqual([
      1,
      'invalid_tool_output',
      1,
    ]);
    expect(second?.error?.message).toContain('it wrote a line that is not JSON');
  });

  it('floods', { tags: ['soak'] }, async () => {
    const [first] = await callAll(servingScript('yes | tr -d "\\n"'), [{}], { maxOutputBytes: 10_000 });
    expect(first?.error).toMatchObject({
      code: 'invalid_tool_output',
      message: 'tool failed: it wrote more than it may in one line',
    });
  });

  it('hangs and ignores SIGTERM: it is gone with its child processes when the call is answered', async () => {
    using folder = new ToolsFolder();
    const place = join(folder.root, 'pids');
    const body = `trap '' TERM\n(trap '' TERM; sleep 600) &\necho $$ $! > ${place}\nwhile :; do sleep 600; done`;
    folder.add('tool', servingScript(body));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    const stop = new AbortController();
    const running = executor.execute('tool', {}, { signal: stop.signal });
    await expect.poll(() => existsSync(place) && readFileSync(place, 'utf8').trim()).toMatch(/ \d/);
    stop.abort();
    expect((await running).error?.code).toBe('cancelled');
    const pids = readFileSync(place, 'utf8').trim().split(' ').map(Number);
    expect(pids.map(isAlive)).toEqual([false, false]);
  });

  it('takes too long: the call times out, and the next call gets another process', async () => {
    const body = '[ -e $FOLDER/slow ] || { touch $FOLDER/slow; sleep 600; }\nanswer $n';
    expect(await results(body, {}, 1_500)).toEqual(['timeout', 1]);
  });
});

describe('the pool', () => {
  it('starts one process per call if the program cannot serve', { tags: ['soak'] }, async () => {
    const cold = `[ "$1" = "--schema" ] && { echo '{"input_schema":{"type":"object"},"output_schema":{},"serve":true}'; exit; }`;
    const ends = `#!/bin/sh\n${cold}\n[ "$1" = "--serve" ] && exit 9\necho '"cold"'\n`;
    expect(codesOf(await callAll(ends, [{}, {}]))).toEqual(['cold', 'cold']);
    const silent = `#!/bin/sh\n${cold}\n[ "$1" = "--serve" ] && exec sleep 600\necho '"cold"'\n`;
    expect(codesOf(await callAll(silent, [{}, {}], { warm: { startMs: 1 } }))).toEqual(['cold', 'cold']);
    expect(codesOf(await callAll(servingScript('answer 1'), [{}], { warm: false }))).toEqual(['cold']);
  });

  it('ends a process after a number of calls', { tags: ['soak'] }, async () => {
    const results = await callAll(servingScript('answer $$'), [{}, {}, {}, {}], { warm: { maxCalls: 2 } });
    const [one, two, three, four] = codesOf(results);
    expect([one === two, two === three, three === four]).toEqual([true, false, true]);
  });

  it('starts the next process a little early, and uses the old one until the new one is ready', {
    tags: ['soak'],
  }, async () => {
    using folder = new ToolsFolder();
    const gate = join(folder.root, 'gate');
    writeFileSync(gate, '');
    const waits = `while [ ! -e "${gate}" ]; do sleep 0.01; done`;
    folder.add('tool', servingScript('answer $$').replace('\nn=0\n', `\n${waits}\nn=0\n`));
    await using service = await openTools(folder.path, { warm: { maxCalls: 10 } });
    await using executor = executorFor(service);
    const pidOf = async (): Promise<number> => Number((await executor.execute('tool', {})).structured);
    const first = await pidOf();
    unlinkSync(gate);
    const others = [];
    for (let call = 0; call < 15; call++) others.push(await pidOf());
    expect(new Set(others)).toEqual(new Set([first]));
    writeFileSync(gate, '');
    await expect.poll(pidOf, { timeout: 20_000 }).not.toBe(first);
    await expect.poll(() => isAlive(first), { timeout: 20_000 }).toBe(false);
  });

  it('ends an idle process, and starts another for the next call', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', servingScript('answer $$'));
    await using service = await openTools(folder.path, { warm: { idleMs: 1 } });
    await using executor = executorFor(service);
    const first = Number((await executor.execute('tool', {})).structured);
    await expect.poll(() => isAlive(first)).toBe(false);
    expect((await executor.execute('tool', {})).structured).not.toBe(first);
  });

  it('pings a process after an idle time, and replaces it if it does not answer', {
    tags: ['soak'],
  }, async () => {
    // The system still lists a stopped process, but it answers nothing.
    const script = servingScript('answer $$');
    using folder = new ToolsFolder();
    folder.add('tool', script);
    await using service = await openTools(folder.path, { warm: { checkAfterMs: 0 } });
    await using executor = executorFor(service);
    const pidOf = async (): Promise<number> => Number((await executor.execute('tool', {})).structured);
    const first = await pidOf();
    expect(await pidOf()).toBe(first);
    process.kill(first, 'SIGSTOP');
    const second = await pidOf();
    expect(second).not.toBe(first);
    expect(isAlive(first)).toBe(false);
  });

  it('has separate processes for every directory and environment', { tags: ['soak'] }, async () => {
    using folder = new ToolsFolder();
    folder.add('tool', servingScript('answer "[$$,\\"$PWD\\",\\"$SHADE\\"]"'));
    await using service = await openTools(folder.path);
    const seen = [];
    for (const [root, shade] of [
      ['one', 'red'],
      ['two', 'red'],
      ['two', 'blue'],
    ] as const) {
      const path = join(folder.root, root);
      mkdirSync(path, { recursive: true });
      process.env.SHADE = shade;
      try {
        await using executor = executorFor(service, { root: path });
        seen.push((await executor.execute('tool', {})).structured as [number, string, string]);
      } finally {
        delete process.env.SHADE;
      }
    }
    expect(seen.map(([, at, shade]) => [at.split('/').at(-1), shade])).toEqual([
      ['one', 'red'],
      ['two', 'red'],
      ['two', 'blue'],
    ]);
    expect(new Set(seen.map(([pid]) => pid)).size).toBe(3);
  });

  it('starts a process for a replaced program, and ends the old process', { tags: ['soak'] }, async () => {
    using folder = new ToolsFolder();
    folder.add('tool', servingScript('answer $$'));
    await using service = await openTools(folder.path);
    await using executor = executorFor(service);
    const old = Number((await executor.execute('tool', {})).structured);
    folder.add('tool', servingScript('answer "\\"new\\""'));
    await expect.poll(async () => (await executor.execute('tool', {})).structured).toBe('new');
    await service.refresh();
    await expect.poll(() => isAlive(old)).toBe(false);
  });

  it('is gone when the service is closed', async () => {
    using folder = new ToolsFolder();
    folder.add('tool', servingScript("trap '' TERM\nanswer $$"));
    const service = await openTools(folder.path);
    await using executor = executorFor(service);
    const pid = Number((await executor.execute('tool', {})).structured);
    expect(isAlive(pid)).toBe(true);
    await service.close();
    expect(isAlive(pid)).toBe(false);
  });

  it('dies with its host, even if that is killed with SIGKILL', async () => {
    using folder = new ToolsFolder();
    // It no longer reads, so only the supervisor can end it.
    folder.add('tool', servingScript("trap '' TERM HUP PIPE\nanswer $$\nexec sleep 600"));
    const host = startHost(folder.path);
    const pid = Number(String(await once(host.stdout ?? host, 'data')));
    expect(isAlive(pid)).toBe(true);
    host.kill('SIGKILL');
    await expect.poll(() => isAlive(pid), { timeout: 40_000 }).toBe(false);
  });
});

const WARM_HOST = bundleProgram(fileURLToPath(new URL('./fixtures/warm-host.ts', import.meta.url)));

/** A program that makes one call, prints its result, and continues to run. */
function startHost(directory: string): ChildProcess {
  return spawn(process.execPath, [WARM_HOST, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
}

describe('a program without a pool', () => {
  it('runs as before', { tags: ['soak'] }, async () => {
    expect(codesOf(await callAll(scriptOf('echo 1', { input_schema: {}, output_schema: {} }), [{}]))).toEqual(
      [1],
    );
  });
});
