import { toBase64 } from '../base/base64.js';
import { requireArgument, showGiven } from '../base/normalize-options.js';
import type { ContentBlock, ToolResult } from '../contract/call.js';
import { ToolError } from '../errors/tool-error.js';
import { bytesOf, textBeside, toModelParts, toModelText } from '../providers/content-words.js';
import { isResult } from '../providers/unknown-value.js';

/** A tool's output as the AI SDK sends it to a model. */
export type AiSdkContent =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | {
      type: 'content';
      value: (
        | { type: 'text'; text: string }
        | { type: 'file'; data: { type: 'data'; data: string }; mediaType: string }
      )[];
    };

/** The return value of a function tool of OpenAI's Agents SDK. */
export type AgentsContent =
  | string
  | (
      | { type: 'text'; text: string }
      | { type: 'image'; image: { data: string; mediaType: string } }
      | { type: 'file'; file: { data: string; mediaType: string; filename: string } }
    )[];

/** The content of a LangChain `ToolMessage`. */
export type LangChainContent =
  | string
  | ({ type: 'text'; text: string } | { type: 'image' | 'audio' | 'file'; mimeType: string; data: string })[];

/** The content that a Mastra tool gives its model. */
export type MastraContent =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | {
      type: 'content';
      value: ({ type: 'text'; text: string } | { type: 'media'; data: string; mediaType: string })[];
    };

/** An MCP tool result. A type and no interface: the SDK's own type has an index signature. */
export type McpContent = {
  content: (
    | { type: 'text'; text: string }
    | { type: 'image' | 'audio'; data: string; mimeType: string }
    | { type: 'resource_link'; uri: string; name: string; mimeType?: string; description?: string }
    | {
        type: 'resource';
        resource: { uri: string; mimeType?: string } & ({ text: string } | { blob: string });
      }
  )[];
  structuredContent?: { [key: string]: unknown };
  isError?: boolean;
};

interface ContentOfHost {
  'ai-sdk': AiSdkContent;
  'openai-agents': AgentsContent;
  langchain: LangChainContent;
  mastra: MastraContent;
  mcp: McpContent;
}

/** The frameworks that `resultContent` writes for. */
export type HostName = keyof ContentOfHost;

const WRITERS: { [H in HostName]: (result: ToolResult) => ContentOfHost[H] } = {
  'ai-sdk': toAiSdk,
  'openai-agents': toAgents,
  langchain: toLangChain,
  mastra: toMastra,
  mcp: toMcp,
};

/**
 * A result as a framework sends it to its model, images included. A failure consists of its message and the kept
 * output, and is marked as a failure if the framework supports that. A block that the framework cannot send becomes a
 * line of text.
 * @throws ToolError `bad_args` for an unknown framework, and for a value that is not a result
 */
export function resultContent<H extends HostName>(result: ToolResult, host: H): ContentOfHost[H] {
  requireArgument('resultContent()', result, isResult, 'a result', 'bad_args');
  if (typeof host === 'string' && Object.hasOwn(WRITERS, host)) return WRITERS[host](result);
  const known = Object.keys(WRITERS).join(', ');
  throw new ToolError('bad_args', `Cannot write a result for ${showGiven(host)}. Known: ${known}.`);
}

function toAiSdk(result: ToolResult): AiSdkContent {
  const parts = toModelParts(result, (block) => {
    const bytes = bytesOfBlock(block);
    return (
      bytes && {
        type: 'file' as const,
        data: { type: 'data' as const, data: bytes.data },
        mediaType: bytes.mediaType,
      }
    );
  });
  if (typeof parts === 'string') return { type: result.success ? 'text' : 'error-text', value: parts };
  return { type: 'content', value: parts.map(asText) };
}

function toAgents(result: ToolResult): AgentsContent {
  const parts = toModelParts(result, (block) => {
    const bytes = bytesOfBlock(block);
    if (bytes === undefined || block.type === 'audio') return undefined;
    if (block.type === 'image') return { type: 'image' as const, image: bytes };
    return { type: 'file' as const, file: { ...bytes, filename: nameOfBlock(block) } };
  });
  return typeof parts === 'string' ? parts : parts.map(asText);
}

function toLangChain(result: ToolResult): LangChainContent {
  const parts = toModelParts(result, (block) => {
    const bytes = bytesOfBlock(block);
    if (bytes === undefined) return undefined;
    const type = block.type === 'image' || block.type === 'audio' ? block.type : ('file' as const);
    return { type, mimeType: bytes.mediaType, data: bytes.data };
  });
  return typeof parts === 'string' ? parts : parts.map(asText);
}

function toMastra(result: ToolResult): MastraContent {
  const parts = toModelParts(result, (block) => {
    const bytes = bytesOfBlock(block);
    return bytes && { type: 'media' as const, ...bytes };
  });
  if (typeof parts === 'string') return { type: result.success ? 'text' : 'error-text', value: parts };
  return { type: 'content', value: parts.map(asText) };
}

function asText<P extends object>(part: string | P): { type: 'text'; text: string } | P {
  return typeof part === 'string' ? { type: 'text', text: part } : part;
}

/** Undefined for a block without bytes, which is described in words. */
function bytesOfBlock(block: ContentBlock): { data: string; mediaType: string } | undefined {
  if (block.type === 'text' || block.type === 'resource_link') return undefined;
  if (block.type === 'resource' && block.text !== undefined) return undefined;
  const { mediaType = 'application/octet-stream' } = block;
  return { data: toBase64(bytesOf(block)), mediaType };
}

function nameOfBlock(block: ContentBlock): string {
  return ('uri' in block ? block.uri : '').split('/').at(-1) || 'file';
}

function toMcp(result: ToolResult): McpContent {
  const { content = [], structured, success, ...rest } = result;
  const beside = textBeside(result);
  const alone = { ...rest, success, output: beside } as ToolResult;
  const text = success && content.length > 0 ? beside : toModelText(alone);
  return {
    content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...content.map(toMcpBlock)],
    ...(success && isObject(structured) ? { structuredContent: { ...structured } } : {}),
    ...(success ? {} : { isError: true }),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toMcpBlock(block: ContentBlock): McpContent['content'][number] {
  if (block.type === 'text') return { type: 'text', text: block.text };
  const mime = block.mediaType === undefined ? {} : { mimeType: block.mediaType };
  if (block.type === 'resource_link') {
    const { uri, name, description } = block;
    return {
      type: 'resource_link',
      uri,
      name,
      ...mime,
      ...(description === undefined ? {} : { description }),
    };
  }
  if (block.type === 'resource') {
    const { uri, text } = block;
    const body = text === undefined ? { blob: toBase64(bytesOf(block)) } : { text };
    return { type: 'resource', resource: { uri, ...mime, ...body } };
  }
  return { type: block.type, data: toBase64(bytesOf(block)), mimeType: block.mediaType };
}
