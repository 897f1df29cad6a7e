import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolResult } from '../contract/call.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import type { Asker, AskOptions, Question } from '../contract/question.js';
import { builtinTools } from './builtin-tools.js';
import { defineTool } from './declare/define-tool.js';
import type { ExecutorOptions } from './executor-options.js';
import { executorOf, folder } from './fixtures/plan-fixture.js';

const COLOR = {
  header: 'Color',
  question: 'What is your favorite color?',
  options: [{ label: 'Red', description: 'red' }, { label: 'Blue' }],
};
const MANY = { ...COLOR, header: 'Colors', multiSelect: true };

function ask(args: JsonObject, options: ExecutorOptions = {}): Promise<ToolResult> {
  return executorOf(builtinTools(), { root: folder(), ...options }).execute('ask_user_question', args);
}

describe('ask_user_question', () => {
  it('gives what the person chose and said, without any approval', async () => {
    const seen: { readonly questions: readonly Question[]; readonly options: AskOptions }[] = [];
    const asker: Asker = (questions, options) => {
      seen.push({ questions, options });
      return [{ chosen: ['Red'] }, { chosen: ['Red', 'Blue'], other: 'and\ngreen' }];
    };
    const result = await ask({ questions: [COLOR, MANY] }, { asker });
    expect(result.output).toBe('Color: Red\nColors: Red, Blue, Other: and green');
    expect(result.metadata.answers).toEqual({ Color: 'Red', Colors: 'Red, Blue, Other: and green' });
    expect(seen[0]?.questions.map(({ multiSelect }) => multiSelect)).toEqual([false, true]);
    expect(seen[0]?.options.agent).toBeUndefined();
  });

  it('fails and says so where no person can be asked', async () => {
    const { error } = await ask({ questions: [COLOR] });
    expect(error).toMatchObject({ code: 'approval_unavailable' });
    expect(error?.message).toContain('missing required parameter: answers');
  });

  it('is a refusal where the person does not answer', async () => {
    const { error } = await ask({ questions: [COLOR] }, { asker: () => undefined });
    expect(error?.code).toBe('user_denied');
  });

  it.each([
    ['one answer too few', []],
    ['an answer without a choice', [{ header: 'Color' }]],
    ['no list', { Color: 'Red' }],
    ['null', null],
  ])('fails where the asker gives %s (it panicked, or was a success without a choice)', async (_, given) => {
    const asker = (() => given) as unknown as Asker;
    const { error } = await ask({ questions: [COLOR] }, { asker });
    expect(error).toMatchObject({ code: 'execution_failed', hint: expect.stringContaining('options.asker') });
    expect(error?.message).toContain('gave no usable answers');
  });

  it('takes the answers of a host that asks on its own screen', async () => {
    const own = { questions: [COLOR, MANY], answers: { Color: 'Other: Purple', Colors: [] } };
    expect((await ask(own)).output).toBe('Color: Other: Purple\nColors: (no choice)');
  });

  it('asks the person, whatever answers the model has made up', async () => {
    const args = { questions: [COLOR], answers: { Color: 'Blue' } };
    const { output } = await ask(args, { asker: async () => [{ chosen: ['Red'] }] });
    expect(output).toBe('Color: Red');
  });

  it.each([
    ['no question', [], 'must provide at least one question'],
    ['five questions', Array.from({ length: 5 }, () => COLOR), 'maximum 4 questions allowed'],
    ['one option', [{ ...COLOR, options: [{ label: 'Red' }] }], 'question 1 must have 2-4 options'],
    [
      'an option without a label',
      [COLOR, { ...COLOR, options: [{ description: 'd' }, { label: 'B' }] }],
      'question 2 option missing label',
    ],
    ['a question without a header', [{ ...COLOR, header: 1 }], 'question 1 missing header'],
    [
      'what has no words of its own',
      [{ ...COLOR, more: 1 }],
      /^Invalid arguments for ask_user_question: .*more/,
    ],
  ])('refuses %s', async (_, questions: readonly JsonObject[], message: string | RegExp) => {
    const { error } = await ask({ questions }, { asker: () => [] });
    expect(error?.code).toBe('bad_args');
    if (typeof message === 'string') expect(error?.message).toBe(message);
    else expect(error?.message).toMatch(message);
  });

  it.each([
    [{}, 'missing answer for question: Color'],
    [{ Color: 'Green', Colors: [] }, 'invalid answer for Color: Green'],
    [{ Color: ['Red'], Colors: [] }, 'answer for Color must be a string'],
    [{ Color: 'Red', Colors: 'Red' }, 'answer for Colors must be an array (multiSelect)'],
  ])('refuses the answers %j of a host', async (answers, message) => {
    const { error } = await ask({ questions: [COLOR, MANY], answers });
    expect(error).toMatchObject({ code: 'bad_args', message });
  });

  it('leaves the word to the schema where a tool cannot explain its arguments', async () => {
    const tool = defineTool({
      name: 'mute',
      description: 'Explains nothing.',
      input: { type: 'object', properties: { a: { type: 'string' } } },
      effects: () => [],
      explainArgs: ({ a }) => {
        if (a === 1) throw new Error('no words');
        return 'a must be a text';
      },
      execute: () => 'ok',
    });
    const executor = executorOf([tool], { root: folder() });
    expect((await executor.execute('mute', { a: 1 })).error?.message).toMatch(
      /^Invalid arguments for mute: /,
    );
    expect((await executor.execute('mute', { a: 2 })).error?.message).toBe('a must be a text');
  });

  it('is there only for tools that declare it', async () => {
    const tool = defineTool({
      name: 'sneaky',
      description: 'Asks without saying so.',
      input: { type: 'object' },
      effects: () => [],
      execute: async (_, { ask: person }) => (await person?.([]))?.length ?? 'nobody',
    });
    const executor = executorOf([tool], { root: folder(), asker: () => [] });
    expect((await executor.execute('sneaky', {})).error?.code).toBe('sandbox_violation');
  });
});

const TODOS = [
  { content: 'Deploy', activeForm: 'Deploying', status: 'completed' },
  { content: 'Write code', activeForm: 'Writing code', status: 'in_progress' },
  { content: 'Run tests', activeForm: 'Running tests', status: 'pending' },
];
const [, , PENDING] = TODOS;

describe('todo_write', () => {
  it('shows the list in order, with glyphs and counts, and asks no approval', async () => {
    const executor = executorOf(builtinTools(), { root: folder() });
    const { output, metadata } = await executor.execute('todo_write', { todos: TODOS });
    expect(output).toBe('✅ Deploy\n⏳ Writing code\n☐ Run tests');
    expect(metadata).toMatchObject({
      total_count: 3,
      pending_count: 1,
      in_progress_count: 1,
      completed_count: 1,
    });
  });

  it('forges no item and no control sequence', async () => {
    const forged = { ...PENDING, content: 'a\n✅ fake\u001b[2J\u2028b' };
    const executor = executorOf(builtinTools(), { root: folder() });
    const { output } = await executor.execute('todo_write', { todos: [forged] });
    expect(output.split('\n')).toHaveLength(1);
    expect(output).toBe('☐ a ✅ fake [2J b');
  });

  it('refuses another status and a missing text', async () => {
    const executor = executorOf(builtinTools(), { root: folder() });
    const refused: readonly (readonly [JsonValue, string])[] = [
      [
        [{ ...PENDING, status: 'Pending' }],
        'todo at index 0: status must be one of: pending, in_progress, completed',
      ],
      [
        [PENDING ?? {}, { content: 'x', status: 'pending' }],
        'todo at index 1 is missing required field: activeForm',
      ],
      [[{ ...PENDING, content: ' ' }], 'todo at index 0: content cannot be empty'],
      [[], 'todos array cannot be empty'],
      ['x', 'todos must be an array'],
    ];
    for (const [todos, message] of refused) {
      expect((await executor.execute('todo_write', { todos })).error).toMatchObject({
        code: 'bad_args',
        message,
      });
    }
    const { error } = await executor.execute('todo_write', {});
    expect(error?.message).toContain('missing required parameter: todos');
  });

  it('keeps a list for each conversation, even for a later process', async () => {
    const place = folder();
    const root = join(place, 'root');
    mkdirSync(root);
    const open = () => executorOf(builtinTools(), { root, journal: join(place, 'journal.db') });
    const first = open();
    await first.execute('todo_write', { todos: TODOS }, { conversation: 'c1' });
    await first.execute('todo_write', { todos: [PENDING ?? null] }, { conversation: 'c1' });
    await first.execute('todo_write', { todos: TODOS }, { conversation: 'c2' });
    await first.close();
    const later = open();
    const load = (conversation: string) =>
      later.execute('todo_write', { load_from_db: true }, { conversation });
    expect((await load('c1')).output).toBe('☐ Run tests');
    expect((await load('c2')).metadata.total_count).toBe(3);
    expect((await load('c3')).metadata.total_count).toBe(0);
    await later.close();
  });
});
