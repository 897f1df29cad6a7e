import { hasAgentHome, installedLine, SettingsProblem, settingsFile } from '../../../guard/agent-settings.js';
import { AGENT_TITLES, AGENTS, type AgentName } from '../../../guard/agents.js';
import { weaknessesOf } from '../../../guard/weaknesses.js';
import { sanitize } from '../../../output/sanitize.js';
import { askProgram } from '../../../platform/process/ask-program.js';
import { findProgram } from '../../../platform/process/find-program.js';
import { readEnvironment } from '../../../platform/runtime/environment.js';
import type { CliContext, DefineCommand } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { placeOf } from '../../guard-settings.js';
import { guardState } from '../../guard-world.js';

export const define: DefineCommand = (command, context, finish) => {
  command
    .description('Says for each agent on this machine whether it is guarded, and the outcomes of its calls.')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec guard status\n  toolexec guard status --json\n')
    .action(async (options: { readonly json?: boolean }) => {
      await showStatus(options, context);
      finish(0);
    });
};

const PROGRAMS: Readonly<Record<AgentName, string>> = {
  'claude-code': 'claude',
  codex: 'codex',
  'gemini-cli': 'gemini',
};

async function showStatus({ json }: { readonly json?: boolean }, context: CliContext): Promise<void> {
  const { stdout } = context.stdio;
  const rows = await Promise.all(AGENTS.map((agent) => statusOf(agent, context)));
  if (json === true) {
    writeJson(stdout, rows);
    return;
  }
  for (const row of rows)
    stdout.write(
      row.found || row.installed.length > 0 || row.problems !== undefined
        ? describe(row)
        : `${AGENT_TITLES[row.agent]}: not found here\n`,
    );
}

/** The first number in the output. Undefined if the output has no number, or the program does not answer. */
async function versionOf(program: string): Promise<string | undefined> {
  const answer = await askProgram(program, ['--version'], readEnvironment());
  return answer.ok ? /\d+(?:\.\d+)+[\w.-]*/.exec(answer.stdout)?.[0] : undefined;
}

async function statusOf(agent: AgentName, context: CliContext) {
  const state = guardState();
  const [program] = findProgram(PROGRAMS[agent]);
  const version = program === undefined ? undefined : await versionOf(program);
  const problems: string[] = [];
  const weaknesses: string[] = [];
  const installed = [false, true].flatMap((user) => {
    const place = placeOf(agent, { user }, context);
    try {
      weaknesses.push(...weaknessesOf(place));
      return installedLine(place) === undefined ? [] : [settingsFile(place)];
    } catch (error) {
      if (!(error instanceof SettingsProblem)) throw error;
      problems.push(error.message);
      return [];
    }
  });
  if (installed.length > 0) problems.push(...new Set(weaknesses));
  const counts = state.counts().get(agent) ?? {};
  const { allow = 0, ask = 0, deny = 0, contained = 0, none = 0 } = counts;
  return {
    agent,
    found: program !== undefined || hasAgentHome(agent, context.env),
    ...(program === undefined ? {} : { program }),
    ...(version === undefined ? {} : { version }),
    installed,
    // Settings that cannot be read: it is unknown whether they have the lines. Or settings that switch hooks off.
    ...(problems.length === 0 ? {} : { problems }),
    rewrites: state.arrivals().filter((one) => one.agent === agent),
    calls: {
      evaluated: allow + ask + deny + contained + none,
      allowed: allow,
      asked: ask,
      denied: deny,
      contained,
    },
  };
}

function describe(row: Awaited<ReturnType<typeof statusOf>>): string {
  const { agent, version, installed, problems = [], rewrites, calls } = row;
  const without = problems.length === 0 ? 'not guarded' : 'guarded or not, its settings cannot be read';
  const lines = [
    `${AGENT_TITLES[agent]}${version === undefined ? '' : ` ${version}`}: ${installed.length === 0 ? without : `guarded by ${installed.join(', ')}`}`,
    ...problems.map((problem) => `  settings: ${problem}`),
    ...(rewrites.length === 0
      ? ['  rewritten commands: not seen yet']
      : rewrites.map(
          (one) =>
            `  rewritten commands: ${one.arrival === 'arrives' ? 'run' : 'ignored'} by version ${one.version}`,
        )),
    `  calls: ${calls.evaluated} checked, ${calls.asked} asked, ${calls.denied} denied, ${calls.contained} contained`,
  ];
  return lines.map((line) => `${sanitize(line, 'inline')}\n`).join('');
}
