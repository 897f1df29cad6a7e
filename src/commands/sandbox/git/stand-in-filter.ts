/** As git names it when it fails. */
export const FILTER_NAME = 'hidden-by-toolexec';

/**
 * For `sh`, as a clean filter of git: a stand-in is taken for what git has of the file already; where it has nothing,
 * it is refused. What is no stand-in, as in another working tree, goes through as it is.
 */
export const CLEAN_FILTER = `
file=$(mktemp) || exit 1
trap 'rm -f "$file"' EXIT
cat >"$file" || exit 1
if [ -n "$(tr -d '\\n\\000' <"$file" | head -c 1)" ]; then
  cat "$file"
else
  git cat-file blob ":$1" 2>/dev/null && exit
  echo "toolexec: $1 is hidden from commands by a deny pattern: leave it out (git add -- . ':!$1')" >&2
  exit 1
fi
`;

/** Lines for a file of attributes, which put the filter in the way of these paths. */
export function attributesOf(paths: readonly string[]): string {
  return paths.map((path) => `${patternOf(path)} filter=${FILTER_NAME}\n`).join('');
}

/** Lines for a file of exclusions, for what git shall not try to add. A name with a line feed cannot be said in one. */
export function excludesOf(
  paths: readonly { readonly path: string; readonly type: 'file' | 'dir' }[],
): string {
  return paths
    .filter(({ path }) => !path.includes('\n'))
    .map(
      ({ path, type }) =>
        `${literalOf(path).replace(/ +$/, (blanks) => '\\ '.repeat(blanks.length))}${type === 'dir' ? '/' : ''}\n`,
    )
    .join('');
}

/** From the top of the working tree, and no pattern. */
function literalOf(path: string): string {
  return `/${path}`.replace(/[*?[\\]/g, '\\$&');
}

/** In quotes as C has them. */
function patternOf(path: string): string {
  const quoted = literalOf(path).replace(/["\\]|[^\x20-\x7e]/gu, (char) =>
    char.length === 1 && /["\\]/.test(char) ? `\\${char}` : octal(char),
  );
  return `"${quoted}"`;
}

function octal(char: string): string {
  return [...Buffer.from(char)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
