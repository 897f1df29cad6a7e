import type { AgentReply, AgentTask } from './agents.js';
import type { Approver } from './approval.js';
import type { Executor } from './executor.js';

/** What a sub-agent works with. It has no other way to act than `executor`. */
export interface AgentWorld {
  /** Of this sub-agent; also its conversation. */
  readonly id: string;
  /** 1 for a sub-agent of the conversation itself. */
  readonly depth: number;
  /** Runs calls under the policy, the approver and the sandbox of the parent, with the tools that the task names. */
  readonly executor: Executor;
  /** Aborts on cancellation and when its time is up. */
  readonly signal: AbortSignal;
  /** Shows progress while it works. Await it to go no faster than the reader. */
  emit(text: string): void | Promise<void>;
}

/** Does the work of a sub-agent: in this process, as a command, or elsewhere. A throw is a failure of the call. */
export type AgentRunner = (task: AgentTask, world: AgentWorld) => AgentReply | Promise<AgentReply>;

/** How an executor is narrowed. What is left out stays as it is. */
export interface NarrowOptions {
  /** Names of tools: no others are left. @throws ToolError `unknown_tool` */
  readonly tools?: readonly string[];
  /** Who makes the calls: rules of the policy can speak of it, and approval requests name it. */
  readonly agent?: string;
  readonly approver?: Approver | null;
  /** Does the work of sub-agents where the executor has no runner; with the built-in tools comes the tool `task`. */
  readonly agents?: AgentRunner;
}
