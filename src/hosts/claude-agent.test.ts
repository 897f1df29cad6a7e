import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Approver } from '../contract/approval.js';
import type { Executor } from '../contract/executor.js';
import { createExecutor } from '../executor/create-executor.js';
import { type ClaudeAgent, claudeAgent } from './claude-agent.js';
import { approveFirst, asksFirst, type HostWorld, hostWorld, slowFirst } from './fixtures/host-world.js';

let world: HostWorld;
beforeEach(() => {
  world = hostWorld();
});

const yes: Approver = () => ({ kind: 'approve_all' });
const no: Approver = () => ({ kind: 'deny_all', reason: 'too dear' });
const agentOf = (executor: Executor) => claudeAgent(executor, { conversation: 'chat' });
const REMOVE = 'mcp__toolexec__remove';
const X = { what: 'x' };

/** A call of the model in the order in which the SDK handles it; each part can be left out or changed. */
async function callRemove(agent: ClaudeAgent, id: string, approved: object = X, sent: object = approved) {
  const permission = await permit(agent, REMOVE, { ...approved }, id);
  if (permission.behavior === 'deny') return permission;
  return await send(await connected(agent), 'remove', sent, id);
}

function permit(agent: ClaudeAgent, name: string, input: Record<string, unknown>, id = 't1', by = {}) {
  return agent.canUseTool(name, input, { signal: new AbortController().signal, toolUseID: id, ...by });
}

async function hook(agent: ClaudeAgent, name: string, input: object, id = 't1', by = {}) {
  const [callback] = agent.hooks.PreToolUse[0]?.hooks ?? [];
  const document = { hook_event_name: 'PreToolUse', tool_name: name, tool_input: input, tool_use_id: id };
  Object.assign(document, by);
  const answer = await callback?.(document, id, { signal: new AbortController().signal });
  return answer?.hookSpecificOutput?.permissionDecision;
}

async function connected({ mcpServers }: ClaudeAgent): Promise<Client> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await mcpServers.toolexec.instance.connect(ours);
  const client = new Client({ name: 'claude', version: '1.0.0' });
  await client.connect(theirs);
  onTestFinished(() => client.close());
  return client;
}

function send(client: Client, name: string, args: object, id?: string, options = {}) {
  const _meta = id === undefined ? undefined : { 'claudecode/toolUseId': id };
  const params = { name, arguments: { ...args }, _meta };
  return client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
}

const said = (text: string) => ({ content: [{ type: 'text', text: expect.stringContaining(text) }] });

describe('claudeAgent()', () => {
  it('shows the tools with their schemas, and asks for those that need approval', async () => {
    await using executor = world.executor();
    const agent = agentOf(executor);
    const { tools } = await (await connected(agent)).listTools();
    expect(tools.map(({ name }) => name)).toEqual(['enter', 'fail', 'look', 'remove']);
    expect(tools.at(-1)).toMatchObject({
      inputSchema: { type: 'object', required: ['what'] },
      _meta: { 'anthropic/alwaysLoad': true },
    });
    expect(await hook(agent, REMOVE, X)).toBe('ask');
    expect(await hook(agent, 'mcp__toolexec__look', {}, 't2')).toBe('allow');
  });

  it('asks the approver, and runs an approved call once, however often and wherever it is sent', async () => {
    await using one = world.executor({ approver: yes });
    const agent = agentOf(one);
    expect(await callRemove(agent, 't1')).toMatchObject(said('removed x'));
    await using two = world.executor();
    expect(await callRemove(agentOf(two), 't1')).toMatchObject(said('removed x'));
    expect(world.removed()).toEqual(['t1 x']);
  });

  it('runs nothing that the approver denied, or that no approver could be asked about', async () => {
    await using denying = world.executor({ approver: no });
    expect(await callRemove(agentOf(denying), 't1')).toMatchObject({ behavior: 'deny' });
    expect(await send(await connected(agentOf(denying)), 'remove', X, 't1')).toMatchObject(said('too dear'));
    await using alone = world.executor();
    const answer = await callRemove(agentOf(alone), 't2');
    expect(answer).toMatchObject({ message: expect.stringContaining('"remove x" waits for the approval') });
    expect(world.removed()).toEqual([]);
  });

  it('gives the reason of a denial to the model (it was lost)', async () => {
    await using executor = world.executor({ approver: no });
    const agent = agentOf(executor);
    const lost = { behavior: 'deny', message: 'The person denied this call: too dear' };
    expect(await permit(agent, REMOVE, X)).toEqual(lost);
    expect(await permit(agent, REMOVE, X)).toEqual(lost);
  });

  it('runs a call that was approved elsewhere while it waited', async () => {
    await using executor = world.executor();
    const agent = agentOf(executor);
    await permit(agent, REMOVE, X);
    const [waiting] = await executor.waiting({ conversation: 'chat' });
    await executor.decide(waiting?.ticket ?? '', { kind: 'approve_all' });
    expect(await callRemove(agent, 't1')).toMatchObject(said('removed x'));
    expect(world.removed()).toEqual(['t1 x']);
  });

  it('runs nothing where canUseTool was forgotten, hooks and all', async () => {
    await using executor = world.executor({ approver: yes });
    const client = await connected(agentOf(executor));
    for (const id of ['t1', undefined])
      expect(await send(client, 'remove', X, id)).toMatchObject({ isError: true, ...said('Not run yet') });
    expect(world.removed()).toEqual([]);
  });

  it('runs nothing with other arguments, another id or another tool than those that were approved', async () => {
    await using executor = world.executor({ approver: yes });
    const agent = agentOf(executor);
    expect(await permit(agent, REMOVE, X)).toEqual({ behavior: 'allow', updatedInput: X });
    const client = await connected(agent);
    expect(await send(client, 'remove', { what: 'FORGED' }, 't1')).toMatchObject({ isError: true });
    expect(await send(client, 'remove', X, 't9')).toMatchObject({ isError: true });
    expect(world.removed()).toEqual([]);
    expect(await send(client, 'remove', X, 't1')).toMatchObject(said('removed x'));
    expect(world.removed()).toEqual(['t1 x']);
  });

  it('allows nothing to another server that uses our names', async () => {
    await using executor = world.executor({ approver: yes });
    const answer = await agentOf(executor).canUseTool(REMOVE, X, {
      signal: new AbortController().signal,
      toolUseID: 't1',
      mcpServer: { name: 'toolexec', source: 'project' },
    });
    expect(answer).toMatchObject({ behavior: 'deny', message: expect.stringContaining('another server') });
  });

  it('refuses Claude’s own tools in all three places, and names ours', async () => {
    await using executor = createExecutor({ approver: null, journal: false });
    const agent = agentOf(executor);
    const calls = {
      Bash: { command: 'true' },
      Write: { file_path: '/a', content: '' },
      Edit: { file_path: '/a', old_string: 'a', new_string: 'b' },
      Read: { file_path: '/etc/passwd' },
      Glob: { pattern: '*' },
      Grep: { pattern: 'x' },
      NotebookEdit: { notebook_path: '/a' },
      WebFetch: { url: 'https://example.org' },
      WebSearch: { query: 'x' },
    };
    for (const [name, input] of Object.entries(calls)) {
      expect(await hook(agent, name, input)).toBe('deny');
      expect(await permit(agent, name, input)).toMatchObject({
        behavior: 'deny',
        message: expect.stringMatching(/Use mcp__toolexec__\w+ instead/),
      });
      expect(agent.disallowedTools).toContain(name);
    }
    for (const name of ['FromTomorrow', 'Bash']) {
      expect(await hook(agent, name, {})).toBe('deny');
      expect(await permit(agent, name, {})).toMatchObject({ behavior: 'deny' });
    }
  });

  it('follows the rules about sub-agents (their calls ran under those of the main conversation)', async () => {
    const deny = { decision: 'deny', tool: 'enter', agent: ['explorer', 'agent_*'] } as const;
    await using executor = world.executor({ policy: { mode: 'auto', rules: [deny] } });
    const agent = agentOf(executor);
    const client = await connected(agent);
    const ENTER = 'mcp__toolexec__enter';
    await hook(agent, ENTER, X, 't1', { agent_id: 'a1', agent_type: 'explorer' });
    await hook(agent, ENTER, X, 't2', { agent_id: 'agent_2', agent_type: 'main' });
    // As if the hooks were forgotten: this knows the id only.
    await permit(agent, ENTER, X, 't3', { agentID: 'agent_3' });
    for (const id of ['t1', 't2', 't3'])
      expect(await send(client, 'enter', X, id)).toMatchObject({ isError: true, ...said('denied') });
    // The main conversation of `claude --agent explorer`.
    await hook(agent, ENTER, X, 't4', { agent_type: 'explorer' });
    expect(await send(client, 'enter', X, 't4')).toMatchObject(said('entered x'));
    expect(world.removed()).toEqual(['t4 x']);
  });

  it('leaves to Claude what touches only the agent, and tools of other servers to the rules of the SDK', async () => {
    await using executor = world.executor();
    const agent = agentOf(executor);
    expect(await hook(agent, 'TodoWrite', { todos: [] })).toBeUndefined();
    expect(await permit(agent, 'TodoWrite', { todos: [] })).toMatchObject({ behavior: 'allow' });
    // The answer of a query with `outputFormat`.
    expect(await hook(agent, 'StructuredOutput', { answer: 42 })).toBeUndefined();
    expect(await permit(agent, 'StructuredOutput', { answer: 42 })).toMatchObject({ behavior: 'allow' });
    expect(await permit(agent, 'AskUserQuestion', { questions: [] })).toMatchObject({ behavior: 'deny' });
    expect(await hook(agent, 'mcp__other__drop', {})).toBeUndefined();
    expect(await permit(agent, 'mcp__other__drop', {})).toMatchObject({ behavior: 'deny' });
  });

  it('runs conflicting calls that arrive at once in order (the first to be planned ran first)', async () => {
    await using executor = world.executor({ reviewers: [slowFirst] });
    const client = await connected(agentOf(executor));
    await Promise.all(['c1', 'c2', 'c3'].map((id) => send(client, 'enter', X, id)));
    expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
  });

  it('runs conflicting calls of a step in order, also after one that was approved elsewhere', async () => {
    await using executor = world.executor({ reviewers: [asksFirst] });
    await approveFirst(executor, 'enter', X);
    const client = await connected(agentOf(executor));
    await Promise.all(['c1', 'c2', 'c3'].map((id) => send(client, 'enter', X, id)));
    expect(world.removed()).toEqual(['c1 x', 'c2 x', 'c3 x']);
  });

  it('carries failures, pictures and live output, and stops a call that is taken back', async () => {
    await using executor = world.executor();
    const client = await connected(agentOf(executor));
    expect(await send(client, 'fail', {}, 't1')).toMatchObject({
      isError: true,
      ...said('Error: it broke\n\nthe log'),
    });
    const shown: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => void shown.push(message);
    const look = await send(client, 'look', {}, 't2', { onprogress });
    expect(look.content).toEqual([{ type: 'image', data: 'AQI=', mimeType: 'image/png' }]);
    expect(shown).toEqual(['one\n']);
    await send(client, 'look', {}, 't3', { signal: world.abortsNextLook() }).catch(() => {});
    const [record] = await executor.run([{ id: 't3', name: 'look', args: {} }], { conversation: 'chat' });
    expect(record?.error?.code).toBe('cancelled');
  });
});
