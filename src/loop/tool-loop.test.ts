import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Executor } from '../contract/executor.js';
import { ModelError } from '../errors/model-error.js';
import { builtinTools } from '../executor/builtin-tools.js';
import { createExecutor } from '../executor/create-executor.js';
import { defineTool } from '../executor/declare/define-tool.js';
import type { ExecutorOptions } from '../executor/executor-options.js';
import { createScriptedModel, type ScriptedModel } from '../testing/create-scripted-model.js';
import type { LoopEvent, LoopState, ToolLoop, ToolLoopOptions } from './loop-contract.js';
import { createToolLoop } from './tool-loop.js';

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-loop-')));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function open(options: ExecutorOptions = {}): Executor {
  const executor = createExecutor({ root: folder(), approver: null, policy: null, ...options });
  onTestFinished(() => executor.close());
  return executor;
}

type Script = Parameters<typeof createScriptedModel>[0];

interface Talk {
  readonly loop: ToolLoop;
  readonly model: ScriptedModel;
  readonly executor: Executor;
}

function talk(script: Script, options: Partial<ToolLoopOptions> = {}, world: ExecutorOptions = {}): Talk {
  const model = createScriptedModel(script);
  const executor = options.executor ?? open(world);
  return { model, executor, loop: createToolLoop({ executor, model, ...options }) };
}

const write = (path: string, id?: string) => ({
  name: 'write_file',
  args: { path, content: path },
  ...(id === undefined ? {} : { id }),
});
const READ_A = { name: 'read_file', args: { path: 'a' } };

async function collect(events: AsyncIterable<LoopEvent>): Promise<readonly LoopEvent[]> {
  const all: LoopEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('a turn', () => {
  it('asks, runs the calls, gives the model their results, and ends with its answer (D141)', async () => {
    const root = folder();
    writeFileSync(join(root, 'a'), 'content of a\n');
    const { loop, model } = talk(
      [
        { text: 'I look.', calls: [READ_A], usage: { inputTokens: 10, outputTokens: 5 } },
        { text: ['It says ', 'hello.'], usage: { inputTokens: 30, outputTokens: 7 } },
      ],
      { system: 'Be brief.' },
      { root },
    );
    const result = await loop.run('What is in a?');
    expect(result).toMatchObject({ text: 'It says hello.', stopReason: 'end', iterations: 1 });
    expect(result.usage).toEqual({ inputTokens: 40, outputTokens: 12 });
    expect(result.results.map(({ output }) => output)).toEqual(['content of a\n']);
    expect(model.requests.map(({ system }) => system)).toEqual(['Be brief.', 'Be brief.']);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(model.requests[1]?.tools.map(({ name }) => name)).toContain('read_file');
    expect(loop.state).toEqual({ kind: 'idle' });
    expect(loop.messages).toHaveLength(4);
  });

  it('tells each state and everything in order (D146)', async () => {
    const { loop } = talk([{ text: 'ok', calls: [write('a')] }, { text: 'done' }]);
    const kinds = (await collect(loop.stream('go'))).map((event) =>
      event.type === 'state' ? event.state.kind : event.type,
    );
    expect(kinds).toEqual([
      ...['streaming', 'text', 'call', 'tools', 'planned', 'started', 'completed'],
      ...['streaming', 'text', 'idle', 'end'],
    ]);
  });

  it('continues after a batch of refused calls (D146)', async () => {
    const { loop, model } = talk([
      { calls: [write('../out'), { name: 'fly', args: {} }] },
      { text: 'I see.' },
    ]);
    const { stopReason, results } = await loop.run('go');
    expect(stopReason).toBe('end');
    expect(results.map(({ error }) => error?.code)).toEqual(['sandbox_violation', 'unknown_tool']);
    expect(model.requests).toHaveLength(2);
  });

  it('answers a call that cannot be read, beside those that run', async () => {
    const malformed = [{ id: 'm', name: 'write_file', message: 'The arguments are not JSON.' }];
    const { loop } = talk([{ calls: [write('a')], malformed }, { text: 'again' }]);
    const { results } = await loop.run('go');
    expect(results.map(({ callId, error }) => [callId, error?.code])).toEqual([
      ['call_1_0', undefined],
      ['m', 'bad_args'],
    ]);
  });

  it('remembers the turns before', async () => {
    const { loop, model } = talk([{ text: 'one' }, { text: 'two' }]);
    await loop.run('first');
    await loop.run('second');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
  });

  it('takes a call for a new one whose id an earlier response had', async () => {
    const { loop } = talk(
      [{ calls: [write('a', 'call_0')] }, { calls: [write('b', 'call_0')] }, { text: 'done' }],
      { conversation: 'c' },
    );
    const { results } = await loop.run('go');
    expect(results.map(({ success, metadata }) => [success, String(metadata.path).slice(-2)])).toEqual([
      [true, '/a'],
      [true, '/b'],
    ]);
  });

  it('says that an answer was cut at the limit of tokens', async () => {
    const { loop } = talk([{ text: 'and then', stopReason: 'length' }]);
    expect(await loop.run('go')).toMatchObject({ stopReason: 'end', cutOff: true, text: 'and then' });
  });

  it('cuts results to what the context can still take (D031)', async () => {
    const big = defineTool({
      name: 'big',
      description: 'Says a lot.',
      input: { type: 'object' },
      effects: () => [],
      execute: () => 'x'.repeat(50_000),
    });
    const call = { name: 'big', args: {} };
    const lengths = async (contextTokens?: number) => {
      const options = contextTokens === undefined ? {} : { contextTokens };
      const { loop } = talk([{ calls: [call, call] }, { text: 'done' }], options, { tools: [big] });
      return (await loop.run('go')).results.map(({ output }) => output.length);
    };
    // For an unknown model: 64 KB for the batch, in order.
    const [first = 0, second = 0] = await lengths();
    expect(first + second).toBeLessThanOrEqual(65_536);
    expect(first).toBeGreaterThan(second);
    expect(await lengths(1_000_000)).toEqual([50_000, 50_000]);
    expect((await lengths(12_000))[0]).toBeLessThan(40_000);
  });

  it('refuses a message that is not a text, and a second turn while one is under way', async () => {
    const { loop } = talk([{ hangs: true }, { text: 'fine' }]);
    await expect(loop.run(' ')).rejects.toMatchObject({ code: 'bad_args' });
    const stop = new AbortController();
    const first = loop.run('go', { signal: stop.signal });
    await expect(loop.run('go')).rejects.toMatchObject({ code: 'bad_args' });
    stop.abort();
    expect((await first).stopReason).toBe('cancelled');
    expect((await loop.run('again')).text).toBe('fine');
  });

  it.each([
    [{ executor: undefined }, /options\.executor must be given/],
    [{ maxToolIterationsPerUserTurn: 0 }, /maxToolIterationsPerUserTurn must be a whole number from 1/],
    [{ conversation: '' }, /conversation must be a text/],
    [{ color: 'red' }, /Unknown option options\.color/],
  ])('refuses the options %j', (wrong, message) => {
    const model = createScriptedModel([]);
    const options = { executor: open(), model, ...wrong } as ToolLoopOptions;
    expect(() => createToolLoop(options)).toThrow(message);
  });
});

describe('the limit of iterations', () => {
  it('runs so many batches, answers the next one with its text, and asks once more (D016, D084)', async () => {
    const { loop, executor } = talk(
      [{ calls: [write('a')] }, { calls: [write('b')] }, { calls: [write('c')] }, { text: 'enough' }],
      { maxToolIterationsPerUserTurn: 2, conversation: 'c' },
    );
    const result = await loop.run('go');
    expect(result).toMatchObject({ stopReason: 'max_iterations', iterations: 2, text: 'enough' });
    expect(result.results.map(({ error }) => error?.code)).toEqual([undefined, undefined, 'max_iterations']);
    expect(result.results[2]?.error?.message).toBe('Max tool iterations reached');
    const [last] = await executor.transcript('c').answers('none', [{ ...write('c'), id: 'call_3_0' }]);
    expect(last?.error?.code).toBe('max_iterations');
  });

  it('ends where the model asks for tools all the same, and begins again with the next turn', async () => {
    const { loop, model } = talk(
      [
        { calls: [write('a')] },
        { calls: [write('b')] },
        { calls: [write('c')] },
        { calls: [write('d')] },
        { text: 'done' },
      ],
      { maxToolIterationsPerUserTurn: 1 },
    );
    const result = await loop.run('go');
    expect(result).toMatchObject({ stopReason: 'max_iterations', iterations: 1 });
    expect(model.requests).toHaveLength(3);
    expect(await loop.run('go on')).toMatchObject({ stopReason: 'end', iterations: 1 });
  });

  it('is that of the executor where the loop has none', async () => {
    const calls = Array.from({ length: 6 }, (_, index) => ({ calls: [write(`f${index}`)] }));
    const { loop } = talk(calls, {}, { limits: { maxToolIterationsPerUserTurn: 3 } });
    expect(await loop.run('go')).toMatchObject({ stopReason: 'max_iterations', iterations: 3 });
  });
});

describe('a turn that does not come to its end', () => {
  it('is an error when the stream is cut: whole calls are recorded, and none is run (D086)', async () => {
    const root = folder();
    const journal = join(folder(), 'journal.db');
    const malformed = [{ id: 'half', name: 'write_file', message: 'The stream ended inside it.' }];
    const failure = new ModelError('The connection was cut.', { status: 502 });
    const { loop, executor } = talk(
      [{ text: 'I wri', calls: [write('a', 'whole')], malformed, failure }, { text: 'again' }],
      { conversation: 'c' },
      { root, journal },
    );
    const result = await loop.run('go');
    expect(result).toMatchObject({
      stopReason: 'error',
      text: 'I wri',
      error: { status: 502, message: 'The connection was cut.' },
      results: [],
    });
    expect(() => readFileSync(join(root, 'a'))).toThrow('ENOENT');
    expect((await loop.run('again')).text).toBe('again');
    await executor.close();
    const later = open({ root, journal });
    const ids = ['whole', 'half'].map((id) => ({ id, name: 'write_file', args: {} }));
    const answers = await later.transcript('c').answers('no batch', ids);
    expect(answers.map((answer) => answer?.error?.code)).toEqual(['cancelled', 'bad_args']);
  });

  it('is an error if the model throws anything but a model error, or yields no end', async () => {
    const thrown = talk([{ failure: new Error('boom') }]);
    expect((await thrown.loop.run('go')).error).toEqual({ message: 'boom' });
    const model = { name: 'm', format: 'native', async *stream() {} } as const;
    const loop = createToolLoop({ executor: open(), model });
    expect((await loop.run('go')).error?.message).toContain('without an end');
  });

  it('says that the model declined, and runs none of its calls', async () => {
    const { loop, model } = talk([{ calls: [write('a')], stopReason: 'refused' }, { text: 'ok' }]);
    expect(await loop.run('go')).toMatchObject({ stopReason: 'refused', iterations: 0 });
    await loop.run('then');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('keeps the results when it is cancelled, and does not ask the model again (D054)', async () => {
    const stop = new AbortController();
    const slow = defineTool({
      name: 'slow',
      description: 'Waits.',
      input: { type: 'object' },
      effects: () => [],
      execute: (_, { signal }) => {
        stop.abort();
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('late')));
      },
    });
    const calls = [
      { name: 'slow', args: {} },
      { name: 'slow', args: {} },
    ];
    const { loop, model } = talk([{ calls }, { text: 'and now' }], {}, { tools: [slow] });
    const result = await loop.run('go', { signal: stop.signal });
    expect(result.stopReason).toBe('cancelled');
    expect(result.results.map(({ error }) => error?.message)).toEqual([
      'Cancelled by user',
      'Cancelled by user',
    ]);
    expect(model.requests).toHaveLength(1);
    expect(loop.state.kind).toBe('idle');
    await loop.run('go on');
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });

  it('is cancelled when its reader leaves, in whatever state', async () => {
    for (const leaveAt of ['call', 'planned', 'started', 'completed']) {
      const { loop, model } = talk([{ text: 'x', calls: [write('a')] }, { text: 'then' }]);
      for await (const event of loop.stream('go')) if (event.type === leaveAt) break;
      expect(loop.state).toEqual({ kind: 'idle' });
      expect((await loop.run('next')).text).toBe('then');
      const roles = model.requests[1]?.messages.map(({ role }) => role);
      const isAnswered = leaveAt !== 'call';
      expect(roles).toEqual(isAnswered ? ['user', 'assistant', 'tool', 'user'] : ['user', 'user']);
    }
  });

  it('ends at once when it is cancelled while the model says nothing', async () => {
    const stop = new AbortController();
    const { loop } = talk([{ text: 'so', hangs: true }]);
    const kinds: string[] = [];
    for await (const event of loop.stream('go', { signal: stop.signal })) {
      kinds.push(event.type);
      if (event.type === 'text') stop.abort();
      if (event.type === 'end') expect(event.result).toMatchObject({ stopReason: 'cancelled', text: 'so' });
    }
    expect(kinds.at(-1)).toBe('end');
  });

  it('is an error where the executor is closed', async () => {
    const { loop, executor } = talk([{ text: 'x' }]);
    await executor.close();
    expect(await loop.run('go')).toMatchObject({ stopReason: 'error' });
  });
});

describe('modes', () => {
  it('parse_only shows the tools, waits for submitted results, and continues (D013, D114, D125)', async () => {
    const definitions = [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }];
    const calls = [
      { id: 'one', name: 'look', args: {} },
      { id: 'two', name: 'look', args: {} },
    ];
    const { loop, model } = talk([{ calls }, { text: 'thanks' }], {}, { mode: 'parse_only', definitions });
    const states: LoopState[] = [];
    const running = (async () => {
      for await (const event of loop.stream('go')) {
        if (event.type === 'state') states.push(event.state);
        if (event.type === 'state' && event.state.kind === 'waiting') {
          expect(() => loop.submit('three', { output: '' })).toThrow(/one, two/);
          loop.submit('two', { output: 'not there', success: false });
          expect(loop.state).toMatchObject({ kind: 'waiting', calls: [{ id: 'one' }] });
          setTimeout(() => loop.submit('one', { output: 'seen' }), 5);
        }
        if (event.type === 'end') return event.result;
      }
      return undefined;
    })();
    const result = await running;
    expect(result).toMatchObject({ text: 'thanks', stopReason: 'end', iterations: 1 });
    expect(result?.results).toMatchObject([
      { callId: 'one', success: true, output: 'seen' },
      { callId: 'two', success: false, error: { message: 'not there' } },
    ]);
    expect(states.map(({ kind }) => kind)).toEqual(['streaming', 'waiting', 'streaming', 'idle']);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look']);
    expect(() => loop.submit('one', { output: 'late' })).toThrow(/no call waits/);
  });

  it('parse_only is cancelled while it waits: the remaining calls are answered', async () => {
    const stop = new AbortController();
    const { loop } = talk([{ calls: [READ_A] }], {}, { mode: 'parse_only' });
    const run = loop.run('go', { signal: stop.signal });
    setTimeout(() => stop.abort(), 10);
    const { stopReason, results } = await run;
    expect([stopReason, results[0]?.error?.code]).toEqual(['cancelled', 'cancelled']);
  });

  it('disabled shows no tool, answers calls with an error, and continues (D012, D124)', async () => {
    const { loop, model } = talk([{ calls: [READ_A] }, { text: 'fine' }], {}, { mode: 'disabled' });
    const { results, text } = await loop.run('go');
    expect([results[0]?.error?.code, text]).toEqual(['tools_disabled', 'fine']);
    expect(model.requests[0]?.tools).toEqual([]);
    expect(model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });
});

describe('a conversation in the journal', () => {
  it('is continued by a later loop, with the recorded results', async () => {
    const root = folder();
    const journal = join(folder(), 'journal.db');
    const first = talk(
      [{ text: 'I write.', calls: [write('a')] }, { text: 'done' }],
      { conversation: 'c' },
      { root, journal },
    );
    await first.loop.run('go');
    await first.executor.close();
    const later = talk([{ text: 'yes' }], { conversation: 'c' }, { root, journal });
    expect((await later.loop.run('did you?')).text).toBe('yes');
    const [request] = later.model.requests;
    expect(request?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(request?.messages[2]).toMatchObject({ results: [{ callId: 'call_1_0', success: true }] });
    expect(later.loop.messages).toHaveLength(6);
  });

  it('is continued after its process died between call and answer, and nothing is run again (D142, D143)', async () => {
    const root = folder();
    const journal = join(folder(), 'journal.db');
    const first = talk([{ calls: [write('a')] }], { conversation: 'c' }, { root, journal });
    // The process ends before the model is asked again.
    for await (const event of first.loop.stream('go')) if (event.type === 'completed') break;
    await first.executor.close();
    writeFileSync(join(root, 'a'), 'changed since');
    const later = talk([{ text: 'I see' }], { conversation: 'c' }, { root, journal });
    await later.loop.resume();
    expect(later.loop.messages).toHaveLength(3);
    await later.loop.run('and?');
    expect(later.model.requests[0]?.messages[2]).toMatchObject({
      role: 'tool',
      results: [{ success: true }],
    });
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('changed since');
  });

  it('keeps what was submitted in mode parse_only', async () => {
    const root = folder();
    const journal = join(folder(), 'journal.db');
    const world = { root, journal, mode: 'parse_only' } as const;
    const first = talk([{ calls: [READ_A] }, { text: 'ok' }], { conversation: 'c' }, world);
    for await (const event of first.loop.stream('go')) {
      if (event.type === 'state' && event.state.kind === 'waiting')
        first.loop.submit('call_1_0', { output: 'by hand' });
    }
    await first.executor.close();
    const later = talk([{ text: 'yes' }], { conversation: 'c' }, world);
    await later.loop.run('so?');
    expect(later.model.requests[0]?.messages[2]).toMatchObject({ results: [{ output: 'by hand' }] });
  });

  it('reports that the record no longer has an answer', async () => {
    const root = folder();
    const journal = join(folder(), 'journal.db');
    const first = talk([{ calls: [write('a')] }, { text: 'ok' }], { conversation: 'c' }, { root, journal });
    await first.loop.run('go');
    const entries = await first.executor.transcript('c').read();
    await first.executor.close();
    const later = talk(
      [{ text: 'yes' }],
      { conversation: 'd' },
      { root: folder(), journal: join(folder(), 'j.db') },
    );
    for (const { role, content } of entries) await later.executor.transcript('d').add(role, content);
    await later.executor.transcript('d').add('another program', 'its own');
    await later.loop.run('so?');
    expect(later.model.requests[0]?.messages[2]).toMatchObject({
      results: [{ error: { code: 'outcome_unknown' } }],
    });
  });
});

describe('sub-agents of a loop', () => {
  it('come with the built-in tools, have their own conversation, and answer their parent', async () => {
    const task = { name: 'task', args: { prompt: 'write b', description: 'write' } };
    const { loop, model } = talk([
      { calls: [task] },
      (request) => {
        expect(request.messages).toEqual([{ role: 'user', content: 'write b' }]);
        return { calls: [write('b')] };
      },
      { text: 'b is written' },
      { text: 'all done' },
    ]);
    const { text, results } = await loop.run('go');
    expect(text).toBe('all done');
    expect(results).toMatchObject([
      { output: 'b is written', metadata: { subagent_type: 'general-purpose', iterations: 1 } },
    ]);
    expect(model.requests[0]?.tools.map(({ name }) => name)).toContain('task');
  });

  it('are not there where the loop or the chosen tools leave them out', async () => {
    const names = async (options: Partial<ToolLoopOptions>, world: ExecutorOptions = {}) => {
      const { loop, model } = talk([{ text: 'x' }], options, world);
      await loop.run('go');
      return model.requests[0]?.tools.map(({ name }) => name);
    };
    expect(await names({ agents: false })).not.toContain('task');
    expect(await names({}, { tools: builtinTools() })).not.toContain('task');
    expect(await names({}, { tools: builtinTools({ agents: true }) })).toContain('task');
  });

  it('are a failure of their call where their model fails', async () => {
    const task = { name: 'task', args: { prompt: 'p', description: 'd' } };
    const { loop } = talk([{ calls: [task] }, { failure: new Error('no network') }, { text: 'then not' }]);
    const { results, stopReason } = await loop.run('go');
    expect(stopReason).toBe('end');
    expect(results[0]?.error?.message).toContain('no network');
  });
});
