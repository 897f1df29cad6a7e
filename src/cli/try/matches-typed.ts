/**
 * Whether a pattern that a person typed matches a changed path: `*` and `?` match characters of one name,
 * `**` matches any directories.
 */
export function matchesTyped(pattern: string, path: string): boolean {
  const plain = path.replace(/\/$/, '');
  const typed = pattern.replace(/^\.\//, '').replace(/\/$/, '');
  const source = typed
    .split(/(\*\*\/|\*\*|\*|\?)/)
    .map((piece) => WILDCARDS[piece] ?? piece.replaceAll(/[\\^$.|+()[\]{}]/g, '\\$&'))
    .join('');
  return new RegExp(`^${source}$`, 'su').test(plain);
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]*/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};
