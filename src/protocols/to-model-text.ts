import type { ToolResult } from '../contract/result.js';

/**
 * What a provider is sent as a result's content: the output, `(no output)` for an empty success, a failure as
 * `Error: ` and its message with the kept output after a blank line. A tool's JSON error goes alone and untouched.
 */
export function toModelText(result: ToolResult): string {
  if (result.success) return result.output === '' ? '(no output)' : result.output;
  const { message } = result.error;
  if (isJsonObject(message)) return message;
  return result.output === '' ? `Error: ${message}` : `Error: ${message}\n\n${result.output}`;
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
