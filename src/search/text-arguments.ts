import type { TextSearch } from '../contract/search.js';

/** Bytes of a line that are shown. */
const MAX_COLUMNS = 2000;

/** What is looked for: in ripgrep's own engine, whose time grows with the text alone. */
export function patternArguments({ pattern, ignoreCase, multiline }: TextSearch): readonly string[] {
  return [
    '--engine=default',
    // A pattern may be small and what it is compiled to very large.
    '--regex-size-limit=10M',
    ignoreCase ? '--ignore-case' : '--case-sensitive',
    ...(multiline ? ['--multiline', '--multiline-dotall'] : []),
    // Files may shrink while they are searched, which ends a program that has mapped them.
    '--no-mmap',
    `--regexp=${pattern}`,
  ];
}

/** What is told about each file. A NUL cannot be in what it tells, so one marks where lines were passed over. */
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
