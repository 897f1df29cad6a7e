import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ExternalTools } from '../contract/external.js';
import type { BreakerOptions } from './circuit-breaker.js';
import { executorFor, openTools } from './fixtures/open-tools.js';
import { scriptOf, ToolsFolder } from './fixtures/tools-folder.js';

const ANY = { input_schema: { type: 'object' }, output_schema: {} };

/** A tool that fails until a file says otherwise, and counts its starts. */
async function failingTool(breaker: false | BreakerOptions | undefined) {
  const folder = new ToolsFolder();
  const count = join(folder.root, 'count');
  folder.add('tool', scriptOf(`echo x >> ${count}\n[ -e ${folder.root}/ok ] || exit 1\necho 1`, ANY));
  const service = await openTools(folder.path, breaker === undefined ? {} : { breaker });
  const executor = executorFor(service);
  return {
    service,
    codes: async (times: number): Promise<unknown[]> => {
      const codes = [];
      for (let time = 0; time < times; time++) codes.push((await executor.execute('tool', {})).error?.code);
      return codes;
    },
    call: () => executor.execute('tool', {}),
    started: (): number => (existsSync(count) ? readFileSync(count, 'utf8').length / 2 : 0),
    mend: () => folder.add('ok', '', 0o644, folder.root),
    replace: () => folder.add('tool', scriptOf('echo 2', ANY)),
    async [Symbol.asyncDispose]() {
      await executor[Symbol.asyncDispose]();
      await service.close();
      folder[Symbol.dispose]();
    },
  };
}

const stateOf = (service: ExternalTools): string | undefined => service.list()[0]?.circuit.state;
const LONG = 600_000;

describe('the circuit of a tool (E046)', () => {
  it('opens after a number of failures in a row: further calls are refused, and start nothing', async () => {
    await using tool = await failingTool({ threshold: 3, cooldownMs: LONG });
    expect(await tool.codes(5)).toEqual([
      ...Array(3).fill('execution_failed'),
      ...Array(2).fill('circuit_open'),
    ]);
    expect(tool.started()).toBe(3);
    expect(stateOf(tool.service)).toBe('open');
    const { error } = await tool.call();
    const retryAt = tool.service.list()[0]?.circuit.retryAt;
    expect(error).toMatchObject({
      message: `tool failed too often, and was not run: it is tried again at ${retryAt}.`,
      details: { retryAt, executed: 'no' },
    });
    // A refusal is not an attempt.
    expect(tool.service.list()[0]?.metrics).toMatchObject({ totalExecutions: 3, failedExecutions: 3 });
  });

  it('lets one call through after the cooldown; a success closes it', async () => {
    await using tool = await failingTool({ threshold: 2, cooldownMs: 1 });
    await tool.codes(2);
    await expect.poll(() => stateOf(tool.service)).toBe('half-open');
    expect(await tool.codes(1)).toEqual(['execution_failed']);
    tool.mend();
    await expect.poll(() => stateOf(tool.service)).toBe('half-open');
    expect(await tool.codes(1)).toEqual([undefined]);
    expect(tool.service.list()[0]?.circuit).toEqual({ state: 'closed' });
  });

  it('counts failures in a row: a success resets the count', async () => {
    await using folder = new AsyncFolder();
    folder.add('tool', scriptOf('read -r line; case $line in *fail*) exit 1 ;; esac; echo 1', ANY));
    await using service = await openTools(folder.path, { breaker: { threshold: 2, cooldownMs: LONG } });
    await using executor = executorFor(service);
    const codes = [];
    for (const args of [{ fail: true }, {}, { fail: true }, {}, { fail: true }, { fail: true }, {}]) {
      codes.push((await executor.execute('tool', args)).error?.code);
    }
    expect(codes).toEqual([
      'execution_failed',
      undefined,
      'execution_failed',
      undefined,
      'execution_failed',
      'execution_failed',
      'circuit_open',
    ]);
  });

  it('admits one trial call and refuses the others; it stays open if the trial is cancelled', async () => {
    await using folder = new AsyncFolder();
    const begun = join(folder.root, 'begun');
    folder.add('tool', scriptOf(`[ -e ${folder.root}/wait ] || exit 1\ntouch ${begun}\nsleep 600`, ANY));
    await using service = await openTools(folder.path, { breaker: { threshold: 1, cooldownMs: 1 } });
    await using executor = executorFor(service);
    await executor.execute('tool', {});
    folder.add('wait', '', 0o644, folder.root);
    await expect.poll(() => stateOf(service)).toBe('half-open');
    const stop = new AbortController();
    const trying = executor.execute('tool', {}, { signal: stop.signal, conversation: 'one' });
    await expect.poll(() => existsSync(begun)).toBe(true);
    const other = await executor.execute('tool', {}, { conversation: 'two' });
    expect(other.error?.code).toBe('circuit_open');
    stop.abort();
    expect((await trying).error?.code).toBe('cancelled');
    expect(stateOf(service)).not.toBe('closed');
  });

  it('is new for a replaced program', async () => {
    await using tool = await failingTool({ threshold: 1, cooldownMs: LONG });
    expect(await tool.codes(2)).toEqual(['execution_failed', 'circuit_open']);
    tool.replace();
    await tool.service.refresh();
    expect((await tool.call()).structured).toBe(2);
  });

  it('opens after five failures by default, and never if it is switched off', async () => {
    await using byDefault = await failingTool(undefined);
    expect((await byDefault.codes(6)).at(-1)).toBe('circuit_open');
    await using never = await failingTool(false);
    expect((await never.codes(6)).at(-1)).toBe('execution_failed');
  });
});

class AsyncFolder extends ToolsFolder implements AsyncDisposable {
  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
  }
}
