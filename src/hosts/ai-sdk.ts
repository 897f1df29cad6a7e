import { dynamicTool, jsonSchema, type ModelMessage, type Tool } from 'ai';
import type { ToolResult } from '../contract/call.js';
import type { Executor } from '../contract/executor.js';
import type { JsonValue } from '../contract/json.js';
import type { ToolDefinition } from '../contract/tool.js';
import {
  askForHost,
  type Host,
  type HostAnswer,
  type HostCall,
  type HostOptions,
  openHost,
  resultOf,
  startForHost,
} from './host-approval.js';
import { type AiSdkContent, resultContent } from './result-content.js';

/** The SDK's and the page's view of a call; `running` is a preliminary result. */
export type AiToolOutput =
  | { state: 'running'; output: string }
  | {
      state: 'done';
      success: boolean;
      output: string;
      error?: { code: string; message: string };
      structured?: JsonValue;
      /** For the model. */
      content: AiSdkContent;
    };

export interface AiTools {
  /** For `generateText`, `streamText` and agents. */
  tools: Record<string, Tool<unknown, AiToolOutput>>;
  /**
   * Gives the reason why a call needs a person. If it is left out, calls that need approval are still asked
   * about, without the reason. Replacing the entry of such a tool never lets the tool run.
   */
  toolApproval: Record<string, AiToolApproval>;
}

export type AiToolApproval = (
  input: unknown,
  options: { toolCallId: string; messages: ModelMessage[] },
) => Promise<{ type: 'user-approval' | 'denied'; reason: string } | { type: 'not-applicable' }>;

/** Long output arrives in many small pieces; a page needs updates no more often than this. */
const PAUSE_MS = 100;
const MOST_RUNNING_CHARACTERS = 16_384;

/**
 * The executor's tools for the Vercel AI SDK. A call runs only if the policy allows it, or if the person was asked
 * about exactly this call and approved it. If a call that has run is delivered again, it is answered from the journal.
 * @throws ToolError `config_invalid` without a conversation
 */
export function aiTools(executor: Executor, options: HostOptions): AiTools {
  const host = openHost('aiTools', executor, options, 'ai-sdk');
  const definitions = executor.definitions();
  return {
    tools: Object.fromEntries(definitions.map((each) => [each.name, toTool(each, host)])),
    toolApproval: Object.fromEntries(definitions.map(({ name }) => [name, approvalOf(name, host)])),
  };
}

function toTool(
  { name, description, inputSchema, title }: ToolDefinition,
  host: Host,
): AiTools['tools'][string] {
  const status = approvalOf(name, host);
  const tool = dynamicTool({
    description,
    ...(title === undefined ? {} : { title }),
    inputSchema: jsonSchema(inputSchema),
    // For programs that leave out `toolApproval`.
    needsApproval: async (input, given) => (await status(input, given)).type === 'user-approval',
    execute: (input, { toolCallId, messages, abortSignal }) => {
      const call = { id: toolCallId, name, args: input };
      return execute(call, answerIn(messages, toolCallId), abortSignal, host);
    },
    toModelOutput: ({ output }) => toModelOutput(output),
  });
  return tool as AiTools['tools'][string];
}

/** A page sends outputs back, so this value may come from outside. */
function toModelOutput(output: unknown): AiSdkContent {
  const given = typeof output === 'object' && output !== null ? (output as Partial<AiToolOutput>) : {};
  if (given.state === 'done' && given.content !== undefined) return given.content;
  return { type: 'text', value: given.output ?? '' };
}

function approvalOf(name: string, host: Host): AiToolApproval {
  return async (input, { toolCallId, messages }) => {
    const call = { id: toolCallId, name, args: input };
    const answer = answerIn(messages, toolCallId);
    const asked = await askForHost(host, call, answer);
    if (asked.invalid !== undefined) return { type: 'denied', reason: asked.invalid };
    if (!asked.needed) return { type: 'not-applicable' };
    const { summary = name, risk = 'high' } = asked.request ?? {};
    return { type: 'user-approval', reason: `${summary} (${risk})` };
  };
}

/** The person's answer about a call, from the messages. If there are several answers, a refusal counts. */
function answerIn(messages: readonly ModelMessage[], callId: string): HostAnswer {
  const approvals = new Set<string>();
  let answer: HostAnswer;
  for (const { content } of messages) {
    if (typeof content === 'string') continue;
    for (const part of content) {
      if (part.type === 'tool-approval-request' && part.toolCallId === callId) approvals.add(part.approvalId);
      if (part.type !== 'tool-approval-response' || !approvals.has(part.approvalId)) continue;
      answer = part.approved && answer !== 'denied' ? 'approved' : 'denied';
    }
  }
  return answer;
}

async function* execute(
  call: HostCall,
  answer: HostAnswer,
  signal: AbortSignal | undefined,
  host: Host,
): AsyncGenerator<AiToolOutput> {
  const run = await startForHost(host, call, answer, signal);
  let output = '';
  let shownAt = 0;
  for await (const event of run.events) {
    if (event.type !== 'stdout' && event.type !== 'stderr') continue;
    output = `${output}${event.chunk}`.slice(-MOST_RUNNING_CHARACTERS);
    if (event.at - shownAt < PAUSE_MS) continue;
    shownAt = event.at;
    yield { state: 'running', output };
  }
  yield toOutput(await resultOf(run));
}

function toOutput(result: ToolResult): AiToolOutput {
  const { success, output, error, structured } = result;
  return {
    state: 'done',
    success,
    output,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
    ...(structured === undefined ? {} : { structured }),
    content: resultContent(result, 'ai-sdk'),
  };
}
