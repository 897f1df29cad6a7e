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

/** What stands in the place of a block that a provider does not take. */
const NOT_CARRIED = 'not shown, because this kind of content cannot be sent here';

/** The blocks of a result, in words, for a provider that takes none of them. */
export function uncarriedWords({ content }: Pick<ToolResult, 'content'>): string {
  return content === undefined ? '' : contentWords(content, NOT_CARRIED);
}

/**
 * What a provider is sent as a result's content: the output, `(no output)` for an empty success, a failure as
 * `Error: ` and its message with the kept output after a blank line. A tool's JSON error goes alone and untouched.
 * Blocks of content that are no text are said in words.
 */
export function toModelText(result: ToolResult): string {
  const output = [textBeside(result), uncarriedWords(result)].filter(isFilled).join('\n');
  if (result.success) return output === '' ? '(no output)' : output;
  const { message } = result.error;
  if (isJsonObject(message)) return message;
  return output === '' ? `Error: ${message}` : `Error: ${message}\n\n${output}`;
}

/**
 * The same for a provider that takes more than text: a list of texts and of what `carry` makes of a block, in order.
 * A text where that is all there is. `carry` gives undefined for what the provider does not take.
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
  // Providers refuse texts without a visible character.
  const first = error === undefined ? beside : toModelText({ ...alone, output: beside });
  return [first, ...parts].filter((part) => typeof part === 'object' || part.trim() !== '');
}

function isFilled(text: string): boolean {
  return text !== '';
}

function isJsonObject(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    // Only whether it is one matters: the tool's own text goes on as it is.
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
