/**
 * True when `text` is one valid JSON object, blanks around it allowed (D061): such an error message of a tool passes
 * byte for byte, unmarked and uncut (D062).
 */
export function isJsonObjectText(text: string): boolean {
  // A message is prose nearly always: look before parsing, and let nothing but JSON's own blanks stand in front.
  if (!/^[ \t\r\n]*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
