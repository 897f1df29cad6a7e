/**
 * A path as a line of output shows it: one whose name would break the line, or could be taken for something else, is
 * quoted as JSON quotes it.
 */
export function showPath(path: string): string {
  return /[\p{Cc}\u2028\u2029]|^["[]/u.test(path) ? JSON.stringify(path) : path;
}
