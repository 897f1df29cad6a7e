import { ToolError } from '../errors/tool-error.js';

/** The common arguments of `glob` and `grep`. */
export interface SearchScopeArgs {
  readonly path?: string | null;
  readonly include_hidden?: boolean;
  readonly include_ignored?: boolean;
}

const DEFAULT_RESULTS = 1000;
const MAX_RESULTS = 50_000;

/** The schema of a search: its own arguments after the pattern and before the common ones. */
export function searchInput<Own extends Readonly<Record<string, object>>>(input: {
  readonly pattern: object;
  readonly path: string;
  readonly own: Own;
}) {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['pattern'],
    properties: {
      pattern: { type: 'string', minLength: 1, ...input.pattern },
      path: { type: ['string', 'null'], description: `${input.path} Default: the working directory.` },
      ...input.own,
      include_hidden: {
        type: 'boolean',
        description: 'Also search names that begin with a dot (.git stays out). Default: false.',
      },
      include_ignored: {
        type: 'boolean',
        description: 'Also search what .gitignore files leave out. Default: false.',
      },
    },
  } as const;
}

/** The argument for the number of results. */
export function resultLimit(results: string) {
  return {
    type: 'integer',
    minimum: 1,
    maximum: MAX_RESULTS,
    description: `How many ${results} to give at most. Default: ${DEFAULT_RESULTS}.`,
  } as const;
}

export function resultsWanted(limit: number | undefined): number {
  return limit ?? DEFAULT_RESULTS;
}

/** The searched path, as requested. */
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

/** @throws ToolError `bad_args`, because a program's arguments cannot contain a NUL. */
export function requireNoNul(name: string, value: string | undefined): void {
  if (value?.includes('\0') !== true) return;
  throw new ToolError(
    'bad_args',
    `${name} must not hold a NUL character. Write \\x00 in a regular expression.`,
  );
}

interface SearchEnd {
  readonly unreadable: boolean;
  readonly stopped: boolean;
}

/** The metadata of incomplete results. */
export function incompleteMark({ stopped, unreadable }: SearchEnd): { readonly incomplete?: true } {
  return stopped || unreadable ? { incomplete: true } : {};
}

/** The notices below incomplete results. */
export function incompleteness(found: SearchEnd): string[] {
  return [
    ...(found.stopped ? ['[stopped before the end: there may be more]'] : []),
    ...(found.unreadable ? ['[some files or directories could not be read]'] : []),
  ];
}
