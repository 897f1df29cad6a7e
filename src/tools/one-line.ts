/** Joins a text into one line, so that a line break in it cannot look like another list entry. */
export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- line breaks, and all other controls
  return text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]+/g, ' ').trim();
}
