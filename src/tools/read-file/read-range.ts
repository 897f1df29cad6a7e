import { ToolError } from '../../errors/tool-error.js';

/** The requested part of the file. */
export type ReadRange =
  | { readonly kind: 'whole' }
  /** Counted from 1, both ends inclusive; `last` may be Infinity. */
  | { readonly kind: 'lines'; readonly first: number; readonly last: number }
  /** `length` may be Infinity. */
  | { readonly kind: 'bytes'; readonly offset: number; readonly length: number };

interface RangeArgs {
  readonly start_line?: number;
  readonly end_line?: number;
  readonly offset?: number;
  readonly limit?: number;
}

/**
 * @throws ToolError `bad_args` for lines and bytes together (F005), and for a range that ends before it
 * starts.
 */
export function parseReadRange(args: RangeArgs): ReadRange {
  const byLines = args.start_line !== undefined || args.end_line !== undefined;
  const byBytes = args.offset !== undefined || args.limit !== undefined;
  if (byLines && byBytes) {
    throw new ToolError(
      'bad_args',
      'Cannot read lines and bytes at once: give start_line and end_line, or offset and limit.',
    );
  }
  if (byBytes)
    return { kind: 'bytes', offset: args.offset ?? 0, length: args.limit ?? Number.POSITIVE_INFINITY };
  if (!byLines) return { kind: 'whole' };
  const first = args.start_line ?? 1;
  const last = args.end_line ?? Number.POSITIVE_INFINITY;
  if (first > last) {
    throw new ToolError(
      'bad_args',
      `start_line ${first} is after end_line ${last}. Give them in ascending order.`,
    );
  }
  return { kind: 'lines', first, last };
}

/** In the words of the approval summary (D044); empty for the whole file. */
export function describeRange(range: ReadRange): string {
  switch (range.kind) {
    case 'whole':
      return '';
    case 'lines':
      return ` lines ${range.first}-${Number.isFinite(range.last) ? range.last : ''}`;
    case 'bytes':
      return ` bytes ${range.offset}-${Number.isFinite(range.length) ? range.offset + range.length - 1 : ''}`;
  }
}
