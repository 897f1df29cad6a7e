import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Executor } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import type { AskedTicket } from '../contract/ticket.js';
import { type MappedTool, mapTool } from '../guard/map-tool.js';
import { type Callers, createHostServer, toHostCall } from './claude-agent-server.js';
import { agentOf, type Host, type HostCall, type HostOptions, openHost } from './host-approval.js';

/** Options for the SDK's `query`: `query({ prompt, options: { ...claudeAgent(executor, { conversation }) } })`. */
export interface ClaudeAgent {
  /** The executor's tools, as a server in this process. Claude knows them as `mcp__toolexec__NAME`. */
  mcpServers: { toolexec: { type: 'sdk'; name: string; instance: McpServer } };
  /** Asks the executor's approver about a call of these tools that needs approval. */
  canUseTool: ClaudePermission;
  /** Refuses Claude's own tools, and marks the calls that need the person. */
  hooks: { PreToolUse: { hooks: ClaudeHook[] }[] };
  /** Claude's own tools that reach files, commands or the network: the model does not even see them. */
  disallowedTools: string[];
}

export type ClaudePermission = (
  toolName: string,
  input: Record<string, unknown>,
  options: {
    signal: AbortSignal;
    toolUseID: string;
    mcpServer?: { name: string; source: string };
    agentID?: string;
  },
) => Promise<
  { behavior: 'allow'; updatedInput: Record<string, unknown> } | { behavior: 'deny'; message: string }
>;

export type ClaudeHook = (
  input: unknown,
  toolUseID: string | undefined,
  options: { signal: AbortSignal },
) => Promise<{
  hookSpecificOutput?: {
    hookEventName: 'PreToolUse';
    permissionDecision: 'allow' | 'ask' | 'deny';
    permissionDecisionReason: string;
  };
}>;

const SERVER = 'toolexec';
const PREFIX = `mcp__${SERVER}__`;

/** By the SDK's names. The hook refuses every other unknown tool of Claude. */
const OFF = [
  ...['Bash', 'BashOutput', 'KillShell', 'PowerShell', 'Monitor', 'REPL'],
  ...['Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'Grep', 'LS', 'LSP'],
  ...['WebFetch', 'WebSearch', 'EnterWorktree', 'ExitWorktree', 'Workflow'],
  ...['CronCreate', 'CronDelete', 'CronList', 'ScheduleWakeup'],
];

/** These tools ask the person a question, which `canUseTool` of this program cannot show. */
const ASKING: ReadonlySet<string> = new Set(['AskUserQuestion', 'ExitPlanMode']);

/**
 * The executor's tools for the Claude Agent SDK. A call that needs approval runs only if the executor's approver, or
 * `executor.decide`, approved exactly this call; if a call that has run is delivered again, it is answered from the
 * journal. Claude's own tools for files, commands and the network are off, because they would run outside the executor.
 * @throws ToolError `config_invalid` without a conversation
 */
export function claudeAgent(executor: Executor, options: HostOptions): ClaudeAgent {
  const callers: Callers = new Map();
  const host = { ...openHost('claudeAgent', executor, options, 'claude-agent'), callers };
  const instance = createHostServer(host, SERVER, callers);
  return {
    mcpServers: { [SERVER]: { type: 'sdk', name: SERVER, instance } },
    canUseTool: (name, input, given) => permit(host, name, input, given),
    hooks: { PreToolUse: [{ hooks: [(input, id) => beforeTool(host, input, id)] }] },
    disallowedTools: [...OFF],
  };
}

interface ClaudeHost extends Host {
  readonly callers: Callers;
}

const permit = async (
  host: ClaudeHost,
  ...[name, input, { signal, toolUseID: id, mcpServer, agentID }]: Parameters<ClaudePermission>
): ReturnType<ClaudePermission> => {
  const ours = mcpServer === undefined || mcpServer.source === 'sdk' ? ownName(name) : undefined;
  if (ours === undefined) {
    const why = ASKING.has(name) ? NOT_ASKED : refusalOf(name, input, host.executor, OTHER_SERVER);
    return why === undefined
      ? { behavior: 'allow', updatedInput: input }
      : { behavior: 'deny', message: why };
  }
  // The hook comes first, and knows the type of the sub-agent too.
  if (!host.callers.has(id)) remember(host, id, agentID, undefined);
  const call = callOf(id, ours, input, host);
  const { conversation } = host;
  const asked = await host.executor.ask(call, { conversation, signal, askApprover: true, ...agentOf(call) });
  if (asked.denied === true) return { behavior: 'deny', message: denialOf(asked) };
  if (!asked.needed) return { behavior: 'allow', updatedInput: input };
  const { summary = ours } = asked.request ?? {};
  return { behavior: 'deny', message: `Not run yet: "${summary}" waits for the approval of a person.` };
};

function denialOf({ reason }: AskedTicket): string {
  return reason === undefined ? 'The person denied this call.' : `The person denied this call: ${reason}`;
}

const NOT_ASKED = 'The person cannot be asked this way here. Ask in your answer, and end your turn.';
const OTHER_SERVER =
  'This tool belongs to another server, whose calls toolexec does not run. Only the options of the query can allow it.';

async function beforeTool(
  host: ClaudeHost,
  input: unknown,
  toolUseId: string | undefined,
): ReturnType<ClaudeHook> {
  const {
    tool_name: name,
    tool_input: args,
    tool_use_id: id = toolUseId,
    agent_id: agentId,
    agent_type: agentType,
  } = input as {
    readonly tool_name: string;
    readonly tool_input: Record<string, unknown>;
    readonly tool_use_id?: string;
    readonly agent_id?: string;
    readonly agent_type?: string;
  };
  const ours = ownName(name);
  if (ours === undefined) {
    const why = refusalOf(name, args, host.executor, undefined);
    return why === undefined ? {} : decided('deny', why);
  }
  try {
    const { conversation, executor } = host;
    remember(host, id, agentId, agentType);
    const call = callOf(id, ours, args, host);
    const asked = await executor.ask(call, { conversation, ...agentOf(call) });
    const { needed, request } = asked;
    if (asked.denied === true) return decided('deny', denialOf(asked));
    if (!needed) return decided('allow', 'The policy of toolexec allows it, or answers why not.');
    return decided('ask', `${request?.summary ?? ours} (${request?.risk ?? 'high'})`);
  } catch (error) {
    return decided(
      'deny',
      `toolexec cannot plan this call: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function decided(decision: 'allow' | 'ask' | 'deny', reason: string): Awaited<ReturnType<ClaudeHook>> {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: decision,
      permissionDecisionReason: reason,
    },
  };
}

/**
 * Keeps the name of the sub-agent that makes a call: its type, which rules of the policy can name. A sub-agent that is
 * called like the main conversation has its id as its name.
 * @param agentId undefined: the main conversation makes the call
 */
function remember(
  { callers }: ClaudeHost,
  id: string | undefined,
  agentId: string | undefined,
  type: string | undefined,
): void {
  if (id === undefined || agentId === undefined) return;
  callers.set(id, type === undefined || type === '' || type === MAIN ? agentId : type);
}

/** The name of the main conversation in rules. */
const MAIN = 'main';

function callOf(id: string | undefined, name: string, args: unknown, { callers }: ClaudeHost): HostCall {
  return id === undefined ? { id: 'call_0', madeUp: true, name, args } : toHostCall(id, name, args, callers);
}

function ownName(toolName: string): string | undefined {
  return toolName.startsWith(PREFIX) ? toolName.slice(PREFIX.length) : undefined;
}

/**
 * The reason why a tool that is not the executor's must not run. Undefined: it touches only the agent itself.
 * @param other for a tool of another MCP server. Undefined: the rules of the SDK apply
 */
function refusalOf(
  name: string,
  input: Record<string, unknown>,
  executor: Executor,
  other: string | undefined,
): string | undefined {
  if (name.startsWith('mcp__')) return name.startsWith(PREFIX) ? NOT_OURS : other;
  const mapped = tryMap(name, input);
  if (mapped?.kind === 'own') return undefined;
  const instead = mapped === undefined ? undefined : counterpart(mapped);
  const isThere = executor.definitions().some((tool) => tool.name === instead);
  const hint = isThere ? `Use ${PREFIX}${instead} instead.` : 'This program offers no such tool.';
  return `${name} is a tool of Claude's own, and runs outside of toolexec. ${hint}`;
}

const NOT_OURS = 'This tool has a name of toolexec and comes from another server.';

function tryMap(name: string, input: Record<string, unknown>): MappedTool | undefined {
  try {
    return mapTool({ name, input: input as JsonObject });
  } catch {
    // Its input has an unknown shape.
    return undefined;
  }
}

/** The tool of ours that does the same. */
function counterpart(mapped: Exclude<MappedTool, { kind: 'own' }>): string | undefined {
  if (mapped.kind === 'command') return 'bash';
  if (mapped.kind === 'call') return mapped.name;
  const [effect] = mapped.effects;
  if (effect?.kind === 'fetch') return 'web_fetch';
  if (effect?.kind === 'write') return 'edit_file';
  return effect?.kind === 'call' && effect.tool === 'search' ? 'web_search' : undefined;
}
