import { existsSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ApprovalRequest } from '../../src/contract/approval.js';
import type { ToolSource } from '../../src/contract/external.js';
import type { Asker, Question } from '../../src/contract/question.js';
import { builtinTools } from '../../src/executor/builtin-tools.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { defineTool } from '../../src/executor/declare/define-tool.js';
import type { ExecutorOptions } from '../../src/executor/executor-options.js';
import { connect, ERAS, type Era, person, textOf } from '../../src/mcp/fixtures/connect.js';
import { mcpTools } from '../../src/mcp/mcp-tools.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';

const UPSTREAM = join(import.meta.dirname, '../../src/mcp/fixtures/upstream.mjs');
const WHY_NOT = await whyNoTransactions();
let folder: string;
let root: string;

beforeEach(({ onTestFinished: atEnd }) => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-questions-')));
  root = realpathSync(mkdtempSync(join(tmpdir(), 'toolexec-questions-root-')));
  vi.stubEnv('XDG_STATE_HOME', folder);
  // After the executors of the test have been closed.
  atEnd(() => {
    vi.unstubAllEnvs();
    for (const directory of [folder, root]) rmSync(directory, { recursive: true });
  });
});

const ANSWER: ElicitResult = {
  action: 'accept',
  content: { city: 'Oslo', nights: 2, room: 'd', extras: ['tea'], late: false },
};

const clients = new Map<Era, Client>();
afterAll(() => Promise.all([...clients.values()].map((client) => client.close())));

/** A real server in a separate process, whose tool `ask` asks the person. One for each revision. */
async function upstream(era: Era): Promise<ToolSource> {
  const client =
    clients.get(era) ??
    new Client(
      { name: 'tests', version: '1.0.0' },
      {
        capabilities: { elicitation: { form: {} } },
        versionNegotiation: { mode: era === '2026-07-28' ? 'auto' : 'legacy' },
      },
    );
  if (!clients.has(era)) {
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [UPSTREAM] }));
    // A slow start does not count as silence.
    await client.listTools();
  }
  clients.set(era, client);
  return mcpTools(client, { name: 'up', timeoutMs: 1_000 });
}

function open(options: ExecutorOptions) {
  const executor = createExecutor({ root, policy: null, journal: join(folder, 'journal.db'), ...options });
  onTestFinished(() => executor.close());
  return executor;
}

const pauseMs = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(ERAS)('a server in revision %s that asks the person', (era) => {
  it('is answered by the asker of the program, while its time limit pauses', async () => {
    const asked: Question[] = [];
    const asker: Asker = async (questions) => {
      asked.push(...questions);
      await pauseMs(1_300);
      return questions.map(({ header, options }) => {
        if (header === 'City') return { chosen: [], other: 'Oslo' };
        if (header === 'nights') return { chosen: [], other: '2' };
        if (header === 'late') return { chosen: ['No'] };
        return { chosen: [options.at(header === 'room' ? 1 : 0)?.label ?? ''] };
      });
    };
    const executor = open({ tools: [await upstream(era)], approver: null, asker });
    expect(await executor.execute('up__ask', {})).toMatchObject({ output: JSON.stringify(ANSWER) });
    expect(asked.map(({ header }) => header)).toEqual(['up', 'City', 'nights', 'room', 'extras', 'late']);
    expect(asked[0]?.question).toBe('The MCP server up asks: Where to?');
    expect(asked[3]?.options).toEqual([{ label: 'Single' }, { label: 'Double' }]);
  });

  it('asks again for a value that its form does not take', async () => {
    const said: string[] = [];
    const asker: Asker = (questions) => {
      said.push(questions[0]?.question ?? '');
      const nights = said.length === 1 ? 'many' : said.length === 2 ? '10' : '3';
      return questions.map(({ header }) => ({
        chosen: [],
        ...(header === 'City' ? { other: 'Rome' } : header === 'nights' ? { other: nights } : {}),
      }));
    };
    const executor = open({ tools: [await upstream(era)], approver: null, asker });
    const content = { city: 'Rome', nights: 3 };
    expect(await executor.execute('up__ask', {})).toMatchObject({
      output: JSON.stringify({ action: 'accept', content }),
    });
    expect(said.map((text) => text.split('\n')[0])).toEqual([
      'The MCP server up asks: Where to?',
      'nights: a number is expected.',
      'nights: the number is out of range.',
    ]);
  });

  it('is refused where no person can be asked', async () => {
    const executor = open({ tools: [await upstream(era)], approver: null });
    expect(await executor.execute('up__ask', {})).toMatchObject({ output: '{"action":"decline"}' });
  });

  describe.each(ERAS)('through a client in revision %s', (ours) => {
    it.each([
      ['accept', ANSWER],
      ['decline', { action: 'decline' }],
      ['cancel', { action: 'cancel' }],
    ] as const)('gets what its person says: %s', async (_, answer) => {
      const executor = open({ tools: [await upstream(era)], approver: null });
      const who = person('accept');
      let shown: object = {};
      who.answer = (_message, schema) => {
        shown = schema;
        return answer;
      };
      const client = await connect(executor, { era: ours, person: who });
      const result = await client.callTool({ name: 'up__ask', arguments: {} });
      expect(JSON.parse(textOf(result))).toEqual(answer);
      expect(who.asked).toEqual(['The MCP server up asks: Where to?']);
      expect(shown).toMatchObject({
        required: ['city', 'nights'],
        properties: { room: { oneOf: [{ const: 's' }, { const: 'd' }] }, nights: { maximum: 9 } },
      });
    });

    it('is refused by a client that cannot ask', async () => {
      const executor = open({ tools: [await upstream(era)], approver: null });
      const client = await connect(executor, { era: ours });
      const result = await client.callTool({ name: 'up__ask', arguments: {} });
      expect(JSON.parse(textOf(result))).toEqual({ action: 'decline' });
    });
  });
});

describe.each(ERAS)('a call that asks while it runs, in revision %s', (era) => {
  const wonder = defineTool({
    name: 'wonder',
    description: 'Asks.',
    input: { type: 'object' },
    touches: ['ask'],
    effects: () => [{ kind: 'ask' }],
    async execute(_, { ask }) {
      const red = { label: 'Red', description: 'Warm.' };
      const questions = [
        { header: 'Color', question: 'Which?', options: [red, { label: 'Blue' }], multiSelect: false },
        { header: 'Days', question: 'When?', options: [{ label: 'Mo' }, { label: 'Tu' }], multiSelect: true },
      ];
      return JSON.stringify((await ask?.(questions)) ?? 'no answer');
    },
  });

  it('shows the questions of a tool as one form', async () => {
    const executor = open({ tools: [wonder] });
    const who = person('accept', { answer_1_other: 'Green', answer_2: ['Mo', 'Tu'] });
    const client = await connect(executor, { era, person: who });
    const result = await client.callTool({ name: 'wonder', arguments: {} });
    expect(JSON.parse(textOf(result))).toEqual([{ chosen: [], other: 'Green' }, { chosen: ['Mo', 'Tu'] }]);
    expect(who.asked).toEqual(['Which?\nWhen?']);
    const mute = await connect(executor, { era });
    expect(textOf(await mute.callTool({ name: 'wonder', arguments: {} }))).toBe('"no answer"');
  });

  it('is recorded once, and a second use of the state gets that record', async () => {
    if (era !== '2026-07-28') return;
    const executor = open({ tools: [wonder] });
    const client = await connect(executor, { era, person: person('accept'), fulfils: false });
    const call = { name: 'wonder', arguments: {} };
    const send = async (more: object) =>
      client.callTool({ ...call, ...more } as typeof call, { allowInputRequired: true });
    const first = (await send({})) as { readonly requestState?: string };
    const answer = { action: 'accept', content: { answer_1: 'Red' } };
    const back = { requestState: first.requestState, inputResponses: { approval: answer } };
    expect(textOf(await send(back))).toContain('"Red"');
    expect(textOf(await send(back))).toContain('"Red"');
    const forged = send({ ...back, arguments: { other: true } });
    await expect(forged).rejects.toThrow('Invalid or expired requestState');
  });

  it('is cancelled when its client is gone', async () => {
    let ended = '';
    const wait = defineTool({
      name: 'wait',
      description: 'Asks.',
      input: { type: 'object' },
      touches: ['ask'],
      effects: () => [{ kind: 'ask' }],
      async execute(_, { ask, signal }) {
        signal.addEventListener('abort', () => {
          ended = 'aborted';
        });
        await ask?.([{ header: 'A', question: 'B?', options: [], multiSelect: false }]);
        return 'answered';
      },
    });
    const executor = open({ tools: [wait] });
    const who = person('accept');
    who.answer = () => new Promise(() => {});
    const client = await connect(executor, { era, person: who });
    void client.callTool({ name: 'wait', arguments: {} }).catch(() => {});
    await expect.poll(() => who.asked.length).toBe(1);
    await client.close();
    await expect.poll(() => ended).toBe('aborted');
  });

  describe.skipIf(WHY_NOT !== '')(`about what a command has changed${WHY_NOT}`, () => {
    const command = { name: 'bash', arguments: { command: 'echo x >new; echo done' } };
    const asksAfter = (): ExecutorOptions => ({
      tools: builtinTools({ bash: { approval: 'after' } }),
      policy: {},
      sandbox: { os: 'required' },
    });

    it.each([
      ['accept', true, ['new']],
      ['decline', false, []],
      ['cancel', false, []],
    ] as const)('when it has ended: %s', async (action, succeeds, left) => {
      const executor = open(asksAfter());
      const who = person(action);
      let schema: { readonly properties?: object } = {};
      who.answer = (_message, given) => {
        schema = given;
        return { action };
      };
      const client = await connect(executor, { era, person: who });
      const result = await client.callTool(command);
      expect(result.isError !== true).toBe(succeeds);
      expect(who.asked).toHaveLength(1);
      expect(who.asked[0]).toContain('Keep what this command has changed?');
      expect(who.asked[0]).toContain('new');
      // A call that has run does not run again with other arguments.
      expect(schema.properties).toEqual({});
      expect(readdirSync(root)).toEqual(left);
      expect(await executor.waiting()).toEqual([]);
    });

    it('changes beyond the consent are asked about too, and are not covered by it', async () => {
      writeFileSync(join(root, 'gen.sh'), "printf 'all:\\n\\ttrue\\n' >Makefile\n");
      const executor = open({ policy: {}, sandbox: { os: 'required' } });
      const who = person('accept');
      who.answer = (message) => ({ action: message.startsWith('Run this call?') ? 'accept' : 'decline' });
      const client = await connect(executor, { era, person: who });
      const result = await client.callTool({
        name: 'bash',
        arguments: { command: 'sh gen.sh' },
      });
      expect(who.asked).toHaveLength(2);
      expect(who.asked[1]).toContain('Makefile');
      expect(result.isError).toBe(true);
      expect(existsSync(join(root, 'Makefile'))).toBe(false);
    });

    it('a client that cannot ask is refused before', async () => {
      const executor = open(asksAfter());
      const client = await connect(executor, { era });
      const result = await client.callTool(command);
      expect(textOf(result)).toContain('this client cannot ask them');
    });
  });
});

it('the approver of the program is asked while a call runs, and not the client', async () => {
  if (WHY_NOT !== '') return;
  const asked: ApprovalRequest[] = [];
  const executor = open({
    tools: builtinTools({ bash: { approval: 'after' } }),
    policy: {},
    sandbox: { os: 'required' },
    approver: (requests) => {
      asked.push(...requests);
      return { kind: 'approve_all' };
    },
  });
  const who = person('accept');
  const client = await connect(executor, { era: '2026-07-28', person: who });
  await client.callTool({ name: 'bash', arguments: { command: 'echo x >new' } });
  expect([asked.length, who.asked.length]).toEqual([1, 0]);
});
