import { parseJson } from '../../base/parse-json.js';

/**
 * Whether text is a model's prose and not JSON. Broken JSON must not pass for prose: a fence quoted in one of its
 * strings would be run. `[Note] …`, though, is how prose begins.
 */
export function isProse(text: string): boolean {
  return !BEGINS_LIKE_JSON.test(text.trimStart()) && !isJson(text);
}

const BEGINS_LIKE_JSON = /^(?:\{|\[\s*(?:[[\]{"0-9-]|true\b|false\b|null\b|$))/;

/** What is left to ask: a lone string, number or literal is a value that somebody printed. */
function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}
