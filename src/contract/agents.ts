import type { JsonObject } from './json.js';

/** A task for a sub-agent (C041). */
export interface AgentTask {
  /** The whole instruction: the sub-agent sees nothing else of the conversation. */
  readonly prompt: string;
  /** A few words, for people. */
  readonly description: string;
  /** The kind of sub-agent. Policy rules match it as `agent`. */
  readonly type: string;
  /** Names of the parent's tools that the sub-agent may use. Default: all of them. */
  readonly tools?: readonly string[];
  /**
   * Time limit for the work, without the time spent waiting for the person. Default 300000, at most 1800000.
   */
  readonly timeoutMs?: number;
}

/** The reply of a sub-agent. */
export interface AgentReply {
  readonly text: string;
  readonly metadata?: JsonObject;
  /** Present if the sub-agent could not do the work: the reason, for the model. */
  readonly error?: string;
}

/** How a tool runs sub-agents: it passes a task and receives the reply. */
export interface ToolAgents {
  /** Depth of the agent that called this tool: 0 for the main conversation. */
  readonly depth: number;
  /**
   * @throws ToolError `limit_exceeded` if sub-agents may not nest deeper, `timeout`, `bad_args` for an
   * unknown tool
   */
  run(task: AgentTask): Promise<AgentReply & { readonly agentId: string }>;
}
