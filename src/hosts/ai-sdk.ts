import { dynamicTool, jsonSchema, type ModelMessage, type Tool } from 'ai';
import { isFilledText, normalizeOptions, type OptionRules, option } from '../base/normalize-options.js';
import type { ToolResult } from '../contract/call.js';
import type { Executor } from '../contract/executor.js';
import type { JsonValue } from '../contract/json.js';
import type { ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { askForHost, type HostAnswer, type HostCall } from './host-approval.js';
import { type AiSdkContent, resultContent } from './result-content.js';

export interface AiToolsOptions {
  /** What the calls belong to, in the journal: the id of the chat. The same call in it runs once. */
  readonly conversation: string;
}

/** What the SDK and a page see of a call; `running` is a preliminary result. */
export type AiToolOutput =
  | { state: 'running'; output: string }
  | {
      state: 'done';
      success: boolean;
      output: string;
      error?: { code: string; message: string };
      structured?: JsonValue;
      /** What the model gets. */
      content: AiSdkContent;
    };

export interface AiTools {
  /** For `generateText`, `streamText` and agents. */
  tools: Record<string, Tool<unknown, AiToolOutput>>;
  /**
   * Says why a call needs a person. Left out, calls that need approval are asked about all the same, without the
   * reason; an entry of its own for such a tool never lets it run.
   */
  toolApproval: Record<string, AiToolApproval>;
}

export type AiToolApproval = (
  input: unknown,
  options: { toolCallId: string; messages: ModelMessage[] },
) => Promise<{ type: 'user-approval' | 'denied'; reason: string } | { type: 'not-applicable' }>;

const RULES: OptionRules<{ conversation: string | undefined }> = {
  conversation: option(undefined, isFilledText, 'a text that is not empty'),
};

/** Long output arrives in many small pieces; a page needs no more than this. */
const PAUSE_MS = 100;
const MOST_RUNNING_CHARACTERS = 16_384;

/**
 * The executor's tools for the Vercel AI SDK. A call runs only if the policy lets it, or if the person approved exactly
 * this call after it was asked about; a call that ran is answered from the journal when it comes again.
 * @throws ToolError `config_invalid` without a conversation
 */
export function aiTools(executor: Executor, options: AiToolsOptions): AiTools {
  const { conversation } = normalizeOptions('aiTools', options, RULES);
  if (conversation === undefined)
    throw new ToolError(
      'config_invalid',
      'Cannot make tools for the AI SDK: options.conversation is missing.',
    );
  const definitions = executor.definitions();
  const host = { executor, conversation };
  return {
    tools: Object.fromEntries(definitions.map((each) => [each.name, toTool(each, host)])),
    toolApproval: Object.fromEntries(definitions.map(({ name }) => [name, approvalOf(name, host)])),
  };
}

interface Host {
  readonly executor: Executor;
  readonly conversation: string;
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
    // For where `toolApproval` is left out.
    needsApproval: async (input, given) => (await status(input, given)).type === 'user-approval',
    execute: (input, { toolCallId, messages, abortSignal }) => {
      const call = { id: toolCallId, name, args: input };
      return execute(call, answerIn(messages, toolCallId), abortSignal, host);
    },
    toModelOutput: ({ output }) => toModelOutput(output),
  });
  return tool as AiTools['tools'][string];
}

/** A page sends outputs back, so this one may come from outside. */
function toModelOutput(output: unknown): AiSdkContent {
  const given = typeof output === 'object' && output !== null ? (output as Partial<AiToolOutput>) : {};
  if (given.state === 'done' && given.content !== undefined) return given.content;
  return { type: 'text', value: given.output ?? '' };
}

function approvalOf(name: string, { executor, conversation }: Host): AiToolApproval {
  return async (input, { toolCallId, messages }) => {
    const call = { id: toolCallId, name, args: input };
    const answer = answerIn(messages, toolCallId);
    const asked = await askForHost(executor, call, conversation, answer, 'ai-sdk');
    if (asked.isInvented) return { type: 'denied', reason: 'this approval was never asked for' };
    if (!asked.needed) return { type: 'not-applicable' };
    const { summary = name, risk = 'high' } = asked.request ?? {};
    return { type: 'user-approval', reason: `${summary} (${risk})` };
  };
}

/** What the messages say the person answered about a call; of several answers a refusal counts. */
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
  { executor, conversation }: Host,
): AsyncGenerator<AiToolOutput> {
  const { ticket } = await askForHost(executor, call, conversation, answer, 'ai-sdk');
  const run = executor.start([call], { conversation, ticket, ...(signal === undefined ? {} : { signal }) });
  let output = '';
  let shownAt = 0;
  for await (const event of run.events) {
    if (event.type !== 'stdout' && event.type !== 'stderr') continue;
    output = `${output}${event.chunk}`.slice(-MOST_RUNNING_CHARACTERS);
    if (event.at - shownAt < PAUSE_MS) continue;
    shownAt = event.at;
    yield { state: 'running', output };
  }
  const [result] = await run.results;
  if (result !== undefined) yield toOutput(result);
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
