import type { CrashProblem, CrashVerdict } from './crash-trial.js';
import type { CalmRun } from './kill-points.js';

const MOST_PROBLEMS = 20;

/** A verdict for people: what was done, what was seen, and what is wrong. */
export function writeVerdict(
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
