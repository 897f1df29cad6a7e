import { endSpawnServer } from '../platform/start-process.js';
import { endSupervisor } from './supervise-command.js';

/**
 * To be called by whoever may start commands, and what it returns once it does not any more. With the last of them go
 * the processes that stand ready for the next command, unless another's command still runs; that resolves when they
 * are gone.
 */
export function useCommandHelpers(): () => Promise<void> {
  users++;
  let isUser = true;
  return async () => {
    if (isUser) users--;
    isUser = false;
    if (users === 0) await Promise.all([endSpawnServer(), endSupervisor()]);
  };
}

let users = 0;
