import type { BackgroundShells } from '../contract/processes.js';
import { useCommandHelpers } from './command-helpers.js';
import { ShellPool } from './shell-pool.js';

/** The shells of one owner, an executor: they end with it. */
export function openBackgroundShells(): BackgroundShells {
  const pool = new ShellPool();
  const release = useCommandHelpers();
  return {
    async start({ command, cwd, ...options }) {
      return (await pool.createShell(command, cwd, options)).snapshot();
    },
    find: (id) => pool.getShell(id)?.snapshot(),
    read: (id, options) => pool.getShell(id)?.read(options),
    async kill(id) {
      const shell = pool.getShell(id);
      await shell?.kill();
      return shell?.snapshot();
    },
    async close() {
      await pool.killAll();
      await release();
    },
  };
}
