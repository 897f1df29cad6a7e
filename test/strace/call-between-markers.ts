import { accessSync } from 'node:fs';
import { createExecutor } from '../../src/executor/create-executor.js';

/**
 * Runs one call of a built-in tool between two lookups of nonexistent paths, so that a trace of this process
 * can be cut there. An earlier call loads the modules that the program loads on first use.
 */
const [root = '', name = '', args = '', warmUp = ''] = process.argv.slice(2);

// Without the OS sandbox, which searches the whole root for guarded entries.
const executor = createExecutor({
  root,
  approver: null,
  policy: { denylist: [] },
  journal: false,
  sandbox: { os: 'off' },
});
await execute(warmUp);
if (executesCommands(name)) await meetSpawnServer();
mark('/toolexec-window-begins');
const plan = await executor.plan([{ id: 'plan', name, args: JSON.parse(args) }]);
mark('/toolexec-plan-ends');
const result = await execute(args);
mark('/toolexec-window-ends');
await executor.close();
console.log(JSON.stringify({ effects: plan.calls[0]?.effects, result }));

async function execute(text: string): Promise<unknown> {
  return executor.execute(name, JSON.parse(text));
}

function executesCommands(tool: string): boolean {
  return tool === 'bash' || tool === 'run_command';
}

/**
 * The spawn server is started with the second command, and needs some time to be ready; so do the shells that it starts
 * ahead.
 */
async function meetSpawnServer(): Promise<void> {
  await execute(warmUp);
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  await execute(warmUp);
  await new Promise((resolve) => setTimeout(resolve, 8_000));
}

function mark(path: string): void {
  try {
    accessSync(path);
  } catch {
    // The path does not exist; only its lookup matters.
  }
}
