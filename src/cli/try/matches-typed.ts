/**
 * Whether a pattern, as a person types it, means a path that was changed: `*` and `?` stand for characters of one name, `**` for
 * any directories.
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
