import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';
import { answerReadErrors, createCallStream, readCalls, writeResults } from '../../src/protocols.js';
import { failure, success } from './results.js';

const direct = { type: 'direct' } as const;

const content = [
  { type: 'thinking', thinking: 'hm', signature: 'sig' },
  { type: 'text', text: 'I will look.', citations: null },
  { type: 'tool_use', id: 'toolu_1', name: 'bash', input: { command: 'ls' }, caller: direct },
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' }, caller: direct },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', title: 't', url: 'u', encrypted_content: 'e', page_age: null }],
    caller: direct,
  },
  { type: 'redacted_thinking', data: 'd' },
  { type: 'text', text: 'And read.', citations: null },
  { type: 'tool_use', id: 'toolu_2', name: 'read_file', input: { path: 'a' }, caller: direct },
] satisfies Anthropic.ContentBlock[];

const usage = {
  input_tokens: 1,
  output_tokens: 2,
  cache_creation: null,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
  server_tool_use: null,
  service_tier: null,
};

const calls = [
  { id: 'toolu_1', name: 'bash', args: { command: 'ls' } },
  { id: 'toolu_2', name: 'read_file', args: { path: 'a' } },
];

const message: Pick<
  Anthropic.Message,
  'id' | 'type' | 'role' | 'content' | 'stop_reason' | 'stop_sequence' | 'model'
> = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-5',
  content,
  stop_reason: 'tool_use',
  stop_sequence: null,
};

describe('Anthropic: a response', () => {
  it.each([
    ['a message', { ...message, usage }],
    ['its content blocks', content],
    ['its JSON', JSON.stringify({ ...message, usage }, null, 2)],
    ['the JSON of its blocks', JSON.stringify(content)],
  ])('%s: the calls alone, in order; what the server runs is left alone (C045, D082)', (_, input) => {
    expect(readCalls(input)).toMatchObject({ format: 'anthropic', calls, errors: [], shape: 'known' });
  });

  it('is answered with one user message that holds all results (C018, C044, C055, D145)', () => {
    const answer = writeResults('anthropic', [
      success('toolu_1', { output: 'a.txt' }),
      failure('toolu_2', ['execution_failed', 'permission denied']),
      success('toolu_3'),
    ]);
    expect(answer).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' },
        {
          type: 'tool_result',
          tool_use_id: 'toolu_2',
          content: 'Error: permission denied',
          is_error: true,
        },
        { type: 'tool_result', tool_use_id: 'toolu_3', content: '(no output)' },
      ],
    } satisfies Anthropic.MessageParam);
  });

  it('answers a malformed block in its place', () => {
    const read = readCalls([
      { type: 'tool_use', id: 'a', name: 'bash', input: { command: 'ls' } },
      { type: 'tool_use', id: 'b', name: 'bash', input: 'ls' },
      { type: 'tool_use', id: 'c', name: 'bash', input: { command: 'pwd' } },
    ]);
    const results = answerReadErrors(
      [success('a', { output: '1' }), success('c', { output: '2' })],
      read.errors,
    );
    expect(writeResults('anthropic', results, read)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: '1' },
        {
          type: 'tool_result',
          tool_use_id: 'b',
          content:
            'Error: Cannot read the call of "bash": "input" is the string "ls", a JSON object with the arguments was expected. Send {} when there are none.',
          is_error: true,
        },
        { type: 'tool_result', tool_use_id: 'c', content: '2' },
      ],
    } satisfies Anthropic.MessageParam);
  });

  it('repeats the toolset of a call that is of one', () => {
    const block = { ...content[2], toolset_name: 'browser' };
    const read = readCalls([block]);
    expect(writeResults('anthropic', [success('toolu_1')], read)).toEqual({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: '(no output)', toolset_name: 'browser' },
      ],
    } satisfies Anthropic.MessageParam);
  });
});

/** The result of a text editor's command. */
function edit(input: object, name = 'str_replace_based_edit_tool') {
  const { calls: found, errors } = readCalls([{ type: 'tool_use', id: 't', name, input }]);
  return found[0] ?? errors[0]?.message;
}

describe('Anthropic: tools of its own', () => {
  it('declares them under the names that are read here', () => {
    const bash = { type: 'bash_20250124', name: 'bash' } satisfies Anthropic.ToolBash20250124;
    const editors = [
      { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
      { type: 'text_editor_20250429', name: 'str_replace_based_edit_tool' },
      { type: 'text_editor_20250124', name: 'str_replace_editor' },
    ] satisfies Anthropic.ToolUnion[];
    for (const { name } of editors) {
      expect(edit({ command: 'view', path: 'a' }, name)).toMatchObject({ name: 'read_file' });
    }
    expect(edit({ command: 'ls' }, bash.name)).toEqual({ id: 't', name: 'bash', args: { command: 'ls' } });
  });

  it.each([
    [{ command: 'view', path: 'src/a.ts' }, 'read_file', { path: 'src/a.ts' }],
    [
      { command: 'view', path: 'a', view_range: [2, 9] },
      'read_file',
      { path: 'a', start_line: 2, end_line: 9 },
    ],
    [{ command: 'view', path: 'a', view_range: [2, -1] }, 'read_file', { path: 'a', start_line: 2 }],
    [{ command: 'view', path: 'a', view_range: null }, 'read_file', { path: 'a' }],
    [{ command: 'view', path: 'src/' }, 'list_directory', { path: 'src/' }],
    [{ command: 'view', path: '.' }, 'list_directory', { path: '.' }],
    [{ command: 'view', path: '../..' }, 'list_directory', { path: '../..' }],
    [{ command: 'view', path: '.env' }, 'read_file', { path: '.env' }],
    [{ command: 'view', path: 'a..' }, 'read_file', { path: 'a..' }],
    [
      { command: 'create', path: 'a', file_text: 'x\n' },
      'write_file',
      { path: 'a', content: 'x\n', mode: 'create' },
    ],
    [
      { command: 'str_replace', path: 'a', old_str: 'x', new_str: 'y' },
      'edit_file',
      { path: 'a', old_string: 'x', new_string: 'y' },
    ],
    [
      { command: 'str_replace', path: 'a', old_str: 'x' },
      'edit_file',
      { path: 'a', old_string: 'x', new_string: '' },
    ],
  ])('%j is a call of %s', (input, name, args) => {
    expect(edit(input)).toEqual({ id: 't', name, args });
  });

  it.each([
    [{ command: 'insert', path: 'a', insert_line: 3, insert_text: 'x' }, 'Send "str_replace"'],
    [{ command: 'undo_edit', path: 'a' }, 'undoing is not possible'],
    [{ command: 'delete', path: 'a' }, '"command" is the string "delete", one of view, create, str_replace'],
    [{ path: 'a' }, '"command" is missing'],
    [{ command: 'view' }, '"path" is missing'],
    [{ command: 'view', path: 'a', view_range: [0, 2] }, '"view_range" is an array'],
    [{ command: 'view', path: 'a', view_range: [1, 2, 3] }, '"view_range"'],
    [{ command: 'view', path: 'a', view_range: [1, -2] }, '"view_range"'],
    [{ command: 'create', path: 'a' }, '"file_text" is missing'],
    [{ command: 'str_replace', path: 'a', new_str: 'x' }, '"old_str" is missing'],
    [{ command: 'str_replace', path: 'a', old_str: 'x', new_str: 1 }, '"new_str" is the number 1'],
  ])('%j is answered in its place, with what to send instead', (input, words) => {
    expect(edit(input)).toContain('Cannot read the call of "str_replace_based_edit_tool": ');
    expect(edit(input)).toContain(words);
  });

  it('has no session of bash to restart', () => {
    expect(edit({ restart: true }, 'bash')).toContain('there is no session to restart');
    expect(edit({ command: 'ls', restart: false }, 'bash')).toEqual({
      id: 't',
      name: 'bash',
      args: { command: 'ls' },
    });
  });

  it('yields to a tool that the model was shown under the same name', () => {
    const input = { command: 'view', path: 'a' };
    const block = { type: 'tool_use', id: 't', name: 'str_replace_editor', input };
    const tools = [{ name: 'str_replace_editor', description: '', inputSchema: { type: 'object' } }];
    expect(readCalls([block], { tools }).calls).toEqual([{ id: 't', name: block.name, args: input }]);
    const restart = { type: 'tool_use', id: 't', name: 'bash', input: { restart: true } };
    const bash = { name: 'bash', inputSchema: { type: 'object', properties: { restart: {} } } };
    expect(readCalls([restart], { tools: [bash] }).calls).toHaveLength(1);
    expect(readCalls([restart], { tools: [{ name: 'bash', inputSchema: {} }] }).calls).toEqual([]);
  });
});

const start = (index: number, id: string, name = 'bash') =>
  ({
    type: 'content_block_start',
    index,
    content_block: { type: 'tool_use', id, name, input: {}, caller: direct },
  }) satisfies Anthropic.RawMessageStreamEvent;
const delta = (index: number, partial_json: string) =>
  ({
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json },
  }) satisfies Anthropic.RawMessageStreamEvent;
const stop = (index: number) =>
  ({ type: 'content_block_stop', index }) satisfies Anthropic.RawMessageStreamEvent;

describe('Anthropic: a stream', () => {
  it('gives each call with its end, those of its own tools as ours', () => {
    const stream = createCallStream('anthropic');
    const events = [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: null } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hm' } },
      stop(0),
      start(1, 'a'),
      delta(1, ''),
      delta(1, '{"comm'),
      delta(1, 'and":"ls"}'),
      stop(1),
      start(2, 'b', 'str_replace_based_edit_tool'),
      delta(2, '{"command":"view","path":"x"}'),
      stop(2),
      { type: 'message_stop' },
    ] satisfies Anthropic.RawMessageStreamEvent[];
    expect(events.map((event) => stream.push(event)).map((found) => found.length)).toEqual([
      0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0,
    ]);
    expect(stream.end()).toMatchObject({
      calls: [
        { id: 'a', name: 'bash' },
        { id: 'b', name: 'read_file' },
      ],
      errors: [],
    });
  });

  it('holds a call without arguments until it is sure that it was not cut off', () => {
    const ended = createCallStream('anthropic');
    expect([start(0, 'a'), delta(0, ''), stop(0)].flatMap((event) => ended.push(event))).toEqual([]);
    const after = { type: 'message_delta', delta: { stop_reason: 'tool_use' } };
    expect(ended.push(after)).toEqual([{ id: 'a', name: 'bash', args: {} }]);
    const next = createCallStream('anthropic');
    for (const event of [start(0, 'a'), stop(0)]) next.push(event);
    expect(next.push(start(1, 'b'))).toMatchObject([{ id: 'a' }]);
    const cut = createCallStream('anthropic');
    for (const event of [start(0, 'a'), stop(0)]) cut.push(event);
    expect(cut.push({ type: 'message_delta', delta: { stop_reason: 'max_tokens' } })).toEqual([]);
    expect(cut.end()).toMatchObject({ errors: [{ id: 'a', message: expect.stringContaining('cut off') }] });
    const bare = createCallStream('anthropic');
    for (const event of [start(0, 'a'), stop(0)]) bare.push(event);
    expect(bare.end().calls).toMatchObject([{ id: 'a' }]);
  });

  it('says of a block that never ended that it is unfinished', () => {
    const stream = createCallStream('anthropic');
    for (const event of [start(0, 'a'), delta(0, '{"command":"ls"}')]) stream.push(event);
    expect(stream.end()).toMatchObject({ calls: [], errors: [{ index: 0, id: 'a', unfinished: true }] });
  });
});
