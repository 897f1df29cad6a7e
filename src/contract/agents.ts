import type { JsonObject } from './json.js';

/** A piece of work that is handed to a sub-agent (C041). */
export interface AgentTask {
  /** Everything that the sub-agent is told: it sees nothing of the conversation. */
  readonly prompt: string;
  /** A few words, for people. */
  readonly description: string;
  /** The kind of sub-agent; policy rules call it `agent`. */
  readonly type: string;
  /** Names of the tools that it may use, of those that its parent has. Left out: all of them. */
  readonly tools?: readonly string[];
  /** Time for the work; waiting for the person does not count. Default 300000, at most 1800000. */
  readonly timeoutMs?: number;
}

/** What a sub-agent gives back. */
export interface AgentReply {
  readonly text: string;
  readonly metadata?: JsonObject;
  /** It could not do the work: why, for the model. */
  readonly error?: string;
}

/** What a tool sees of sub-agents: it hands over a task and gets the reply. */
export interface ToolAgents {
  /** Of the agent whose tool this is: 0 for the conversation itself. */
  readonly depth: number;
  /** @throws ToolError `limit_exceeded` below the deepest agent, `timeout`, `bad_args` for an unknown tool */
  run(task: AgentTask): Promise<AgentReply & { readonly agentId: string }>;
}
