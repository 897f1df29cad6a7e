import { dirname } from 'node:path';
import { planInstall } from '../../../guard/agent-settings.js';
import { AGENT_TITLES, type AgentName } from '../../../guard/agents.js';
import { probePlace } from '../../../platform/fs/probe-place.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import {
  addGuardOptions,
  changeSettings,
  hookLines,
  type InstallOptions,
  orUsage,
  placeOf,
} from '../../guard-settings.js';
import { guardState } from '../../guard-world.js';

export const define: DefineCommand = (command, context, finish) => {
  addGuardOptions(command)
    .description(
      "Writes the hook lines into an agent's own settings, after showing the difference and asking. Existing settings stay.",
    )
    .option('--no-ask', 'deny the calls that the agent should ask about: some versions run them unasked')
    .option(
      '--skills',
      'also before shell commands in skills: only for versions of Claude Code with the event PreSkillShellCommand',
    )
    .addHelpText(
      'before',
      'Examples:\n  toolexec guard install claude-code\n  toolexec guard install codex --user --yes\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0 it is installed; 1 you refused; 2 the settings cannot be read; 3 there is no person to ask.\n',
    )
    .action(async (agent: AgentName, options: InstallOptions) => {
      finish(await install(agent, options, context));
    });
};

async function install(agent: AgentName, options: InstallOptions, context: CliContext): Promise<ExitCode> {
  const { stderr } = context.stdio;
  const change = orUsage(() => planInstall(placeOf(agent, options, context), hookLines(agent, options)));
  const { file, before, after } = change;
  if (before === after) {
    stderr.write(`toolexec: ${AGENT_TITLES[agent]} is guarded already: ${file}\n`);
    return 0;
  }
  const state = guardState();
  const earlier = state.rememberedInstall(file);
  // The lines of an earlier version are replaced; remove restores what was there before them.
  const original =
    earlier !== undefined && earlier.after === before
      ? earlier
      : { ...(before === undefined ? {} : { before }), madeDirectory: !probePlace(dirname(file)).exists };
  const outcome = await changeSettings(change, options, context);
  if (outcome !== 0) return outcome;
  state.rememberInstall(file, { ...original, after: after ?? '' });
  const trusted = agent === 'codex' ? ', once you have trusted these hooks in Codex (/hooks)' : '';
  stderr.write(`toolexec: ${AGENT_TITLES[agent]} is guarded from its next session on${trusted}: ${file}\n`);
  return 0;
}
