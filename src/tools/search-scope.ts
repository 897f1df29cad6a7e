import { ToolError } from '../errors/tool-error.js';

/** What `glob` and `grep` take alike. */
export interface SearchScopeArgs {
  readonly path?: string | null;
  readonly include_hidden?: boolean;
  readonly include_ignored?: boolean;
}

export const SEARCH_SCOPE_PROPERTIES = {
  include_hidden: {
    type: 'boolean',
    description: 'Also search names that begin with a dot (.git stays out). Default: false.',
  },
  include_ignored: {
    type: 'boolean',
    description: 'Also search what .gitignore files leave out. Default: false.',
  },
} as const;

/** Where is searched, as it was asked for. */
export function searchedPath({ path }: SearchScopeArgs): string {
  return path ?? '.';
}

export function searchScope(args: SearchScopeArgs) {
  return {
    path: searchedPath(args),
    includeHidden: args.include_hidden ?? false,
    includeIgnored: args.include_ignored ?? false,
  };
}

/** @throws ToolError `bad_args`: a program's arguments cannot hold it. */
export function requireNoNul(name: string, value: string | undefined): void {
  if (value?.includes('\0') !== true) return;
  throw new ToolError(
    'bad_args',
    `${name} must not hold a NUL character. Write \\x00 in a regular expression.`,
  );
}

/** What is said below results that are not all there is. */
export function incompleteness(found: { readonly unreadable: boolean; readonly stopped: boolean }): string[] {
  return [
    ...(found.stopped ? ['[stopped before the end: there may be more]'] : []),
    ...(found.unreadable ? ['[some files or directories could not be read]'] : []),
  ];
}
