import {
  isFilledText,
  isFunction,
  isObject,
  isWhole,
  normalizeOptions,
  type OptionRules,
  option,
  requireArgument,
  requireMethod,
} from '../base/normalize-options.js';
import { quoted } from '../base/quote-word.js';
import type { AgentRunner, AgentWorld } from '../contract/agent-runner.js';
import type { AgentReply, AgentTask } from '../contract/agents.js';
import type { Model } from '../providers/model.js';
import type { LoopEvent, LoopResult, ToolLoop, ToolLoopOptions } from './loop-contract.js';

export interface ModelAgentsOptions {
  readonly model: Model;
  /** Instructions by kind of sub-agent. Default: to do the task and give the result. */
  readonly system?: (type: string) => string;
  /** Maximum batches of one sub-agent. Default 20. */
  readonly maxToolIterations?: number;
  /** Maximum tokens of one sub-agent, input and output of all its requests together. Default 1,000,000. */
  readonly maxTokens?: number;
}

const DEFAULT_ITERATIONS = 20;
const DEFAULT_TOKENS = 1_000_000;

const instructions = (): string =>
  'You do one task for another agent, which sees your last message and nothing else. Do the task with your tools, ' +
  'then answer with what was asked for: facts, paths, and what you have changed.';

/**
 * @param createLoop creates the loop of a sub-agent
 * @throws ToolError `config_invalid` for an invalid option
 */
export function loopAgents(
  createLoop: (options: ToolLoopOptions) => ToolLoop,
  options: ModelAgentsOptions,
): AgentRunner {
  const { model, system, maxToolIterations, maxTokens } = normalizeOptions(
    'modelAgents',
    options,
    MODEL_RULES,
  );
  requireMethod('modelAgents()', model, 'stream', 'a model');
  return async (task: AgentTask, { executor, id, signal, emit }: AgentWorld): Promise<AgentReply> => {
    const loop = createLoop({
      executor,
      model,
      system: system(task.type),
      conversation: id,
      maxToolIterationsPerUserTurn: maxToolIterations,
      maxTokensPerUserTurn: maxTokens,
    });
    for await (const event of loop.stream(task.prompt, { signal })) {
      if (event.type === 'end') return toReply(event.result);
      const shown = progressOf(event);
      if (shown !== undefined) await emit(shown);
    }
    throw new Error('a turn ends with an end');
  };
}

const MODEL_RULES: OptionRules<Required<ModelAgentsOptions>> = {
  model: option<Model>(undefined as never, isObject, 'a model'),
  system: option(instructions, isFunction, 'a function of the kind of sub-agent'),
  maxToolIterations: option(DEFAULT_ITERATIONS, isWhole(1), 'a whole number from 1'),
  maxTokens: option(DEFAULT_TOKENS, isWhole(1), 'a whole number of tokens from 1'),
};

function progressOf(event: LoopEvent): string | undefined {
  if (event.type === 'text') return event.text;
  if (event.type === 'planned') return `\n▸ ${event.toolName} ${event.plan.summary}\n`;
  if (event.type === 'completed' && !event.result.success) return `✗ ${event.result.error.message}\n`;
  return undefined;
}

const INCOMPLETE: Readonly<Record<Exclude<LoopResult['stopReason'], 'end'>, string>> = {
  max_iterations: 'The sub-agent reached its limit of tool calls before it was done.',
  max_tokens: 'The sub-agent used up its budget of tokens before it was done.',
  cancelled: 'The sub-agent was cancelled.',
  refused: 'The model of the sub-agent declined.',
  error: 'The model of the sub-agent failed.',
};

function toReply({ text, stopReason, iterations, usage, error }: LoopResult): AgentReply {
  const metadata = {
    iterations,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
  };
  if (stopReason === 'end') return { text, metadata };
  const why = error === undefined ? '' : ` ${error.message}`;
  return { text, metadata, error: `${INCOMPLETE[stopReason]}${why}` };
}

export interface CommandAgentsOptions {
  /** A bash command. The prompt is its last argument, and its output is the answer. */
  readonly command: string;
}

/**
 * Runs sub-agents as a command. It is a call of `bash` under the parent's policy, approver and command
 * sandbox, with the same limits.
 * @throws ToolError `config_invalid` without a command
 */
export function commandAgents(options: CommandAgentsOptions): AgentRunner {
  const { command } = normalizeOptions('commandAgents', options, COMMAND_RULES);
  requireArgument('commandAgents()', command, isFilledText, 'a command');
  return async ({ prompt }, { executor, id, signal, emit }) => {
    const args = { command: `${command} ${quoted(prompt)}`, timeout: LONGEST_COMMAND_MS };
    const run = executor.start([{ id: `${id}_command`, name: 'bash', args }], { conversation: id, signal });
    for await (const event of run.events) {
      if (event.type === 'stdout' || event.type === 'stderr') await emit(event.chunk);
    }
    const [result] = await run.results;
    if (result === undefined) throw new Error('a batch of one call has one result');
    const { output, error } = result;
    return error === undefined ? { text: output } : { text: output, error: error.message };
  };
}

const COMMAND_RULES: OptionRules<CommandAgentsOptions> = {
  command: option('', isFilledText, 'a bash command'),
};

const LONGEST_COMMAND_MS = 600_000;
