import type { CallToolResult, ContentBlock as McpBlock } from '@modelcontextprotocol/server';
import { toBase64 } from '../base/base64.js';
import type { ContentBlock, ToolResult } from '../contract/call.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import { bytesOf, textBeside, toModelText } from '../providers/content-words.js';

/** For the parts of a result for which the protocol has no field. */
const RESULT_META = 'toolexec/result';

/** A result in MCP's form: blocks as blocks, structured content, and a link to the whole of a truncated output. */
export function toCallToolResult(result: ToolResult): CallToolResult {
  const { content = [], structured, success, outputRef } = result;
  const text = textOf(result);
  const blocks = content.map(toMcpBlock);
  const link = outputRef === undefined ? [] : [linkTo(outputRef, result)];
  const said = text === '' && blocks.length > 0 ? [] : [{ type: 'text' as const, text }];
  return {
    content: [...said, ...blocks, ...link],
    ...(success && structured !== undefined ? { structuredContent: toUnknown(structured) } : {}),
    ...(success ? {} : { isError: true }),
    _meta: { [RESULT_META]: metaOf(result) },
  };
}

/** The text next to the content blocks. */
function textOf(result: ToolResult): string {
  const { content: _, ...alone } = result;
  const beside = textBeside(result);
  if (result.success && result.content !== undefined) return beside;
  return toModelText({ ...alone, output: beside });
}

function metaOf({ callId, error, truncated, executionTimeMs, metadata, outputRef }: ToolResult): JsonObject {
  return {
    callId,
    ...(error === undefined ? {} : { code: error.code, executed: error.details?.executed ?? 'maybe' }),
    ...(truncated ? { truncated } : {}),
    ...(outputRef === undefined ? {} : { outputRef }),
    executionTimeMs,
    metadata: Object.fromEntries(Object.entries(metadata).filter(isShort)),
  };
}

/** Metadata may repeat the output, so such entries are left out. */
const MOST_CHARACTERS = 1_000;

function isShort([, value]: readonly [string, JsonValue]): boolean {
  return JSON.stringify(value).length <= MOST_CHARACTERS;
}

function linkTo(uri: string, { toolName, truncated }: ToolResult): McpBlock {
  const description = truncated
    ? 'The whole output, of which this result holds a part. Read it as a resource.'
    : 'The output as it was kept. Read it as a resource.';
  return { type: 'resource_link', uri, name: `output of ${toolName}`, mimeType: 'text/plain', description };
}

export function toMcpBlock(block: ContentBlock): McpBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'resource_link': {
      const { uri, name, mediaType, description } = block;
      return {
        type: 'resource_link',
        uri,
        name,
        ...mimeOf(mediaType),
        ...(description === undefined ? {} : { description }),
      };
    }
    case 'resource': {
      const { uri, mediaType, text } = block;
      const content = text === undefined ? { blob: toBase64(bytesOf(block)) } : { text };
      return { type: 'resource', resource: { uri, ...mimeOf(mediaType), ...content } };
    }
    default:
      return { type: block.type, data: toBase64(bytesOf(block)), mimeType: block.mediaType };
  }
}

function mimeOf(mediaType: string | undefined): { readonly mimeType?: string } {
  return mediaType === undefined ? {} : { mimeType: mediaType };
}

/** Since 2026-07-28, structured content is any JSON value; the SDK wraps it for older clients. */
function toUnknown(value: unknown): { [key: string]: unknown } {
  return value as { [key: string]: unknown };
}
