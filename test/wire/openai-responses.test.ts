import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { answerReadErrors, createCallStream, readCalls, writeResults } from '../../src/protocols.js';
import { failure, ran, success } from './results.js';

type Item = OpenAI.Responses.ResponseOutputItem;

const shell = (call_id: string, commands: string[], limits: object = {}) =>
  ({
    type: 'shell_call',
    id: `sh_${call_id}`,
    call_id,
    status: 'completed',
    environment: null,
    action: { commands, timeout_ms: null, max_output_length: null, ...limits },
  }) satisfies Item;
const local = (call_id: string, command: string[], more: object = {}) =>
  ({
    type: 'local_shell_call',
    id: `lsh_${call_id}`,
    call_id,
    status: 'completed',
    action: { type: 'exec', command, env: {}, ...more },
  }) satisfies Item;
const patch = (call_id: string, operation: OpenAI.Responses.ResponseApplyPatchToolCall['operation']) =>
  ({ type: 'apply_patch_call', id: `ap_${call_id}`, call_id, status: 'completed', operation }) satisfies Item;

const output = [
  { type: 'reasoning', id: 'rs_1', summary: [] },
  {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'I will look.', annotations: [] }],
  },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' },
  shell('call_2', ['ls'], { timeout_ms: 5000, max_output_length: 4096 }),
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
  local('call_3', ['bash', '-lc', "echo 'hi'"], { working_directory: 'src', timeout_ms: 1000 }),
  patch('call_4', { type: 'update_file', path: 'a.py', diff: '@@\n-x\n+y\n' }),
  { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_5', name: 'apply_patch', input: '*** Begin' },
] satisfies Item[];

const calls = [
  { id: 'call_1', name: 'read_file', args: { path: 'a' } },
  { id: 'call_2', name: 'bash', args: { command: 'ls', timeout: 5000 } },
  {
    id: 'call_3',
    name: 'bash',
    args: { command: "bash -lc 'echo '\\''hi'\\'''", timeout: 1000, working_dir: 'src' },
  },
  {
    id: 'call_4',
    name: 'apply_patch',
    args: { patch: '*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n' },
  },
  { id: 'call_5', name: 'apply_patch', args: { patch: '*** Begin' } },
];

describe('OpenAI responses: a response', () => {
  it.each([
    ['a response', { id: 'resp_1', object: 'response', output }],
    ['its items', output],
    ['its JSON', JSON.stringify({ id: 'resp_1', object: 'response', output })],
  ])('%s: every call that is ours to run, in order', (_, input) => {
    const read = readCalls(input);
    expect(read).toMatchObject({ format: 'openai-responses', errors: [], shape: 'known' });
    expect(read.calls).toEqual(calls);
  });

  it.each([3, 5, 6, 7])('takes item %i alone', (index) => {
    expect(readCalls(output[index]).calls).toHaveLength(1);
    expect(readCalls([output[index]]).calls).toHaveLength(1);
  });

  it('is answered with an item for each, of the kind that asked', () => {
    const read = readCalls(output);
    const results = [
      success('call_1', { output: 'text' }),
      success('call_2', ran(0, 'a\n')),
      failure('call_3', ['execution_failed', 'exit code 2'], ran(2, 'out\n', 'err\n')),
      success('call_4', { output: 'Updated a.py' }),
      failure('call_5', ['patch_failed', 'bad patch']),
    ];
    const answer = writeResults('openai-responses', results, read);
    expect(answer).toEqual([
      { type: 'function_call_output', call_id: 'call_1', output: 'text' },
      {
        type: 'shell_call_output',
        call_id: 'call_2',
        output: [{ stdout: 'a\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
        max_output_length: 4096,
      },
      {
        type: 'local_shell_call_output',
        id: 'call_3',
        call_id: 'call_3',
        output: 'Error: exit code 2\n\nout\n\n\n[stderr]\nerr\n',
      } as OpenAI.Responses.ResponseInputItem.LocalShellCallOutput,
      {
        type: 'apply_patch_call_output',
        call_id: 'call_4',
        status: 'completed',
        output: 'Updated a.py',
      },
      { type: 'custom_tool_call_output', call_id: 'call_5', output: 'Error: bad patch' },
    ] satisfies OpenAI.Responses.ResponseInputItem[]);
    // The record may have been stored as JSON.
    const kept: unknown = JSON.parse(JSON.stringify(read.origins));
    expect(writeResults('openai-responses', results, { origins: kept as [] })).toEqual(answer);
  });

  it('leaves alone what the provider runs, and what is answered already', () => {
    const hosted = {
      ...shell('call_h', ['ls']),
      environment: { type: 'container_reference', container_id: 'cntr_1' },
    } satisfies Item;
    const answered = { type: 'function_call_output', call_id: 'call_1', output: 'x' };
    const none = {
      format: 'openai-responses',
      calls: [],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    };
    expect(readCalls({ object: 'response', output: [hosted] })).toEqual(none);
    expect(readCalls([hosted, { type: 'shell_call_output', call_id: 'call_h', output: [] }])).toEqual(none);
    expect(readCalls([output[2], answered])).toEqual(none);
    const here = { ...shell('call_l', ['ls']), environment: { type: 'local' } } satisfies Item;
    expect(readCalls([here]).calls).toHaveLength(1);
  });

  it('answers malformed items in their place, each in its kind', () => {
    const read = readCalls([
      { type: 'shell_call', call_id: 's', action: { commands: [], max_output_length: 7 } },
      { type: 'apply_patch_call', call_id: 'p', operation: { type: 'move_file', path: 'a' } },
      { type: 'local_shell_call', call_id: 'l', action: { command: 'ls' } },
      { type: 'custom_tool_call', call_id: 'c', name: 'other', input: 'x' },
      { type: 'function_call', call_id: 'f', name: 'bash', arguments: '{' },
    ]);
    expect(read.calls).toEqual([]);
    const answer = writeResults('openai-responses', answerReadErrors([], read.errors), read);
    expect(answer).toMatchObject([
      {
        type: 'shell_call_output',
        call_id: 's',
        max_output_length: 7,
        output: [
          {
            stdout: '',
            stderr: expect.stringContaining('"commands" is an empty list'),
            outcome: { type: 'exit', exit_code: 126 },
          },
        ],
      },
      { type: 'apply_patch_call_output', call_id: 'p', status: 'failed' },
      { type: 'local_shell_call_output', call_id: 'l' },
      { type: 'custom_tool_call_output', call_id: 'c' },
      { type: 'function_call_output', call_id: 'f' },
    ]);
  });

  it('repeats the program that waits for the answer', () => {
    const caller = { type: 'program', caller_id: 'prog_1' };
    const read = readCalls([
      { ...output[2], caller },
      { ...output[3], caller },
      { ...output[2], call_id: 'call_9', caller: 5 },
    ]);
    const answer = writeResults(
      'openai-responses',
      read.calls.map(({ id }) => success(id)),
      read,
    );
    expect(answer).toMatchObject([{ caller }, { caller, max_output_length: 4096 }, {}]);
    expect(answer).not.toHaveProperty('2.caller');
  });

  it('gives calls of one id each its own kind, in order', () => {
    const read = readCalls([shell('x', ['a']), patch('x', { type: 'delete_file', path: 'a' })]);
    const answer = writeResults('openai-responses', [success('x'), success('x'), success('x')], read);
    expect(answer).toMatchObject([
      { type: 'shell_call_output' },
      { type: 'apply_patch_call_output' },
      { type: 'apply_patch_call_output' },
    ]);
  });
});

describe('OpenAI responses: shell_call', () => {
  const answer = (result: ReturnType<typeof success>) => {
    const read = readCalls([shell('c', ['x'])]);
    const [item] = writeResults('openai-responses', [result], read) as { output: object[] }[];
    return item?.output;
  };
  const exit = (exit_code: number) => ({ type: 'exit', exit_code });

  it('runs several commands one after the other, each for itself', () => {
    const { calls: found } = readCalls([shell('c', ['cd /tmp # go', 'false', 'pwd'])]);
    expect(found).toMatchObject([
      {
        args: {
          command:
            'failed=0\n(\ncd /tmp # go\n) || failed=$?\n(\nfalse\n) || failed=$?\n(\npwd\n) || failed=$?\nexit "$failed"',
        },
      },
    ]);
  });

  it.each([
    [['cd / # go', 'exit 3', 'pwd', '(exit 4)', 'echo "$failed"; failed=9'], 4, ['HERE', '4']],
    [['true', 'false', 'true'], 1, []],
    [['true', 'cat <<E\nE2\nE', 'set -e; true'], 0, ['E2']],
  ])('%j end with the exit code of the last that failed', (commands, status, lines) => {
    const { calls: found } = readCalls([shell('c', commands)]);
    const done = spawnSync('bash', ['-c', String(found[0]?.args.command)], { encoding: 'utf8' });
    expect(done.status).toBe(status);
    const here = done.stdout.replace(`${process.cwd()}\n`, 'HERE\n');
    expect(here.split('\n').filter((line) => line !== '')).toEqual(lines);
  });

  it.each([
    ['success', success('c', ran(0, 'out', 'warn')), { stdout: 'out', stderr: 'warn', outcome: exit(0) }],
    [
      'an exit code',
      failure('c', ['execution_failed', 'Command failed with exit code 3'], ran(3, 'out', 'err')),
      { stdout: 'out', stderr: 'err', outcome: exit(3) },
    ],
    [
      'a timeout, with what was printed before it',
      failure('c', ['timeout', 'too slow'], { output: 'part' }),
      { stdout: 'part', stderr: '', outcome: { type: 'timeout' } },
    ],
    [
      'a refusal',
      failure('c', ['user_denied', 'The user said no.']),
      { stdout: '', stderr: 'Error: The user said no.', outcome: exit(126) },
    ],
    [
      'a signal',
      failure('c', ['cancelled', 'stopped'], ran(null, 'a', 'b', { signal: 'SIGKILL' })),
      { stdout: 'a', stderr: 'b\nError: stopped', outcome: exit(137) },
    ],
    [
      'a failure in spite of exit code 0',
      failure('c', ['invalid_tool_output', 'odd'], ran(0, 'a')),
      { stdout: 'a', stderr: 'Error: odd', outcome: exit(126) },
    ],
    [
      'a tool that tells nothing of streams',
      success('c', { output: 'plain' }),
      { stdout: 'plain', stderr: '', outcome: exit(0) },
    ],
  ])('tells of %s', (_, result, expected) => {
    expect(answer(result)).toEqual([expected]);
  });

  it('takes the whole text where the metadata holds an excerpt, and parts the streams only where it is sure', () => {
    const long = 'x'.repeat(5000);
    const excerpt = { stdout: 'x ... x', stdout_bytes: 5000 };
    const whole = success('c', { ...ran(0, long, 'warn', excerpt) });
    expect(answer(whole)).toEqual([{ stdout: long, stderr: 'warn', outcome: exit(0) }]);
    const cut = success('c', { ...ran(0, long, 'warn', excerpt), output: `${long.slice(0, 100)} [cut]` });
    expect(answer(cut)).toEqual([{ stdout: `${long.slice(0, 100)} [cut]`, stderr: '', outcome: exit(0) }]);
    const both = success('c', ran(0, 'a', long, { stderr: 'x', stderr_bytes: 5000 }));
    expect(answer(both)).toEqual([{ stdout: `a\n\n[stderr]\n${long}`, stderr: '', outcome: exit(0) }]);
  });
});

describe('OpenAI responses: local_shell_call', () => {
  const read = (command: string[], more: object = {}) => {
    const { calls: found, errors } = readCalls([local('c', command, more)]);
    return found[0]?.args.command ?? errors[0]?.message;
  };

  it.each([
    [['ls', '-la', '/tmp/a.b'], {}, 'ls -la /tmp/a.b'],
    [['echo', '$HOME', '', "it's"], {}, "echo '$HOME' '' 'it'\\''s'"],
    [['if'], {}, "'if'"],
    [['A=1', 'x'], {}, "'A=1' x"],
    [['~/x', '*'], {}, "'~/x' '*'"],
    [['env'], { env: { A: 'b c', _D1: '' } }, "A='b c' _D1='' env"],
    [['a\nb'], {}, "'a\nb'"],
  ])('quotes %j with %j', (command, more, line) => {
    expect(read(command, more)).toBe(line);
  });

  it.each([
    [['ls'], { user: 'root' }, 'Leave out "user"'],
    [['ls'], { env: { 'A;rm': 'x' } }, '"env" holds "A;rm"'],
    [['ls'], { env: { A: 1 } }, '"env" holds "A"'],
    [['ls'], { env: 'A=1' }, '"env" is the string'],
    [[], {}, '"command" was expected to be a list'],
  ])('answers %j with %j in its place', (command, more, words) => {
    expect(read(command, more)).toContain(words);
  });

  it('hands every argument over as it is', () => {
    const word = fc
      .string({ unit: 'binary' })
      .filter((text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), word, (words, value) => {
        const script = 'printf "%s\\0" "$V" "$@"';
        const line = read(['bash', '-c', script, 'x', ...words], { env: { V: value } });
        const { stdout } = spawnSync('bash', ['-c', String(line)], { encoding: 'utf8' });
        expect(stdout.split('\0').slice(0, -1)).toEqual([value, ...words]);
      }),
      { numRuns: 15 },
    );
  });

  it('is answered under the id of the item where there is no other', () => {
    const { call_id: _, ...item } = local('c', ['ls']);
    expect(readCalls([item]).calls).toMatchObject([{ id: 'lsh_c' }]);
  });
});

describe('OpenAI responses: apply_patch_call', () => {
  type Operation = Parameters<typeof patch>[1];
  const read = (operation: Operation) => {
    const { calls: found, errors } = readCalls([patch('c', operation)]);
    return found[0]?.args.patch ?? errors[0]?.message;
  };

  it.each<[Operation, string]>([
    [
      { type: 'create_file', path: 'a b.txt', diff: '+x\n+\n+*** End Patch\n' },
      'Add File: a b.txt\n+x\n+\n+*** End Patch',
    ],
    [{ type: 'create_file', path: 'a', diff: '' }, 'Add File: a'],
    [{ type: 'delete_file', path: 'a' }, 'Delete File: a'],
    [{ type: 'update_file', path: 'a', diff: ' c\n-x\n+y' }, 'Update File: a\n@@\n c\n-x\n+y'],
    [
      { type: 'update_file', path: 'a', diff: '@@ def f():\n c\n\n-x\n*** End of File\n' },
      'Update File: a\n@@ def f():\n c\n \n-x\n*** End of File',
    ],
    [
      { type: 'update_file', path: 'a', diff: '@@\n *** Delete File: b\n+x' },
      'Update File: a\n@@\n *** Delete File: b\n+x',
    ],
  ])('%j becomes a patch', (operation, body) => {
    expect(read(operation)).toBe(`*** Begin Patch\n*** ${body}\n*** End Patch\n`);
  });

  it.each<[Operation, string]>([
    [{ type: 'create_file', path: 'a', diff: '+x\ny' }, 'line 2 of "diff" is "y"'],
    [{ type: 'update_file', path: 'a', diff: '+x\n*** Delete File: b\n' }, 'line 2 of "diff" is "*** Delete'],
    [{ type: 'update_file', path: 'a', diff: '*** End Patch\n*** Begin Patch' }, 'line 1 of "diff"'],
    [{ type: 'update_file', path: 'a', diff: '' }, '"diff" is empty'],
    [{ type: 'delete_file', path: 'a\n*** Delete File: b' }, 'cannot stand in a patch'],
    [{ type: 'delete_file', path: ' a' }, 'cannot stand in a patch'],
    [{ type: 'delete_file', path: '' }, '"path" is the string ""'],
  ])('%j is answered in its place', (operation, words) => {
    expect(read(operation)).toContain(words);
  });

  it('never holds another operation than the one that was asked for', () => {
    const line = fc.oneof(
      fc.constantFrom('*** Delete File: b', '*** End Patch', '*** Begin Patch', '@@', '+x', '-x', ' x', ''),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.constantFrom('create_file', 'update_file'),
        fc.array(line),
        fc.constantFrom('\n', '\r\n'),
        (type, lines, end) => {
          const text = read({ type, path: 'a', diff: lines.join(end) });
          if (typeof text !== 'string' || !text.startsWith('*** Begin')) return;
          const headers = text.split(/\r?\n/).filter((one) => /^\*\*\* (?!End of File)/.test(one));
          expect(headers).toHaveLength(3);
        },
      ),
    );
  });
});

describe('OpenAI responses: a stream', () => {
  const event = (type: 'added' | 'done', index: number, item: Item) =>
    ({
      type: `response.output_item.${type}`,
      output_index: index,
      sequence_number: 1,
      item,
    }) as OpenAI.Responses.ResponseStreamEvent;

  it('gives each item when it is done, and says which never were', () => {
    const stream = createCallStream('openai-responses');
    const begun = { ...shell('call_2', []), status: 'in_progress' } satisfies Item;
    expect(stream.push(event('added', 0, begun))).toEqual([]);
    expect(stream.push(event('done', 0, shell('call_2', ['ls'])))).toEqual([
      { id: 'call_2', name: 'bash', args: { command: 'ls' } },
    ]);
    stream.push(event('added', 1, patch('call_4', { type: 'delete_file', path: '' })));
    expect(stream.end()).toMatchObject({
      calls: [{ id: 'call_2' }],
      errors: [{ index: 1, id: 'call_4', name: 'apply_patch', unfinished: true }],
      origins: [
        { callId: 'call_2', item: 'shell_call' },
        { callId: 'call_4', item: 'apply_patch_call' },
      ],
    });
  });
});
