import { type MessageContent, ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool, type ToolRunnableConfig } from '@langchain/core/tools';
import type { ToolResult } from '../contract/call.js';
import type { BatchRun, Executor } from '../contract/executor.js';
import type { JsonObject } from '../contract/json.js';
import type { ToolDefinition } from '../contract/tool.js';
import {
  askForHost,
  type Host,
  type HostAnswer,
  type HostCall,
  type HostOptions,
  inTurn,
  openHost,
  resultOf,
  startInTurn,
} from './host-approval.js';
import { resultContent } from './result-content.js';

/** The value of the interrupt for a call that needs approval. The resumed graph returns a `LangChainAnswer`. */
export interface LangChainQuestion {
  readonly type: 'tool_approval';
  readonly ticket: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly summary: string;
  readonly risk: string;
}

/** `new Command({ resume: answer })`. It names the question, so that it cannot answer another one. */
export interface LangChainAnswer {
  readonly ticket: string;
  readonly approved: boolean;
}

/** Events that the tool streams while it runs: `streamMode: 'tools'`, or `handleToolEvent` of a callback. */
export interface LangChainProgress {
  readonly output: string;
}

export type LangChainTool = DynamicStructuredTool<
  Record<string, unknown>,
  unknown,
  unknown,
  MessageContent | ToolMessage,
  LangChainProgress
>;

/**
 * The executor's tools for LangChain and LangGraph. In a graph with a checkpointer, a call that needs approval
 * interrupts the graph; elsewhere it does not run until its ticket is decided. A node that is run again gets the
 * recorded result. A failed call is a `ToolMessage` with the status `error`, or throws if the call had no id.
 * @throws ToolError `config_invalid` without a conversation
 */
export function langchainTools(executor: Executor, options: HostOptions): LangChainTool[] {
  const host = openHost('langchainTools', executor, options, 'langchain');
  return executor.definitions().map((each) => toTool(each, host));
}

function toTool({ name, description, inputSchema }: ToolDefinition, host: Host): LangChainTool {
  return new DynamicStructuredTool({
    name,
    description,
    schema: { ...inputSchema },
    // LangChain checks the arguments first: the model then reads which argument is wrong.
    verboseParsingErrors: true,
    func: async function* (args: unknown, _manager, config?: ToolRunnableConfig) {
      const id = config?.toolCall?.id;
      const call: HostCall =
        id === undefined ? { id: 'call_0', madeUp: true, name, args } : { id, name, args };
      const run = await inTurn(host, async () => {
        const answer = await answerInGraph(host, call, config);
        return startInTurn(host, call, answer, config?.signal);
      });
      yield* progressOf(run);
      return toOutput(await resultOf(run), id);
    },
  }) as LangChainTool;
}

/** Asks the question as an interrupt, and returns the answer from the resumed graph. */
async function answerInGraph(
  host: Host,
  call: HostCall,
  config: ToolRunnableConfig | undefined,
): Promise<HostAnswer> {
  if (call.madeUp === true || config?.configurable?.__pregel_checkpointer === undefined) return undefined;
  const { needed, request, ticket } = await askForHost(host, call, undefined);
  if (!needed || request === undefined) return undefined;
  // Bundlers accept an `import()` of a missing package only if its failure is handled: LangGraph is optional.
  const { interrupt } = await import('@langchain/langgraph').catch((error: unknown) => {
    throw error;
  });
  const { toolName, args, summary, risk } = request;
  const question: LangChainQuestion = { type: 'tool_approval', ticket, toolName, args, summary, risk };
  // LangGraph counts a node's interrupts and returns the answers in that order. Answers to other questions (of another
  // call of the node, or from before the files changed) are skipped.
  for (;;) {
    const answer = readAnswer(interrupt(question));
    if (answer?.ticket === ticket) return answer.approved ? 'approved' : 'denied';
  }
}

function readAnswer(given: unknown): LangChainAnswer | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { ticket, approved } = given as Partial<LangChainAnswer>;
  return typeof ticket === 'string' && typeof approved === 'boolean' ? { ticket, approved } : undefined;
}

async function* progressOf({ events }: BatchRun): AsyncGenerator<LangChainProgress, void> {
  for await (const event of events) {
    if (event.type === 'stdout' || event.type === 'stderr') yield { output: event.chunk };
  }
}

function toOutput(result: ToolResult, id: string | undefined): MessageContent | ToolMessage {
  const content = resultContent(result, 'langchain') as MessageContent;
  const { success, toolName: name, structured } = result;
  if (id !== undefined) {
    const artifact = structured === undefined ? {} : { artifact: structured };
    return new ToolMessage({
      content,
      name,
      tool_call_id: id,
      status: success ? 'success' : 'error',
      ...artifact,
    });
  }
  if (success) return content;
  throw new Error(typeof content === 'string' ? content : result.error.message);
}
