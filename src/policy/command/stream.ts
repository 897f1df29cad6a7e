/** What is known of the bytes that go through a pipe, or of what a command prints. */
export type Stream =
  | { readonly kind: 'text'; readonly text: string; readonly literal: boolean }
  /** Came from the network. */
  | { readonly kind: 'fetched'; readonly from: string }
  /** Names of files below a path, one a line. */
  | { readonly kind: 'listing'; readonly root: string }
  /** The content of a file that holds secrets. */
  | { readonly kind: 'secret'; readonly path: string }
  /** What a shell answers whose input is not known. */
  | { readonly kind: 'shell' }
  /** Whatever the shell itself was given. */
  | { readonly kind: 'inherited' }
  | { readonly kind: 'unknown'; readonly numeric: boolean };

export const NOTHING: Stream = { kind: 'text', text: '', literal: true };
export const UNKNOWN: Stream = { kind: 'unknown', numeric: false };
export const NUMBER: Stream = { kind: 'unknown', numeric: true };
export const INHERITED: Stream = { kind: 'inherited' };

const MAX_KNOWN = 65_536;

export function textStream(text: string): Stream {
  return text.length > MAX_KNOWN ? UNKNOWN : { kind: 'text', text, literal: false };
}

/** One after the other. What is dangerous to run stays dangerous beside anything else. */
export function joinStreams(first: Stream, second: Stream): Stream {
  if (first.kind === 'text' && first.text === '') return second;
  if (second.kind === 'text' && second.text === '') return first;
  if (first.kind === 'text' && second.kind === 'text') return textStream(first.text + second.text);
  for (const kind of ['fetched', 'secret', 'shell', 'listing'] as const) {
    if (first.kind === kind) return first;
    if (second.kind === kind) return second;
  }
  return UNKNOWN;
}
