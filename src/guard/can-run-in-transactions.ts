import { createExecutor } from '../executor/create-executor.js';
import type { ExecutorOptions } from '../executor/executor-options.js';

/** Whether a command of this root can run in a transaction. */
export async function canRunInTransactions(root: string, options: ExecutorOptions): Promise<boolean> {
  await using executor = createExecutor({
    ...options,
    root: options.root ?? root,
    journal: false,
    policy: null,
  });
  const { calls } = await executor.plan([{ id: 'call', name: 'bash', args: { command: 'true' } }]);
  return calls[0]?.containment.transaction === true;
}
