import { unreadablePatch } from '../patch-error.js';

/**
 * The path of a file section: bare, or in quotes with `\"` and `\\` as its only escapes.
 * @throws ToolError `patch_failed`
 */
export function readPath(text: string, line: number): string {
  const path = text.startsWith('"') ? readQuoted(text, line) : readBare(text, line);
  if (path.trim() === '') throw unreadablePatch(line, 'Missing file path after F.');
  return path;
}

function readBare(text: string, line: number): string {
  if (/[\s"]/.test(text)) {
    throw unreadablePatch(
      line,
      `a path with spaces or quotes is written in quotes: F ${JSON.stringify(text)}.`,
    );
  }
  return text;
}

function readQuoted(text: string, line: number): string {
  let path = '';
  for (let at = 1; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      if (at < text.length - 1)
        throw unreadablePatch(line, 'there is text after the closing quote of the path.');
      return path;
    }
    if (char !== '\\') {
      path += char;
      continue;
    }
    const escaped = text[++at];
    if (escaped !== '"' && escaped !== '\\') {
      throw unreadablePatch(line, 'Invalid escape in quoted path: only \\" and \\\\ are known.');
    }
    path += escaped;
  }
  throw unreadablePatch(line, 'Unterminated quoted path.');
}
