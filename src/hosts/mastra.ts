import type { ApprovalRequest } from '../contract/approval.js';
import type { ToolResult } from '../contract/call.js';
import type { BatchRun, Executor } from '../contract/executor.js';
import type { JsonObject, JsonSchema, JsonValue } from '../contract/json.js';
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
  startWithTicket,
} from './host-approval.js';
import { type MastraContent, resultContent } from './result-content.js';

/** The payload with which a call that needs approval suspends its run. */
export interface MastraQuestion {
  readonly type: 'tool_approval';
  readonly ticket: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly summary: string;
  readonly risk: string;
}

/** The program's view of a successful call. A failed call is an error of its tool. */
export interface MastraOutput {
  readonly output: string;
  readonly structured?: JsonValue;
  /** The model's view of it. */
  readonly content: MastraContent;
}

/** The parts of Mastra's context that a call needs. */
export interface MastraContext {
  readonly abortSignal?: AbortSignal | undefined;
  readonly writer?: { write(chunk: unknown): Promise<unknown> } | undefined;
  readonly agent?:
    | {
        readonly toolCallId: string;
        readonly resumeData?: unknown;
        suspend(payload: unknown): Promise<unknown>;
      }
    | undefined;
}

/** The options of Mastra's `createTool`. */
export interface MastraToolOptions {
  readonly id: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  execute(args: unknown, context: MastraContext): Promise<unknown>;
  toModelOutput(output: unknown): MastraContent;
}

/** @throws ToolError `config_invalid` without a conversation */
export function mastraToolOptions(executor: Executor, options: HostOptions): MastraToolOptions[] {
  const host = openHost('mastraTools', executor, options, 'mastra');
  return executor.definitions().map((each) => toOptions(each, host));
}

function toOptions({ name, description, inputSchema }: ToolDefinition, host: Host): MastraToolOptions {
  return {
    id: name,
    description,
    inputSchema: { ...inputSchema },
    execute: (args, context) => execute(name, args, context, host),
    toModelOutput: (output) =>
      (output as Partial<MastraOutput> | undefined)?.content ?? foreignContent(output),
  };
}

/** Mastra itself answers arguments that do not match the schema, with an object in place of our output. */
function foreignContent(output: unknown): MastraContent {
  const { error, message } = (output ?? {}) as { readonly error?: unknown; readonly message?: unknown };
  if (error !== true || typeof message !== 'string') return { type: 'text', value: '' };
  return { type: 'error-text', value: `Error: ${message}` };
}

/** A call that needs approval suspends its run. The resumed run calls this again, and passes the answer. */
async function execute(name: string, args: unknown, context: MastraContext, host: Host): Promise<unknown> {
  const { agent, abortSignal } = context;
  const call: HostCall =
    agent === undefined ? { id: 'call_0', madeUp: true, name, args } : { id: agent.toolCallId, name, args };
  const started = await inTurn(host, async (): Promise<MastraQuestion | BatchRun> => {
    const { needed, request, ticket } = await askForHost(host, call, answerIn(agent?.resumeData));
    return needed && request !== undefined && agent !== undefined
      ? toQuestion(request, ticket)
      : startWithTicket(host, call, ticket, abortSignal);
  });
  if ('ticket' in started) return agent?.suspend(started);
  await showOutput(started, context);
  return toOutput(await resultOf(started));
}

function toQuestion({ toolName, args, summary, risk }: ApprovalRequest, ticket: string): MastraQuestion {
  return { type: 'tool_approval', ticket, toolName, args, summary, risk };
}

/** `approveToolCall` and `declineToolCall` pass this, and `resumeStream` may pass it with data of the program. */
function answerIn(resumed: unknown): HostAnswer {
  if (typeof resumed !== 'object' || resumed === null || !('approved' in resumed)) return undefined;
  if (typeof resumed.approved !== 'boolean') return undefined;
  return resumed.approved ? 'approved' : 'denied';
}

async function showOutput({ events }: BatchRun, { writer }: MastraContext): Promise<void> {
  for await (const event of events) {
    if (writer === undefined || (event.type !== 'stdout' && event.type !== 'stderr')) continue;
    // A reader that disconnects does not stop the call.
    await writer.write({ type: 'toolexec-output', output: event.chunk }).catch(() => {});
  }
}

function toOutput(result: ToolResult): MastraOutput {
  const content = resultContent(result, 'mastra');
  const { success, output, structured } = result;
  if (!success) throw new Error(content.type === 'error-text' ? content.value : result.error.message);
  return { output, ...(structured === undefined ? {} : { structured }), content };
}
