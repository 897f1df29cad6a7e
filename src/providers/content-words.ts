import { fromBase64 } from '../base/base64.js';
import type { ContentBlock, ToolResult } from '../contract/call.js';

/** All blocks as one text: texts unchanged, and one line for each other block. */
export function contentWords(content: readonly ContentBlock[], why?: string): string {
  return content.map((block) => blockWords(block, why)).join('\n');
}

/**
 * A block for readers of text only. `[image image/png, 12,345 bytes: why]`
 * @param why the reason why the block itself is missing
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

/** The bytes of a block. A result that was stored as JSON has them in base64. */
export function bytesOf(block: { readonly data?: unknown }): Uint8Array {
  const { data } = block;
  if (data instanceof Uint8Array) return data;
  return (typeof data === 'string' ? fromBase64(data) : undefined) ?? NO_BYTES;
}

/** A whole result for readers of text only. */
export function outputInWords(result: Pick<ToolResult, 'output' | 'content'>): string {
  const beside = textBeside(result);
  if (result.content === undefined || beside === '') return result.output;
  return `${beside}${beside.endsWith('\n') ? '' : '\n'}${contentWords(result.content)}`;
}

/** The tool's own text besides its blocks: its output, unless that only describes the blocks. */
export function textBeside({ output, content }: Pick<ToolResult, 'output' | 'content'>): string {
  return content !== undefined && output === contentWords(content) ? '' : output;
}

/** Replaces a block that a provider does not support. */
const NOT_CARRIED = 'not shown, because this kind of content cannot be sent here';

/** The blocks of a result in words, for a provider that supports none. */
export function uncarriedWords({ content }: Pick<ToolResult, 'content'>): string {
  return content === undefined ? '' : contentWords(content, NOT_CARRIED);
}

/**
 * The content of a result for a provider: the output, `(no output)` for an empty success, or `Error: ` and
 * the message, then a blank line and the output. A tool's JSON error is sent alone and unchanged. Other
 * content blocks are described in words.
 */
export function toModelText(result: ToolResult): string {
  const output = [textBeside(result), uncarriedWords(result)].filter(isFilled).join('\n');
  if (result.success) return output === '' ? '(no output)' : output;
  const { message } = result.error;
  if (isJsonObject(message)) return message;
  return output === '' ? `Error: ${message}` : `Error: ${message}\n\n${output}`;
}

/**
 * The same for a provider that supports more than text: texts and the results of `carry`, in order, or one
 * text if that is all. `carry` returns undefined for an unsupported block.
 */
export function toModelParts<P extends object>(
  result: ToolResult,
  carry: (block: ContentBlock) => P | undefined,
): string | readonly (string | P)[] {
  const { content, error } = result;
  if (content === undefined || (error !== undefined && isJsonObject(error.message)))
    return toModelText(result);
  const parts = content.map((block) => carry(block) ?? blockWords(block, NOT_CARRIED));
  if (!parts.some((part) => typeof part === 'object')) return toModelText(result);
  const beside = textBeside(result);
  const { content: _, ...alone } = result;
  // Providers reject texts without a visible character.
  const first = error === undefined ? beside : toModelText({ ...alone, output: beside });
  return [first, ...parts].filter((part) => typeof part === 'object' || part.trim() !== '');
}

function isFilled(text: string): boolean {
  return text !== '';
}

function isJsonObject(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    // Only validity matters: the tool's own text is passed on unchanged.
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
