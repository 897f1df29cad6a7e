import type { ContentBlock, ToolResult } from '../contract/call.js';
import { blockWords, contentWords, textBeside } from './content-words.js';

/** What stands in the place of a block that a provider does not take. */
const NOT_CARRIED = 'not shown, because this kind of content cannot be sent here';

/**
 * What a provider is sent as a result's content: the output, `(no output)` for an empty success, a failure as
 * `Error: ` and its message with the kept output after a blank line. A tool's JSON error goes alone and untouched.
 * Blocks of content that are no text are said in words.
 */
export function toModelText(result: ToolResult): string {
  const { content } = result;
  const output =
    content === undefined
      ? result.output
      : [textBeside(result), contentWords(content, NOT_CARRIED)].filter(isFilled).join('\n');
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
