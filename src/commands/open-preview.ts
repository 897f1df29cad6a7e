import type { CommandLimits, Confinement, RunCommand, TransactionRules } from '../contract/processes.js';
import type { RunProgram } from '../contract/programs.js';
import { runCommandIn } from './run-command.js';
import { runProgramIn } from './run-program.js';
import { chooseSandbox } from './sandbox/find-sandbox.js';
import { transactionRequired } from './start-command.js';
import { PreviewLayers } from './transaction/preview-layers.js';

export interface PreviewCommands {
  readonly layers: PreviewLayers;
  readonly run: RunCommand;
  readonly runProgram: RunProgram;
}

/**
 * Opens an environment in which calls are tried. Its commands have no network, because network effects would
 * be permanent.
 * @throws ToolError `sandbox_violation` if this machine does not support transactions
 */
export async function openPreview(
  around: Confinement,
  limits: CommandLimits,
  rules: TransactionRules,
): Promise<PreviewCommands> {
  const confinement: Confinement = { ...around, os: 'required', network: false, transactions: rules };
  await chooseSandbox(confinement);
  const layers = await PreviewLayers.open(confinement, rules);
  if ('reason' in layers) throw transactionRequired(layers.reason);
  return {
    layers,
    run(request) {
      const { onTransaction: _, ...plain } = request;
      return runCommandIn({ ...plain, confinement, limits }, layers.transaction());
    },
    runProgram(request) {
      const { onTransaction: _, ...plain } = request;
      // A program that only reads may run outside the sandbox here too.
      if (request.confinement === undefined) return runProgramIn(plain);
      return runProgramIn({ ...plain, confinement }, layers.transaction());
    },
  };
}
