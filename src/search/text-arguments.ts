import type { TextSearch } from '../contract/search.js';

/** The maximum number of bytes shown of a line. */
const MAX_COLUMNS = 2000;

/** The pattern arguments: ripgrep's default matcher runs in linear time. */
export function patternArguments({ pattern, ignoreCase, multiline }: TextSearch): readonly string[] {
  return [
    '--engine=default',
    // A small pattern may compile to a very large program.
    '--regex-size-limit=10M',
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    ...(multiline ? ['--multiline', '--multiline-dotall'] : []),
    // Files may shrink during the search, which would kill a program that maps them.
    '--no-mmap',
    `--regexp=${pattern}`,
  ];
}

/** The output arguments. Output cannot contain a NUL, so a NUL marks skipped lines. */
export function resultArguments({ want, before, after }: TextSearch): readonly string[] {
  if (want === 'files') return ['--files-with-matches'];
  if (want === 'counts') return ['--with-filename', '--count'];
  return [
    '--with-filename',
    '--no-heading',
    '--line-number',
    `--before-context=${before}`,
    `--after-context=${after}`,
    '--context-separator=\\x00',
    `--max-columns=${MAX_COLUMNS}`,
    '--max-columns-preview',
  ];
}
