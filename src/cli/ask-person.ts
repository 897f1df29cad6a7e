import type { Asker, Question, QuestionAnswer } from '../contract/question.js';
import { sanitize } from '../output/sanitize.js';
import { openKeyboard } from '../platform/runtime/open-keyboard.js';
import type { Stdio } from '../platform/runtime/stdio.js';
import { CTRL_C } from '../terminal/prompts.js';
import { type Display, isAutomated } from './display/display.js';
import { createPalette, type Palette } from './display/terminal-text.js';
import { drawn } from './question-screen.js';

/**
 * Asks a tool's question at the terminal. Undefined without a person; no option of the command answers
 * instead.
 */
export function chooseAsker(
  { stderr, interrupt }: Stdio,
  env: Readonly<Record<string, string | undefined>>,
): Asker | undefined {
  if (!stderr.isTerminal || isAutomated(env)) return undefined;
  const probe = openKeyboard();
  if (probe === undefined) return undefined;
  probe.close();
  const palette = createPalette(true, env);
  return async (questions, { signal, agent }) => {
    const keyboard = openKeyboard();
    if (keyboard === undefined) throw new Error('the terminal was closed.');
    const answers: QuestionAnswer[] = [];
    try {
      for (const question of questions) {
        stderr.write(describeQuestion(question, agent, palette));
        const answer = await readAnswer(question, async (problem) => {
          const prompt = `${problem}${promptFor(question)}`;
          const line = await keyboard.readLine(drawn(stderr, prompt), signal);
          if (line !== CTRL_C) return line;
          interrupt();
          return undefined;
        });
        if (answer === undefined) return undefined;
        if (isRefusal(question, answer)) return questions.map(() => ({ chosen: [], declined: true }));
        answers.push(answer);
      }
      return answers;
    } finally {
      keyboard.close();
    }
  };
}

/** While a running call asks a question, the display leaves the screen to it. */
export function holding<A extends unknown[], R>(
  display: Pick<Display, 'hold'>,
  ask: (...args: A) => R | Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    const release = display.hold();
    try {
      return await ask(...args);
    } finally {
      release();
    }
  };
}

const PICK_ONE = 'A number, or your own words (Enter: no answer): ';
const PICK_SEVERAL = 'Numbers (1,3), or your own words (Enter: no answer): ';
const NO_OPTIONS = 'Your answer (Enter: no answer): ';

function promptFor({ options, multiSelect }: Question): string {
  if (options.length === 0) return NO_OPTIONS;
  return multiSelect ? PICK_SEVERAL : PICK_ONE;
}

/** Any choice but the first, when the person is asked whether to answer at all. */
function isRefusal({ form, options }: Question, { chosen }: QuestionAnswer): boolean {
  return form?.kind === 'consent' && chosen[0] !== options[0]?.label;
}

function describeQuestion(
  { header, question, options }: Question,
  agent: string | undefined,
  palette: Palette,
): string {
  const asks = agent === undefined ? '' : `${inline(agent)} asks · `;
  const lines = options.map(({ label, description = '' }, index) => {
    const meaning = description === '' ? '' : palette.dim(` · ${inline(description)}`);
    return `  ${index + 1}  ${inline(label)}${meaning}\n`;
  });
  return `\n${palette.bold(`${asks}${inline(header)}`)}: ${inline(question)}\n${lines.join('')}`;
}

const inline = (text: string): string => sanitize(text, 'inline');

async function readAnswer(
  question: Question,
  readLine: (problem: string) => Promise<string | undefined>,
): Promise<QuestionAnswer | undefined> {
  let problem = '';
  for (;;) {
    const line = (await readLine(problem))?.trim();
    if (line === undefined) return undefined;
    // A form continues without a value that it does not need.
    const { form } = question;
    if (line === '') return form?.kind === 'field' && !form.required ? { chosen: [] } : undefined;
    const answer = line.includes('\n')
      ? 'Several lines arrived together, and none of them counts.'
      : parseAnswer(line, question);
    if (typeof answer !== 'string') return answer;
    problem = `${answer}\n`;
  }
}

/** Parses a typed answer, or returns the fault. Numbers count from 1, as shown. */
export function parseAnswer(line: string, { options, multiSelect }: Question): QuestionAnswer | string {
  if (options.length === 0) return { chosen: [], other: line };
  const words = line.split(/[\s,]+/).filter((word) => word !== '');
  if (!words.every((word) => /^[0-9]+$/.test(word))) return { chosen: [], other: line };
  if (!multiSelect && words.length > 1) return 'One number is expected.';
  const chosen: string[] = [];
  for (const word of words) {
    const label = options[Number(word) - 1]?.label;
    if (label === undefined) return `There is no choice ${word}.`;
    if (!chosen.includes(label)) chosen.push(label);
  }
  return { chosen };
}
