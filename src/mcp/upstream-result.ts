import type { CallToolResult, ContentBlock as McpBlock } from '@modelcontextprotocol/client';
import { fromBase64 } from '../base/base64.js';
import type { ContentBlock } from '../contract/call.js';
import type { JsonObject, JsonValue } from '../contract/json.js';
import type { ToolOutput } from '../contract/tool.js';
import { isJsonObjectText } from '../output/clean-output.js';
import type { GivenValues } from './given-values.js';

/**
 * Converts the result of another server's tool: blocks stay blocks, structured content stays structured, and
 * a failure stays a failure.
 * @param given what the server was given, and must not repeat
 */
export function toToolOutput(result: CallToolResult, given: GivenValues): ToolOutput {
  const { content, structuredContent, isError, _meta } = result;
  const blocks = content.map((block) => toBlock(block, given.hide));
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  const hasMore = blocks.some(({ type }) => type !== 'text');
  const meta = ownMeta(_meta);
  const metadata = meta === undefined ? {} : { metadata: { mcp_meta: given.hideIn(meta) } };
  if (isError === true) {
    // A message that is a JSON object would pass without limit and rules.
    const said = isJsonObjectText(text) ? `The server said: ${text}` : text;
    const message = text.trim() === '' ? 'The tool did not say why.' : said;
    return { ...(hasMore ? { content: blocks } : {}), text: '', error: { message }, ...metadata };
  }
  return {
    ...(hasMore ? { content: blocks } : { text }),
    ...(structuredContent === undefined ? {} : { structured: given.hideIn(structuredContent as JsonValue) }),
    ...metadata,
  };
}

/**
 * An error's message for people and models. For an answer that is not as the protocol says, the SDK lists each problem as
 * JSON; here are the first one and its place.
 */
export function problemIn({ message }: Error): string {
  const [, what, listed = ''] = /^([^[]*): (\[[\s\S]*\])$/.exec(message) ?? [];
  try {
    const [first, ...more] = JSON.parse(listed) as { readonly path: unknown[]; readonly message: string }[];
    if (first === undefined) return message;
    const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
    return `${what}: ${first.path.join('.')}: ${first.message}${others}`;
  } catch {
    return message;
  }
}

/** The server's own entries for its clients; keys of the protocol belong to the connection. */
function ownMeta(meta: CallToolResult['_meta']): JsonObject | undefined {
  const own = Object.entries(meta ?? {}).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  return own.length === 0 ? undefined : (Object.fromEntries(own) as JsonObject);
}

function toBlock(block: McpBlock, hide: (text: string) => string): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: hide(block.text) };
    case 'image':
    case 'audio':
      return { type: block.type, mediaType: block.mimeType, data: bytesFrom(block.data) };
    case 'resource_link': {
      const { uri, name, mimeType, description } = block;
      return {
        type: 'resource_link',
        uri: hide(uri),
        name: hide(name),
        ...(mimeType === undefined ? {} : { mediaType: mimeType }),
        ...(description === undefined ? {} : { description: hide(description) }),
      };
    }
    default: {
      const { uri, mimeType, ...content } = block.resource;
      const kind = {
        type: 'resource' as const,
        uri: hide(uri),
        ...(mimeType === undefined ? {} : { mediaType: mimeType }),
      };
      return 'text' in content && typeof content.text === 'string'
        ? { ...kind, text: hide(content.text) }
        : { ...kind, data: bytesFrom('blob' in content ? content.blob : '') };
    }
  }
}

function bytesFrom(data: unknown): Uint8Array {
  return (typeof data === 'string' ? fromBase64(data) : undefined) ?? new Uint8Array(0);
}
