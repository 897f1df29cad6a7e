import type { ToolContext } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { oneLine } from './one-line.js';

export interface TaskArgs {
  readonly prompt: string;
  readonly description: string;
  readonly subagent_type?: string;
  readonly tools?: readonly string[];
  readonly timeout?: number;
}

/** The work has its own time limit, which pauses while the person is asked. */
const LONGEST_MS = 86_400_000;
const GENERAL = 'general-purpose';

const INPUT = {
  type: 'object',
  additionalProperties: false,
  required: ['prompt', 'description'],
  properties: {
    prompt: {
      type: 'string',
      pattern: '\\S',
      description: 'The whole task. The sub-agent sees nothing of this conversation.',
    },
    description: { type: 'string', pattern: '\\S', maxLength: 200, description: 'The task in a few words.' },
    subagent_type: {
      type: 'string',
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description: `The kind of sub-agent. Default: ${GENERAL}.`,
    },
    tools: {
      type: 'array',
      items: { type: 'string' },
      description: 'Names of the tools that it may use, of those that you have. Default: all of them.',
    },
    timeout: {
      type: 'integer',
      minimum: 1,
      maximum: 1_800_000,
      description: 'Milliseconds that it may work. Default: 300000.',
    },
  },
} as const;

/** `task` (C004–C006, C041): passes a task to a sub-agent and returns its answer. */
export function taskTool(now: () => number): ToolSpec<TaskArgs> {
  return {
    name: 'task',
    aliases: ['Task'],
    title: 'Hand Over a Task',
    description:
      'Hands a piece of work to a sub-agent with a separate conversation, and gives its final answer. ' +
      'It works with your tools, or some of them, and under the same rules. Several run side by side.',
    input: INPUT,
    explainArgs: faultIn,
    category: 'agent',
    timeoutMs: LONGEST_MS,
    requiresApproval: true,
    risk: 'medium',
    // The sub-agent's own calls have the effects; each is planned and approved separately.
    effects: () => [],
    summarize: ({ description, subagent_type = GENERAL }) =>
      `Start sub-agent ${subagent_type}: ${oneLine(description)}`,
    execute: (args, ctx) => task(args, ctx, now),
  };
}

function faultIn(args: JsonObject): string | undefined {
  const missing = ['prompt', 'description'].find((name) => {
    const value = args[name];
    return typeof value !== 'string' || value.trim() === '';
  });
  return missing && `missing or invalid '${missing}' parameter (must be non-empty string)`;
}

async function task(
  { prompt, description, subagent_type: type = GENERAL, tools, timeout }: TaskArgs,
  { agents, dryRun }: ToolContext,
  now: () => number,
): Promise<ToolOutput> {
  if (dryRun) return { text: `[Dry Run] Start sub-agent ${type}: ${oneLine(description)}` };
  if (agents === undefined) {
    const message = 'There are no sub-agents here. Do the work yourself.';
    const hint = 'Give options.agents, or run the calls in a loop.';
    return { text: '', error: { code: 'execution_failed', message, hint } };
  }
  const startedAt = now();
  const reply = await agents.run({
    prompt,
    description,
    type,
    ...(tools === undefined ? {} : { tools }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
  });
  const metadata = {
    ...reply.metadata,
    agent_id: reply.agentId,
    subagent_type: type,
    description,
    duration: (now() - startedAt) / 1000,
  };
  if (reply.error === undefined) return { text: reply.text, metadata };
  return { text: reply.text, metadata, error: { code: 'execution_failed', message: reply.error } };
}
