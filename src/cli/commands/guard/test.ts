import { resolve } from 'node:path';
import { parseJson } from '../../../base/parse-json.js';
import { installedLine, SettingsProblem } from '../../../guard/agent-settings.js';
import { AGENT_TITLES, AGENTS, type AgentName } from '../../../guard/agents.js';
import { isObject } from '../../../guard/document.js';
import { type SampleDocument, sampleDocuments } from '../../../guard/sample-documents.js';
import { weaknessesOf } from '../../../guard/weaknesses.js';
import { sanitize } from '../../../output/sanitize.js';
import { makeScratchDirectory } from '../../../platform/fs/scratch.js';
import { type LineEnd, runLine } from '../../../platform/process/run-line.js';
import { readEnvironment } from '../../../platform/runtime/environment.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { placeOf } from '../../guard-settings.js';

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Plays recorded documents of each guarded agent through the line in its settings, and reports the answers.',
    )
    .addHelpText('before', 'Examples:\n  toolexec guard test\n')
    .addHelpText(
      'after',
      '\nExit code: 0 every line answers correctly; 1 one does not, or settings cannot be read; 2 no agent is guarded here.\n',
    )
    .action(async () => {
      finish(await testGuards(context));
    });
};

const TIMEOUT_MS = 60_000;

async function testGuards(context: CliContext): Promise<ExitCode> {
  const { stdout, stderr } = context.stdio;
  let tested = 0;
  let failed = 0;
  for (const agent of AGENTS) {
    const { lines, problems } = linesOf(agent, context);
    tested += problems.length;
    failed += problems.length;
    for (const problem of problems)
      stdout.write(`${sanitize(`FAILED  ${AGENT_TITLES[agent]}: ${problem}`, 'inline')}\n`);
    for (const line of new Set(lines)) {
      tested++;
      for (const sample of sampleDocuments(agent, resolve('.'))) {
        const why = await play(line, sample);
        if (why !== undefined) failed++;
        stdout.write(
          `${sanitize(`${why === undefined ? 'ok' : 'FAILED'}  ${AGENT_TITLES[agent]}: ${sample.title}${why === undefined ? '' : `: ${why}`}`, 'inline')}\n`,
        );
      }
    }
  }
  if (tested > 0) return failed === 0 ? 0 : 1;
  stderr.write('toolexec: no agent is guarded here: toolexec guard install AGENT\n');
  return 2;
}

/** The lines in the settings of an agent. Problems: it is unknown whether those settings have one, or the agent runs none. */
function linesOf(agent: AgentName, context: CliContext) {
  const lines: string[] = [];
  const problems: string[] = [];
  const weaknesses: string[] = [];
  for (const user of [false, true]) {
    try {
      const place = placeOf(agent, { user }, context);
      const line = installedLine(place);
      if (line !== undefined) lines.push(line);
      weaknesses.push(...weaknessesOf(place));
    } catch (error) {
      if (!(error instanceof SettingsProblem)) throw error;
      problems.push(error.message);
    }
  }
  return { lines, problems: lines.length === 0 ? problems : [...problems, ...new Set(weaknesses)] };
}

/** @returns the fault; undefined if the answer is right. These calls do not count in `guard status`. */
async function play(line: string, { text, expected }: SampleDocument): Promise<string | undefined> {
  const scratch = makeScratchDirectory('toolexec-guard-');
  try {
    const env = { ...readEnvironment(), XDG_STATE_HOME: scratch.path };
    const end = await runLine(line, { cwd: resolve('.'), env, input: text, timeoutMs: TIMEOUT_MS });
    const came = outcomeOf(end);
    if (came === expected) return undefined;
    const said = (end.stderr || end.stdout).trim().slice(0, 200);
    return `${expected} was expected, ${came} came${said === '' ? '' : ` (${said})`}`;
  } finally {
    scratch.remove();
  }
}

function outcomeOf({ code, stdout, stderr }: LineEnd): string {
  if (code === 2) return stderr.trim() === '' ? 'exit code 2 without a reason' : 'stopped';
  if (code !== 0) return `exit code ${code ?? 'none'}`;
  if (stdout.trim() === '') return 'passes';
  const value = tryParse(stdout);
  if (!isObject(value)) return 'no JSON';
  const { hookSpecificOutput: specific, decision } = value;
  const said = isObject(specific) ? (specific.permissionDecision ?? decision) : decision;
  return said === 'deny' ? 'denied' : 'passes';
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
