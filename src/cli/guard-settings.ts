import { resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { quoteWord } from '../base/quote-word.js';
import {
  commitSettings,
  type HookLines,
  orStop,
  type SettingsChange,
  type SettingsPlace,
  SettingsProblem,
} from '../guard/agent-settings.js';
import { AGENT_TITLES, AGENTS, type AgentName } from '../guard/agents.js';
import { ownProgram } from '../platform/process/own-program.js';
import { hasUnixShell } from '../platform/runtime/environment.js';
import { openKeyboard } from '../platform/runtime/open-keyboard.js';
import { type CliContext, type ExitCode, UsageError } from './cli-context.js';
import { isAutomated } from './display/display.js';
import { createPalette } from './display/terminal-text.js';
import { questionScreen } from './question-screen.js';

export interface GuardOptions {
  readonly user?: boolean;
  readonly yes?: boolean;
}

export interface InstallOptions extends GuardOptions {
  readonly ask?: boolean;
  readonly skills?: boolean;
}

export function addGuardOptions(command: Command): Command {
  return command
    .addArgument(new Argument('<agent>', 'whose settings').choices([...AGENTS]))
    .option('--user', 'your own settings, for all projects (default: the settings of this project)')
    .option('--yes', 'ask no questions');
}

export function placeOf(agent: AgentName, { user }: GuardOptions, { env }: CliContext): SettingsPlace {
  return { agent, isUsers: user === true, project: resolve('.'), env };
}

/** The lines that an agent runs. @throws UsageError if the lines would stop working later */
export function hookLines(agent: AgentName, { ask = true, skills = false }: InstallOptions): HookLines {
  if (skills && agent !== 'claude-code')
    throw new UsageError(`--skills is for claude-code alone: ${AGENT_TITLES[agent]} has no such event.`);
  const words = [...ownProgram('toolexec'), 'hook', '--for', agent];
  if (words.some((word) => word.includes('/_npx/')))
    throw new UsageError(
      'Cannot guard with this toolexec: it lies in the cache of npx, and once npm empties the cache, the agent would run every call unchecked. Install it first: npm install --global toolexec',
    );
  const other = words.map(quoteWord).join(' ');
  const before = ask ? other : `${other} --no-ask`;
  return { before: hasUnixShell() ? `${before}${orStop(agent)}` : before, other, skills };
}

/** Turns an unreadable or unchangeable settings file into an error for the person. @throws UsageError */
export function orUsage<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof SettingsProblem)
      throw new UsageError(`Cannot continue: ${error.message}.`, { cause: error });
    throw error;
  }
}

/** Shows the difference, asks, and makes the change. @returns whether it was made; 3: there is no person to ask */
export async function changeSettings(
  change: SettingsChange,
  { yes }: GuardOptions,
  context: CliContext,
): Promise<Extract<ExitCode, 0 | 1 | 3>> {
  const { stdio, env } = context;
  const palette = createPalette(stdio.stderr.isTerminal, env);
  const { drawParts } = await import('../terminal/draw-picture.js');
  const { file, before = '', after } = change;
  const part = { kind: 'diff', path: file, before, after } as const;
  const picture = {
    title: '',
    risk: 'low',
    reason: '',
    effects: [],
    dangerous: false,
    parts: [part],
  } as const;
  const lines = drawParts(picture, {
    columns: stdio.stderr.columns,
    palette,
    whole: false,
    remedy: 'open the file',
  });
  stdio.stderr.write(`${lines.join('\n')}\n`);
  if (yes !== true) {
    const keyboard = stdio.stderr.isTerminal && !isAutomated(env) ? openKeyboard() : undefined;
    if (keyboard === undefined) {
      stdio.stderr.write('toolexec: nothing was written: there is no person to ask. Use --yes.\n');
      return 3;
    }
    try {
      const { askKeyFor } = await import('../terminal/prompts.js');
      const place = { screen: questionScreen(stdio.stderr, keyboard), signal: new AbortController().signal };
      const answer = await askKeyFor(place, 'Write this? y or n:', 'y or n', (key) =>
        key === 'y' || key === 'n' ? key : undefined,
      );
      if (answer !== 'y') return 1;
    } finally {
      keyboard.close();
    }
  }
  orUsage(() => commitSettings(change));
  return 0;
}
