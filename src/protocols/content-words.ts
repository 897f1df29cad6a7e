import { fromBase64 } from '../base/base64.js';
import type { ContentBlock, ToolResult } from '../contract/call.js';

/** All blocks as one text: texts as they are, and a line for each block of another kind. */
export function contentWords(content: readonly ContentBlock[], why?: string): string {
  return content.map((block) => blockWords(block, why)).join('\n');
}

/**
 * A block for those that read only text. `[image image/png, 12,345 bytes: why]`
 * @param why the block is not there itself
 */
export function blockWords(block: ContentBlock, why?: string): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link': {
      const { name, uri, mediaType, description } = block;
      return line([`resource_link ${JSON.stringify(name)} ${uri}`, mediaType], description);
    }
    case 'resource': {
      const { uri, mediaType, text } = block;
      const what = mediaType === undefined ? `resource ${uri}` : `resource ${uri} ${mediaType}`;
      return text === undefined ? line([what, size(bytesOf(block))], why) : `${line([what])}\n${text}`;
    }
    default:
      return line([`${block.type} ${block.mediaType}`, size(bytesOf(block))], why);
  }
}

function line(facts: readonly (string | undefined)[], more?: string): string {
  const said = facts.filter((fact) => fact !== undefined).join(', ');
  return more === undefined ? `[${said}]` : `[${said}: ${more}]`;
}

function size({ length }: Uint8Array): string {
  return `${length.toLocaleString('en-US')} ${length === 1 ? 'byte' : 'bytes'}`;
}

const NO_BYTES = new Uint8Array(0);

/** The bytes of a block; results that were JSON meanwhile have them as base64. */
export function bytesOf(block: { readonly data?: unknown }): Uint8Array {
  const { data } = block;
  if (data instanceof Uint8Array) return data;
  return (typeof data === 'string' ? fromBase64(data) : undefined) ?? NO_BYTES;
}

/** All of a result for those that read only text. */
export function outputInWords(result: Pick<ToolResult, 'output' | 'content'>): string {
  const beside = textBeside(result);
  if (result.content === undefined || beside === '') return result.output;
  return `${beside}${beside.endsWith('\n') ? '' : '\n'}${contentWords(result.content)}`;
}

/** What the tool said besides its blocks: its output, unless that only says the blocks in words. */
export function textBeside({ output, content }: Pick<ToolResult, 'output' | 'content'>): string {
  return content !== undefined && output === contentWords(content) ? '' : output;
}
