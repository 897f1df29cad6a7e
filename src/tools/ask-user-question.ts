import type { ToolContext } from '../contract/context.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import type { Question, QuestionAnswer } from '../contract/question.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { oneLine } from './one-line.js';

export interface AskUserQuestionArgs {
  readonly questions: readonly (Omit<Question, 'multiSelect'> & { readonly multiSelect?: boolean })[];
  readonly answers?: Readonly<Record<string, string | readonly string[]>>;
}

/** The person needs time to think. No program waits longer than a day. */
const PATIENCE_MS = 86_400_000;

const TEXT = { type: 'string', pattern: '\\S', maxLength: 2000 } as const;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['questions'],
  properties: {
    questions: {
      type: 'array',
      minItems: 1,
      maxItems: 4,
      description: 'One to four questions. The person sees all of them at once.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['question', 'header', 'options'],
        properties: {
          question: { ...TEXT, description: 'The whole question.' },
          header: { ...TEXT, maxLength: 80, description: 'One or two words that name the question.' },
          options: {
            type: 'array',
            minItems: 2,
            maxItems: 4,
            description:
              'Two to four choices. The person can always answer in other words: do not offer that.',
            items: {
              type: 'object',
              additionalProperties: false,
              required: ['label'],
              properties: {
                label: { ...TEXT, maxLength: 200, description: 'The choice, in a few words.' },
                description: { type: 'string', maxLength: 2000, description: 'What choosing it means.' },
              },
            },
          },
          multiSelect: { type: 'boolean', description: 'Several choices may be taken. Default: false.' },
        },
      },
    },
    answers: {
      type: 'object',
      description: 'Leave this out: the program that asks the person fills it in.',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    },
  },
} as const;

/** `ask_user_question` (C019, C021): the person chooses, or answers in other words. */
export function askUserQuestionTool(): ToolSpec<AskUserQuestionArgs> {
  return {
    name: 'ask_user_question',
    aliases: ['AskUserQuestion'],
    title: 'Ask the Person',
    description:
      'Asks the person one to four questions with two to four choices each, and gives the answers. ' +
      'Use it when a decision is not yours to take.',
    input: INPUT,
    explainArgs: ({ questions }) => faultIn(questions),
    category: 'interaction',
    timeoutMs: PATIENCE_MS,
    touches: ['ask'],
    effects: () => [{ kind: 'ask' }],
    summarize: ({ questions }) => `Ask: ${questions.map(({ question }) => oneLine(question)).join(' / ')}`,
    execute: askUserQuestion,
  };
}

/** The first fault of the questions. Undefined if none has its own message here. */
function faultIn(questions: JsonValue | undefined): string | undefined {
  if (questions === undefined) return 'missing required parameter: questions';
  if (!Array.isArray(questions)) return 'questions must be an array';
  if (questions.length === 0) return 'must provide at least one question';
  if (questions.length > 4) return 'maximum 4 questions allowed';
  for (const [index, question] of questions.entries()) {
    const fault = faultOf(question);
    if (fault !== undefined) return `question ${index + 1} ${fault}`;
  }
  return undefined;
}

function faultOf(question: JsonValue): string | undefined {
  if (!isRecord(question)) return 'is not an object';
  const { header, question: text, options } = question;
  if (typeof header !== 'string') return 'missing header';
  if (typeof text !== 'string') return 'missing question text';
  if (options === undefined) return 'missing options';
  if (!Array.isArray(options)) return 'options must be an array';
  if (options.length < 2 || options.length > 4) return 'must have 2-4 options';
  if (!options.every(isRecord)) return 'has invalid option';
  return options.every(({ label }) => typeof label === 'string') ? undefined : 'option missing label';
}

function isRecord(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function askUserQuestion(
  { questions, answers: given }: AskUserQuestionArgs,
  { ask }: ToolContext,
): Promise<ToolOutput> {
  const asked = questions.map((question) => ({ ...question, multiSelect: question.multiSelect ?? false }));
  if (ask === undefined) return given === undefined ? nobodyToAsk() : fromHost(asked, given);
  const answers = await ask(asked);
  if (answers === undefined || answers.some(({ declined }) => declined === true)) {
    const message = 'The person did not answer. Go on without the answer, or say what you need.';
    return { text: '', error: { code: 'user_denied', message } };
  }
  return toOutput(asked, answers);
}

function nobodyToAsk(): ToolOutput {
  return {
    text: '',
    error: {
      code: 'approval_unavailable',
      message:
        'No person can be asked here (missing required parameter: answers). Decide yourself, or say what you need to know.',
      hint: 'Give options.asker.',
    },
  };
}

/** A host with its own screen puts the answers into the arguments. */
function fromHost(
  questions: readonly Question[],
  given: Readonly<Record<string, string | readonly string[]>>,
): ToolOutput {
  const message = questions
    .map((question) => faultInAnswer(question, given))
    .find((fault) => fault !== undefined);
  if (message !== undefined) return { text: '', error: { code: 'bad_args', message } };
  const answers = questions.map((question): QuestionAnswer => {
    const words = [given[question.header] ?? given[question.question] ?? []].flat();
    const labels = new Set(question.options.map(({ label }) => label));
    const other = words.filter((word) => !labels.has(word)).map((word) => word.replace(/^Other:\s*/, ''));
    const chosen = words.filter((word) => labels.has(word));
    return other.length === 0 ? { chosen } : { chosen, other: other.join(', ') };
  });
  return toOutput(questions, answers);
}

function faultInAnswer(
  { header, question, options, multiSelect }: Question,
  given: Readonly<Record<string, string | readonly string[]>>,
): string | undefined {
  const answer = given[header] ?? given[question];
  if (answer === undefined) return `missing answer for question: ${header}`;
  if (multiSelect && typeof answer === 'string') return `answer for ${header} must be an array (multiSelect)`;
  if (!multiSelect && typeof answer !== 'string') return `answer for ${header} must be a string`;
  const unknown = [answer]
    .flat()
    .find((word) => !word.startsWith('Other: ') && !options.some(({ label }) => label === word));
  return unknown === undefined ? undefined : `invalid answer for ${header}: ${unknown}`;
}

function toOutput(questions: readonly Question[], answers: readonly QuestionAnswer[]): ToolOutput {
  const said = questions.map(({ header }, index) => [header, inWords(answers[index])] as const);
  const metadata: JsonObject = { answers: Object.fromEntries(said) };
  return { text: said.map(([header, words]) => `${oneLine(header)}: ${words}`).join('\n'), metadata };
}

function inWords({ chosen, other = '' }: QuestionAnswer = { chosen: [] }): string {
  const own = other.trim() === '' ? [] : [`Other: ${oneLine(other)}`];
  return [...chosen.map(oneLine), ...own].join(', ') || '(no choice)';
}
