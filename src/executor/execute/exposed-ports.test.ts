import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WHY_NO_SANDBOX } from '../../commands/fixtures/sandbox-here.js';
import type { ApprovalRequest } from '../../contract/approval.js';
import type { Executor } from '../../contract/executor.js';
import { createExecutor } from '../create-executor.js';
import type { ExecutorOptions } from '../executor-options.js';

let root: string;
let executors: Executor[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'exposed-ports-')));
});

afterEach(async () => {
  await Promise.all(executors.map((executor) => executor.close()));
  executors = [];
  rmSync(root, { recursive: true, force: true });
});

function executorOf(options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ root, sandbox: { exposePorts: true }, ...options });
  executors.push(executor);
  return executor;
}

const PORT = 40_000 + (process.pid % 10_000);

/** Echoes its requests. */
const ECHO = `node -e 'require("http").createServer((q, r) => q.pipe(r)).listen(${PORT}, "::1")'`;

const serve = (executor: Executor) =>
  executor.execute('bash', { command: ECHO, run_in_background: true, expose_ports: [PORT] });

/** The server takes some time to start. */
async function post(url: string, body: string): Promise<string | undefined> {
  for (let round = 0; round < 100; round++) {
    try {
      const answer = await fetch(url, { method: 'POST', body });
      return await answer.text();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return undefined;
}

function urlOf(metadata: Readonly<Record<string, unknown>>): string {
  const [exposed] = Array.isArray(metadata.exposed_ports) ? metadata.exposed_ports : [];
  return String(exposed?.url);
}

describe.skipIf(WHY_NO_SANDBOX)(`ports of commands${WHY_NO_SANDBOX}`, () => {
  it('are reached from this machine after the person has agreed to each', async () => {
    const asked: ApprovalRequest[] = [];
    const executor = executorOf({
      approver: (requests) => {
        asked.push(...requests);
        return { kind: 'approve_all' };
      },
    });
    const { output, metadata } = await serve(executor);
    expect(output).toContain(`[Port ${PORT} is exposed to this machine: http://127.0.0.1:`);
    expect(asked.at(-1)?.summary).toContain(`reach port ${PORT} `);
    const body = 'x'.repeat(300_000);
    expect(await post(urlOf(metadata), body)).toBe(body);
    expect(await Promise.all(['a', 'b', 'c'].map((text) => post(urlOf(metadata), text)))).toEqual([
      'a',
      'b',
      'c',
    ]);
    await executor.execute('kill_shell', { shell_id: String(metadata.bash_id) });
    await expect(fetch(urlOf(metadata))).rejects.toThrow('fetch failed');
  });

  it.each([
    ['the person refuses', { kind: 'deny_all', reason: 'not now' }, 'the person refused it: not now'],
    ['the option is off', { kind: 'approve_all' }, 'it is not switched on here'],
  ] as const)('are not reached if %s, and the result says so', async (why, decision, said) => {
    let questions = 0;
    const executor = executorOf({
      ...(why === 'the option is off' ? { sandbox: {} } : {}),
      approver: () => (++questions === 1 ? { kind: 'approve_all' } : decision),
    });
    const { success, output, metadata } = await serve(executor);
    expect(success).toBe(true);
    expect(output).toContain(`[Port ${PORT} is not exposed: ${said}`);
    expect(metadata.exposed_ports).toBeUndefined();
    await expect(fetch(`http://127.0.0.1:${PORT}`)).rejects.toThrow('fetch failed');
  });

  it('are not reached if no person can be asked', { tags: ['soak'] }, async () => {
    const executor = executorOf({
      policy: { rules: [{ tool: 'bash', command: 'sleep *', decision: 'allow' }] },
    });
    const args = { command: 'sleep 60', run_in_background: true, expose_ports: [PORT] };
    const { output, error } = await executor.execute('bash', args);
    expect(error).toBeUndefined();
    expect(output).toContain(`[Port ${PORT} is not exposed: `);
  });

  it('lead nowhere if nothing runs in the background', { tags: ['soak'] }, async () => {
    const executor = executorOf({ approver: null });
    const { output } = await executor.execute('bash', { command: 'true', expose_ports: [PORT] });
    expect(output).toContain('no command of this conversation runs in the background');
  });
});
