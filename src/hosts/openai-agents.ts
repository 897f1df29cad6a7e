import { type FunctionTool, type RunContext, tool } from '@openai/agents';
import type { ToolResult } from '../contract/call.js';
import type { Executor } from '../contract/executor.js';
import type { ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import {
  askForHost,
  type Host,
  type HostAnswer,
  type HostCall,
  type HostOptions,
  inTurn,
  openHost,
  runForHost,
} from './host-approval.js';
import { type AgentsContent, resultContent } from './result-content.js';

/** @typeParam Context the agent's own context */
export type AgentTool<Context = unknown> = FunctionTool<Context, Parameters, AgentsContent>;

type Parameters = Extract<FunctionTool['parameters'], { additionalProperties: true }>;

/**
 * The executor's tools for OpenAI's Agents SDK. A call that needs approval interrupts the run, and runs only if the
 * person approved exactly this call; a call that ran is answered from the journal when the same state is resumed again.
 * @throws ToolError `config_invalid` without a conversation, or for two tools whose names the SDK does not distinguish
 */
export function agentTools<Context = unknown>(
  executor: Executor,
  options: HostOptions,
): AgentTool<Context>[] {
  const host = openHost('agentTools', executor, options, 'openai-agents');
  const definitions = executor.definitions();
  requireOtherNames(definitions.map(({ name }) => name));
  return definitions.map((each) => toTool<Context>(each, host));
}

function requireOtherNames(names: readonly string[]): void {
  const seen = new Map<string, string>();
  for (const name of names) {
    const other = seen.get(sdkName(name));
    if (other !== undefined) {
      const message = `Cannot make tools: the Agents SDK calls "${other}" and "${name}" both "${sdkName(name)}". Rename one.`;
      throw new ToolError('config_invalid', message);
    }
    seen.set(sdkName(name), name);
  }
}

/** The SDK allows letters, digits and underscores. */
const sdkName = (name: string): string => name.replace(/[^a-zA-Z0-9]/g, '_');

function toTool<Context>({ name, description, inputSchema }: ToolDefinition, host: Host): AgentTool<Context> {
  const toolName = sdkName(name);
  return tool<Parameters, Context, AgentsContent>({
    name: toolName,
    description,
    // Strict schemas would require every property; planning checks the arguments anyway.
    strict: false,
    parameters: inputSchema as unknown as Parameters,
    needsApproval: async (context, input, callId) => {
      if (callId === undefined) return true;
      const answer = answerIn(context, toolName, callId);
      const call = { id: callId, name, args: input };
      return (await inTurn(host, () => askForHost(host, call, answer))).needed;
    },
    execute: async (input, context, details) => {
      const id = details?.toolCall?.callId;
      const call: HostCall =
        id === undefined ? { id: 'call_0', madeUp: true, name, args: input } : { id, name, args: input };
      const answer = id === undefined ? undefined : answerIn(context, toolName, id);
      const result = await runForHost(host, call, answer, details?.signal);
      if (!result.success) throw new FailedCall(result);
      return resultContent(result, 'openai-agents');
    },
    errorFunction: (_, error) =>
      error instanceof FailedCall ? textOf(error.result) : `Error: ${String(error)}`,
  });
}

/** A failure with pictures: the SDK sends the return value of this function, although it declares it as a text. */
const textOf = (result: ToolResult): string => resultContent(result, 'openai-agents') as string;

/** The SDK marks the call as failed in its trace; the model reads the text of the result. */
class FailedCall extends Error {
  readonly result: ToolResult;

  constructor(result: ToolResult) {
    super(result.error?.message ?? result.output);
    this.name = 'FailedCall';
    this.result = result;
  }
}

function answerIn(
  context: Pick<RunContext<unknown>, 'isToolApproved'> | undefined,
  toolName: string,
  callId: string,
): HostAnswer {
  const isApproved = context?.isToolApproved({ toolName, callId });
  if (isApproved === undefined) return undefined;
  return isApproved ? 'approved' : 'denied';
}
