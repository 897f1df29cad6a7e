import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { GuardState } from '../guard/guard-state.js';
import type { HookWorld } from '../guard/run-hook.js';
import { systemClock } from '../platform/clock/clock.js';
import { machineState } from '../platform/process/machine-state.js';
import { ownProgram } from '../platform/process/own-program.js';
import { stateDirectory } from '../platform/runtime/environment.js';
import type { CliContext } from './cli-context.js';

export function guardState(): GuardState {
  return new GuardState(join(stateDirectory(), 'toolexec'));
}

/** The facts that a hook's decision depends on. */
export function guardWorld(context: CliContext): HookWorld {
  const state = guardState();
  return {
    state,
    env: context.env,
    now: () => systemClock.now(),
    async configured(root) {
      const { resolveRun } = await import('./resolve-settings.js');
      const { executor } = resolveRun({ cwd: root }, context);
      const { journal, externalTools: _, logger: __, ...options } = executor;
      return { options, journal };
    },
    async canContain(root, options) {
      // Tested once in each state of the machine, because the test starts processes.
      const machine = `toolexec ${context.version}\n${machineState()}`;
      const name = `transactions-${createHash('sha256').update(root).digest('hex').slice(0, 16)}`;
      const known = state.remembered(name, machine);
      if (typeof known?.works === 'boolean') return known.works;
      const { canRunInTransactions } = await import('../guard/can-run-in-transactions.js');
      const works = await canRunInTransactions(root, options);
      state.remember(name, machine, { works });
      return works;
    },
    program: ownProgram('toolexec'),
  };
}
