import type Anthropic from '@anthropic-ai/sdk';
import type { Content } from '@google/genai';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { repairHistory, type ToolResult } from '../../src/protocols.js';
import { success } from './results.js';

const UNKNOWN = expect.stringMatching(/^Error: The outcome of this call is unknown \(outcome_unknown\)/);

/** The faults, one word each. */
function faults({ changes }: { readonly changes: readonly { kind: string; callId: string; at: number }[] }) {
  return changes.map(({ kind, callId, at }) => `${at} ${kind} ${callId}`);
}

const say = (text: string) => ({ type: 'text', text }) satisfies Anthropic.TextBlockParam;
const use = (id: string, command = 'ls') =>
  ({ type: 'tool_use', id, name: 'bash', input: { command } }) satisfies Anthropic.ToolUseBlockParam;
const answer = (id: string, content = `done ${id}`) =>
  ({ type: 'tool_result', tool_use_id: id, content }) satisfies Anthropic.ToolResultBlockParam;
const asks = (...content: Anthropic.ContentBlockParam[]) =>
  ({ role: 'assistant', content }) satisfies Anthropic.MessageParam;
const replies = (...content: Anthropic.ContentBlockParam[]) =>
  ({ role: 'user', content }) satisfies Anthropic.MessageParam;

describe('repairHistory() of Anthropic', () => {
  it('answers what a crash left open, first in the message that follows', () => {
    const [first, second, last] = [asks(say('I look.'), use('a'), use('b')), asks(use('c')), asks(use('d'))];
    const broken: Anthropic.MessageParam[] = [
      { role: 'user', content: 'Look.' },
      first,
      replies(answer('a')),
      second,
      { role: 'user', content: 'Are you there?' },
      last,
    ];
    const repaired = repairHistory(broken);
    expect(repaired.history).toEqual([
      { role: 'user', content: 'Look.' },
      first,
      replies(answer('a'), { ...answer('b', UNKNOWN), is_error: true }),
      second,
      replies({ ...answer('c', UNKNOWN), is_error: true }, say('Are you there?')),
      last,
      replies({ ...answer('d', UNKNOWN), is_error: true }),
    ] satisfies Anthropic.MessageParam[]);
    expect(faults(repaired)).toEqual(['1 missing_result b', '3 missing_result c', '5 missing_result d']);
    expect(repaired.format).toBe('anthropic');
    expect(repaired.history[1]).toBe(first);
  });

  it('puts results in order, together and first, whatever else the person said', () => {
    const broken = [
      replies(say('Go.')),
      asks(use('a'), use('b')),
      replies(say('Hm.'), answer('b')),
      replies(answer('a'), say('And?')),
    ];
    const repaired = repairHistory(broken);
    expect(repaired.history).toEqual([
      replies(say('Go.')),
      broken[1],
      replies(answer('a'), answer('b'), say('Hm.')),
      replies(say('And?')),
    ]);
    expect(faults(repaired)).toEqual(['2 misplaced_result b', '3 misplaced_result a']);
  });

  it('takes out results of nothing and results too many; the first real one stays', () => {
    const lost = repairHistory([replies(say('Go.')), asks(use('a'))]).history.at(-1);
    const broken = [
      replies(say('Go.')),
      asks(use('a')),
      lost,
      replies(answer('x'), answer('a'), answer('a', 'other')),
    ];
    const repaired = repairHistory(broken);
    expect(repaired.history).toEqual([replies(say('Go.')), asks(use('a')), replies(answer('a'))]);
    expect(faults(repaired)).toEqual(['2 duplicate_result a', '3 orphan_result x', '3 duplicate_result a']);
  });

  it('keeps a place for the person where results alone stood between what the model said', () => {
    const cutOff = [replies(answer('gone')), asks(say('I see.')), replies(answer('too')), asks(say('So.'))];
    const [first, , third] = repairHistory(cutOff).history;
    for (const message of [first, third]) {
      expect(message).toEqual(
        replies(say(expect.stringContaining('Results of tool calls were here') as string)),
      );
    }
    expect(
      repairHistory([replies(say('Go.')), replies(answer('gone')), asks(say('So.'))]).history,
    ).toHaveLength(2);
  });

  it('knows a call that was written down twice from another under its id', () => {
    const thought = {
      type: 'thinking',
      thinking: 'hm',
      signature: 's',
    } satisfies Anthropic.ThinkingBlockParam;
    const copy = repairHistory([
      replies(say('Go.')),
      asks(use('a'), use('a')),
      asks(thought, use('a')),
      replies(answer('a')),
    ]);
    expect(copy.history).toEqual([replies(say('Go.')), asks(use('a')), replies(answer('a'))]);
    expect(faults(copy)).toEqual(['1 duplicate_call a', '2 duplicate_call a']);
    const reused = repairHistory([
      replies(say('Go.')),
      asks(use('a')),
      replies(answer('a', '1')),
      asks(use('a', 'pwd')),
      replies(answer('a', '2')),
    ]);
    expect(reused.history.slice(3)).toEqual([asks(use('a_2', 'pwd')), replies(answer('a_2', '2'))]);
    expect(faults(reused)).toEqual(['3 reused_id a']);
  });

  it('leaves blocks of kinds it does not know, and what the server ran, where they are', () => {
    const odd = { type: 'from_the_future', id: 'f' } as unknown as Anthropic.ContentBlockParam;
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} } as const;
    const sound = [replies(odd), asks(odd, search, use('a')), replies(answer('a'), odd)];
    expect(repairHistory(sound).history).toBe(sound);
    const broken = [replies(odd), asks(odd, search, use('a')), replies(odd)];
    expect(repairHistory(broken).history[2]?.content).toEqual([
      expect.objectContaining({ is_error: true }),
      odd,
    ]);
  });

  it('takes messages as they came out of a response', () => {
    const message = {
      ...asks(use('a')),
      id: 'msg_1',
      type: 'message',
      model: 'claude',
      stop_reason: 'tool_use',
    };
    const { history, format } = repairHistory([{ role: 'user', content: 'Go.' }, message]);
    expect([format, history.length]).toEqual(['anthropic', 3]);
  });

  it('repeats the toolset of a call that is of one, and gives an id to a call without one', () => {
    const broken = [
      replies(say('Go.')),
      asks({ ...use('a'), toolset_name: 'browser' } as never, { ...use(''), name: 'x' }),
    ];
    const { history, changes } = repairHistory(broken);
    expect(history[1]?.content[1]).toMatchObject({ type: 'tool_use', id: 'call_1', name: 'x' });
    expect(history[2]?.content).toMatchObject([
      { tool_use_id: 'a', toolset_name: 'browser' },
      { tool_use_id: 'call_1' },
    ]);
    expect(changes.map(({ kind }) => kind)).toEqual(['missing_id', 'missing_result', 'missing_result']);
  });
});

const calls = (...ids: string[]) =>
  ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({
      id,
      type: 'function',
      function: { name: 'bash', arguments: `{"command":"${id}"}` },
    })),
  }) satisfies OpenAI.Chat.ChatCompletionAssistantMessageParam;
const tool = (id: string, content = `done ${id}`) =>
  ({ role: 'tool', tool_call_id: id, content }) satisfies OpenAI.Chat.ChatCompletionToolMessageParam;
const user = (content: string) => ({ role: 'user', content }) as const;

describe('repairHistory() of OpenAI chat', () => {
  it('puts a message for every call right behind the one that asked', () => {
    const broken: OpenAI.Chat.ChatCompletionMessageParam[] = [
      { role: 'developer', content: 'Be brief.' },
      tool('c'),
      user('Go.'),
      calls('a', 'b', 'c'),
      user('Well?'),
      tool('b'),
      tool('x'),
      tool('b', 'again'),
    ];
    const repaired = repairHistory({ model: 'gpt-5', messages: broken });
    expect(repaired.history).toEqual({
      model: 'gpt-5',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        user('Go.'),
        calls('a', 'b', 'c'),
        tool('a', UNKNOWN),
        tool('b'),
        tool('c'),
        user('Well?'),
      ] satisfies OpenAI.Chat.ChatCompletionMessageParam[],
    });
    expect(faults(repaired)).toEqual([
      '1 misplaced_result c',
      '3 missing_result a',
      '5 misplaced_result b',
      '6 orphan_result x',
      '7 duplicate_result b',
    ]);
  });

  it('leaves no empty list of calls behind, and nothing without content', () => {
    const copied = { ...calls('a'), content: 'Once more.' };
    const { history } = repairHistory([user('Go.'), calls('a'), copied, calls('a'), tool('a')]);
    expect(history).toEqual([
      user('Go.'),
      calls('a'),
      tool('a'),
      { role: 'assistant', content: 'Once more.' },
    ]);
  });

  it('answers the call of older models by its name', () => {
    const legacy = {
      role: 'assistant',
      content: null,
      function_call: { name: 'bash', arguments: '{}' },
    } satisfies OpenAI.Chat.ChatCompletionAssistantMessageParam;
    const done = { role: 'function', name: 'bash', content: 'x' } as const;
    const sound = [user('Go.'), legacy, done, legacy, done];
    expect(repairHistory(sound).history).toBe(sound);
    expect(repairHistory([legacy, user('Hm.'), done]).history).toEqual([legacy, done, user('Hm.')]);
    expect(repairHistory([legacy]).history).toEqual([legacy, { ...done, content: UNKNOWN }]);
  });
});

describe('repairHistory() of OpenAI responses', () => {
  const call = (call_id: string) =>
    ({
      type: 'function_call',
      call_id,
      name: 'bash',
      arguments: '{}',
    }) satisfies OpenAI.Responses.ResponseInputItem;
  const output = (call_id: string, text = 'done') =>
    ({ type: 'function_call_output', call_id, output: text }) satisfies OpenAI.Responses.ResponseInputItem;
  const shell = {
    type: 'shell_call',
    call_id: 's',
    action: { commands: ['ls'], max_output_length: 10 },
  } satisfies OpenAI.Responses.ResponseInputItem;

  it('puts an output behind its call, of the kind of the call', () => {
    const broken: OpenAI.Responses.ResponseInputItem[] = [
      { role: 'user', content: 'Go.' },
      output('b'),
      call('a'),
      shell,
      call('b'),
      { type: 'message', role: 'user', content: 'Well?' },
      output('a'),
    ];
    const repaired = repairHistory({ model: 'gpt-5', input: broken });
    expect(repaired.format).toBe('openai-responses');
    expect(repaired.history.input).toEqual([
      broken[0],
      call('a'),
      shell,
      call('b'),
      output('a'),
      {
        type: 'shell_call_output',
        call_id: 's',
        output: [expect.objectContaining({ outcome: { type: 'exit', exit_code: 1 } })],
        max_output_length: 10,
      },
      output('b'),
      broken[5],
    ]);
  });

  it('leaves what the model said between calls and outputs, and outputs of calls that others ran', () => {
    const sound = [
      { role: 'user', content: 'Go.' },
      { type: 'reasoning', id: 'r1', summary: [] },
      call('a'),
      { type: 'reasoning', id: 'r2', summary: [] },
      call('b'),
      { type: 'message', role: 'assistant', content: 'I look.' },
      output('a'),
      output('b'),
      { type: 'shell_call', call_id: 'h', environment: { type: 'container_reference', container_id: 'c' } },
      { type: 'shell_call_output', call_id: 'h', output: [] },
      { type: 'computer_call', call_id: 'k' },
      { type: 'computer_call_output', call_id: 'k' },
    ];
    expect(repairHistory(sound).history).toBe(sound);
  });

  it('leaves an output alone whose call the server keeps', () => {
    const body = { previous_response_id: 'resp_1', input: [output('elsewhere')] };
    expect(repairHistory(body).history).toBe(body);
    const items = [{ type: 'item_reference', id: 'fc_1' }, output('elsewhere')];
    expect(repairHistory(items).history).toBe(items);
    expect(repairHistory({ input: [output('elsewhere')] }).history.input).toEqual([]);
  });
});

describe('repairHistory() of Gemini', () => {
  const call = (name: string, id?: string) => ({
    functionCall: { ...(id === undefined ? {} : { id }), name, args: {} },
  });
  const response = (name: string, output: string, id?: string) => ({
    functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output } },
  });
  const model = (...parts: NonNullable<Content['parts']>) => ({ role: 'model', parts }) satisfies Content;
  const person = (...parts: NonNullable<Content['parts']>) => ({ role: 'user', parts }) satisfies Content;

  it('matches by id, or by name and order, and answers as many as there are', () => {
    const [go, asked] = [person({ text: 'Go.' }), model(call('ls'), call('cat', 'c1'), call('ls'))];
    const broken = {
      contents: [go, asked, person({ text: 'Hm.' }, response('ls', '1'), response('cat', '2', 'c1'))],
    };
    const { history, format } = repairHistory(broken);
    expect(format).toBe('gemini');
    expect(history.contents).toEqual([
      go,
      asked,
      person(
        response('ls', '1'),
        response('cat', '2', 'c1'),
        { functionResponse: { name: 'ls', response: { error: UNKNOWN } } },
        { text: 'Hm.' },
      ),
    ] satisfies Content[]);
  });

  it('gives a response without an id to no call that comes after it', () => {
    const { history } = repairHistory([
      person(response('ls', 'old')),
      model(call('ls')),
      person({ text: 'Hm.' }),
    ]);
    expect(JSON.stringify(history)).not.toContain('"old"');
    expect(history[2]).toMatchObject({ parts: [{ functionResponse: { response: { error: UNKNOWN } } }, {}] });
  });

  it('gives responses behind two messages to the calls of both, in order', () => {
    const { history } = repairHistory([
      person({ text: 'Go.' }),
      model(call('ls')),
      model(call('ls')),
      person(response('ls', '1'), response('ls', '2')),
    ]);
    expect(history.slice(1)).toEqual([
      model(call('ls')),
      person(response('ls', '1')),
      model(call('ls')),
      person(response('ls', '2')),
    ]);
  });
});

describe('repairHistory()', () => {
  it('mends our own calls and results', () => {
    const call = { id: 'a', name: 'bash', args: {} };
    expect(repairHistory([call, { role: 'user', content: 'Well?' }]).history).toEqual([
      call,
      expect.objectContaining({
        tool_call_id: 'a',
        tool_name: 'bash',
        success: false,
        error: { code: 'outcome_unknown', message: expect.any(String) },
      }),
      { role: 'user', content: 'Well?' },
    ]);
  });

  it('asks for what is missing by id, name and arguments, and takes a promise', async () => {
    const broken = [replies(say('Go.')), asks(use('a'), use('b')), replies(answer('b'))];
    const asked: unknown[] = [];
    const find = (...call: readonly unknown[]): ToolResult => {
      asked.push(call);
      return success('a', { output: 'recorded' });
    };
    const now = repairHistory(broken, { find });
    expect(now.history[2]).toEqual(replies(answer('a', 'recorded'), answer('b')));
    expect(now.changes).toMatchObject([{ kind: 'missing_result', callId: 'a', at: 1, result: 'found' }]);
    expect(asked).toEqual([['a', 'bash', { command: 'ls' }]]);
    const later = await repairHistory(broken, { find: async (...call) => find(...call) });
    expect(later).toEqual(now);
    await expect(async () =>
      repairHistory(broken, { find: () => Promise.reject(new Error('no journal')) }),
    ).rejects.toThrow('no journal');
  });

  it('takes and gives JSON text, as wide as it came', () => {
    const broken = [replies(say('Go.')), asks(use('a'))];
    const text = `${JSON.stringify(broken, null, 2)}\n`;
    const { history } = repairHistory(text);
    expect(history).toBe(`${JSON.stringify(repairHistory(broken).history, null, 2)}\n`);
    expect(repairHistory(history).history).toBe(history);
  });

  it.each([
    [null, 'it is null'],
    [5, 'it is the number 5'],
    ['', 'it is empty'],
    ['"[]"', 'it is the string "[]"'],
    ['[{', 'it is not valid JSON: line 1, column 3'],
    ['[{"a":1,"a":2}]', 'the key "a" is given twice'],
    [{}, 'it is an object without "messages", "input" or "contents"'],
    [{ messages: 'x' }, '"messages" is the string "x", a list was expected'],
    [{ input: 5 }, '"input" is the number 5'],
    [[{ role: 'user', content: 'x' }, 5], 'element 1 is the number 5'],
    [[{ foo: 1 }], 'element 0 has the shape of no known message'],
  ])('refuses %j and says why', (history, why) => {
    const repair = () => repairHistory<unknown>(history);
    expect(repair).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: expect.stringContaining(why) }),
    );
  });

  it('refuses formats that have no history, and survives what throws when it is read', () => {
    expect(() => repairHistory([], { format: 'fenced' })).toThrow('Known: openai, ');
    const trap = Object.defineProperty({ role: 'assistant' }, 'content', {
      enumerable: true,
      get: () => {
        throw new Error('trap');
      },
    });
    expect(() => repairHistory([trap])).toThrow('Cannot repair the history: trap');
  });

  it.each([[[]], [{ messages: [] }], [{ input: 'text' }], [{ contents: 'text' }], [{ contents: person() }]])(
    'has nothing to mend in %j',
    (history) => {
      expect(repairHistory<unknown>(history)).toMatchObject({ changes: [], history });
    },
  );

  it('needs time linear in the length, whatever is repeated', () => {
    const count = 5000;
    const many = <T>(make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
    const reused = many((at) => [calls('a'), tool('a', `${at}`)]).flat();
    const histories = [
      reused,
      many(() => calls('a')),
      [calls('a'), ...many((at) => tool('a', `${at}`))],
      [...reused.slice(0, 4), ...many((at) => tool('a', `${at}`))],
      [calls(...many(() => 'a')), tool('a')],
      [
        ...many(() => ({ role: 'model', parts: [{ functionCall: { name: 'ls' } }] })),
        { role: 'user', parts: [] },
      ],
    ];
    for (const history of histories)
      expect(repairHistory<unknown>(history).changes.length).toBeGreaterThan(1);
  });

  it('changes nothing that it is given', () => {
    const broken = freeze([replies(say('Go.')), asks(use('a'), use('b')), replies(answer('b'), answer('b'))]);
    expect(repairHistory(broken).changes).toHaveLength(2);
  });
});

function person() {
  return { role: 'user', parts: [{ text: 'x' }] };
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) freeze(member);
    Object.freeze(value);
  }
  return value;
}
