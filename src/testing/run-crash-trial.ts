import { randomInt } from 'node:crypto';
import { ToolError } from '../errors/tool-error.js';
import { checkRound } from './check-round.js';
import type { CrashProblem, CrashTrial, CrashVerdict } from './crash-trial.js';
import { checkKnowable, checkTrial, loadTrialModule, moduleUrl } from './crash-trial.js';
import {
  type CalmRun,
  chooseKillPoints,
  type KillPoint,
  playRound,
  type RoundFindings,
  randomFrom,
  type TrialSetting,
} from './play-round.js';

/**
 * Kills a process that runs a batch, with SIGKILL, before and after every journal step and at random times.
 * After each kill it checks that every call has exactly one truthful result and no effect happened twice,
 * once after recovery and once after another delivery of the batch.
 *
 * Every round has its own directory and journal. There is no approval and no policy; the sandbox is active.
 * @throws ToolError `config_invalid` if the trial cannot begin: no tools, no calls, an invalid or unknown
 * option, or a batch that fails even without a kill.
 */
export async function runCrashTrial(trial: CrashTrial): Promise<CrashVerdict> {
  checkTrial(trial);
  return runTrial(trial, { unfenced: false });
}

export interface TrialExtras {
  /** A control: removes the journal's fences, so that the trial must fail. */
  readonly unfenced: boolean;
  /** Additional kills. */
  readonly points?: readonly KillPoint[];
}

export async function runTrial(
  trial: CrashTrial,
  { unfenced, points: extra = [] }: TrialExtras,
): Promise<CrashVerdict> {
  const setting = await toSetting(trial, unfenced);
  const seed = trial.seed ?? randomInt(2 ** 32);
  const calm = await runCalmly(setting);
  const counts = { steps: trial.stepKills ?? Number.POSITIVE_INFINITY, random: trial.randomKills ?? 20 };
  const points = [...chooseKillPoints(calm, counts, randomFrom(seed)), ...extra];
  const tally = new Tally();
  for (const point of points) {
    if (trial.signal?.aborted === true) break;
    const findings = await playRound(setting, point);
    tally.add(findings, checkRound(setting, point, findings));
    trial.onRound?.(tally.rounds, points.length);
  }
  const passed = tally.problems.length === 0 && tally.kills > 0;
  const { kills, rounds, answers, problems } = tally;
  const verdict = { passed, kills, rounds, answers, problems, seed };
  return { ...verdict, report: writeVerdict(verdict, calm, setting.calls.length) };
}

async function toSetting(asked: CrashTrial, unfenced: boolean): Promise<TrialSetting> {
  const toolsUrl = moduleUrl(asked.tools);
  const { tools, ...exported } = await loadTrialModule(toolsUrl);
  const trial = { ...exported, ...asked };
  const calls = (trial.calls ?? []).map(({ id, name, args }, index) => {
    return { id: id ?? `call_${index}`, name, args };
  });
  if (calls.length === 0)
    throw new ToolError(
      'config_invalid',
      'A crash trial needs calls: give them, or let the module export them.',
    );
  // The module's settings apply only to its own calls.
  if (asked.calls === undefined || asked.knowable !== undefined) checkKnowable(trial.knowable ?? [], calls);
  return { trial, calls, toolsUrl, tools, unfenced };
}

async function runCalmly(setting: TrialSetting): Promise<CalmRun> {
  const { broken, calm, delivered } = await playRound(setting, undefined);
  const failed = delivered.find(({ success }) => !success);
  if (calm !== undefined && failed === undefined) return calm;
  const why = failed?.error?.message ?? broken ?? 'another program killed it';
  throw new ToolError('config_invalid', `The batch fails even when it is not killed: ${why}`);
}

class Tally {
  kills = 0;
  rounds = 0;
  readonly answers: Record<string, number> = {};
  readonly problems: CrashProblem[] = [];

  add({ killed, settled }: RoundFindings, problems: readonly CrashProblem[]): void {
    this.rounds++;
    if (killed) this.kills++;
    for (const { result } of settled) {
      const answer = result?.error?.code ?? 'ok';
      this.answers[answer] = (this.answers[answer] ?? 0) + 1;
    }
    this.problems.push(...problems);
  }
}

const MOST_PROBLEMS = 20;

/** A verdict for people: the actions, the findings, and the problems. */
function writeVerdict(
  { passed, kills, rounds, answers, problems, seed }: Omit<CrashVerdict, 'report'>,
  { steps, durationMs }: CalmRun,
  calls: number,
): string {
  const head = passed ? 'PASSED' : 'FAILED';
  const lines = [
    `${head}: ${kills} kills in ${rounds} rounds of ${count(calls, 'call')} (${count(steps.length, 'step')} of the journal, ${durationMs.toFixed(0)} ms a batch; seed ${seed})`,
    `answers after recovery: ${writeAnswers(answers)}`,
  ];
  if (kills === 0) lines.push('Nothing was killed: the batch is over before the first kill.');
  if (passed) lines.push('Every call had one result, nothing ran twice, and no result said what was not so.');
  for (const problem of problems.slice(0, MOST_PROBLEMS)) lines.push(writeProblem(problem));
  if (problems.length > MOST_PROBLEMS) lines.push(`and ${problems.length - MOST_PROBLEMS} more`);
  return `${lines.join('\n')}\n`;
}

function writeAnswers(answers: CrashVerdict['answers']): string {
  const sorted = Object.entries(answers).sort(([, one], [, other]) => other - one);
  return sorted.map(([answer, times]) => `${answer} ${times}`).join(', ') || 'none';
}

function writeProblem({ kind, killed, callId, message }: CrashProblem): string {
  return `- ${kind}, killed ${killed}${callId === undefined ? '' : `, ${callId}`}: ${message}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
