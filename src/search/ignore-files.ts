/** What ripgrep takes rules from, in each directory; a later one beats an earlier one. */
export const IGNORE_FILES: readonly string[] = ['.gitignore', '.ignore', '.rgignore'];
