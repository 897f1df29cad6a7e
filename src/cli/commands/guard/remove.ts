import { dirname } from 'node:path';
import { planRemove, settingsFile } from '../../../guard/agent-settings.js';
import { AGENT_TITLES, type AgentName } from '../../../guard/agents.js';
import { removeEmptyDirectory } from '../../../platform/fs/make-and-remove.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import {
  addGuardOptions,
  changeSettings,
  type GuardOptions,
  orUsage,
  placeOf,
} from '../../guard-settings.js';
import { guardState } from '../../guard-world.js';

export const define: DefineCommand = (command, context, finish) => {
  addGuardOptions(command)
    .description(
      "Removes exactly the lines that install has added from an agent's settings, after showing the difference and asking.",
    )
    .addHelpText(
      'before',
      'Examples:\n  toolexec guard remove claude-code\n  toolexec guard remove codex --user --yes\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0 the lines are removed, or there were none; 1 you refused; 2 the settings cannot be read; 3 there is no person to ask.\n',
    )
    .action(async (agent: AgentName, options: GuardOptions) => {
      finish(await remove(agent, options, context));
    });
};

async function remove(agent: AgentName, options: GuardOptions, context: CliContext): Promise<ExitCode> {
  const { stderr } = context.stdio;
  const place = placeOf(agent, options, context);
  const installed = guardState().rememberedInstall(settingsFile(place));
  const change = orUsage(() => planRemove(place, installed));
  const { file, before, after } = change;
  if (before === after) {
    stderr.write(`toolexec: ${AGENT_TITLES[agent]} is not guarded in ${file}\n`);
    return 0;
  }
  const outcome = await changeSettings(change, options, context);
  if (outcome !== 0) return outcome;
  if (after === undefined && installed?.madeDirectory === true) removeEmptyDirectory(dirname(file));
  stderr.write(`toolexec: ${AGENT_TITLES[agent]} is no longer guarded: ${file}\n`);
  return 0;
}
