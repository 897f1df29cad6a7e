import type { Approver } from './approval.js';
import type { Executor } from './executor.js';
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

/** What a tool sees of sub-agents: it hands over a task and gets the reply. */
export interface ToolAgents {
  /** Of the agent whose tool this is: 0 for the conversation itself. */
  readonly depth: number;
  /** @throws ToolError `limit_exceeded` below the deepest agent, `timeout`, `bad_args` for an unknown tool */
  run(task: AgentTask): Promise<AgentReply & { readonly agentId: string }>;
}

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
