import type { AgentReply, AgentTask } from './agents.js';
import type { Approver } from './approval.js';
import type { Executor } from './executor.js';

/** The executor and identity of a running sub-agent. `executor` is its only way to act. */
export interface AgentWorld {
  /** The sub-agent's id, and also the id of its conversation. */
  readonly id: string;
  /** Nesting depth: 1 for a sub-agent that the main conversation started. */
  readonly depth: number;
  /** Runs calls under the parent's policy, approver and sandbox, limited to the tools that the task names. */
  readonly executor: Executor;
  /** Aborts on cancellation and on timeout. */
  readonly signal: AbortSignal;
  /** Shows progress while the sub-agent works. Await it to keep pace with the reader. */
  emit(text: string): void | Promise<void>;
}

/** Runs a sub-agent: in this process, as a command, or elsewhere. If it throws, the call fails. */
export type AgentRunner = (task: AgentTask, world: AgentWorld) => AgentReply | Promise<AgentReply>;

/** How to narrow an executor. An option that is left out changes nothing. */
export interface NarrowOptions {
  /** Names of the tools to keep. @throws ToolError `unknown_tool` */
  readonly tools?: readonly string[];
  /** The agent that makes the calls. Policy rules can match it, and approval requests show it. */
  readonly agent?: string;
  readonly approver?: Approver | null;
  /**
   * Runs sub-agents if the executor has no runner yet. With the built-in tools this also adds the tool
   * `task`.
   */
  readonly agents?: AgentRunner;
}
