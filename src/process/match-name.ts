/** Whether a name is one of some patterns, in which `*` stands for any characters, none too. */
export function createNameMatcher(
  patterns: readonly string[],
  ignoreCase: boolean,
): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const sources = patterns.map((pattern) => pattern.split(/\*+/).map(escapeForRegExp).join('[^]*'));
  const expression = new RegExp(`^(?:${sources.join('|')})$`, ignoreCase ? 'i' : '');
  return (name) => expression.test(name);
}

function escapeForRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
