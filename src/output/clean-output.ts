import { type RedactOptions, redact } from './redact.js';
import { sanitize } from './sanitize.js';
import { truncate } from './truncate.js';

/**
 * Hand in the same array of values for every call: what is looked for is prepared once for an array.
 */
export interface CleanOutputOptions extends RedactOptions {
  /** Bytes of UTF-8, the marker included. */
  readonly maxBytes: number;
}

/**
 * A tool's whole output as it may be shown, recorded and sent: neutralised, then redacted, then cut (D077, D079), in this
 * order, so that no half escape sequence and no half secret is left at the cut.
 */
export function cleanOutput(text: string, options: CleanOutputOptions): { text: string; truncated: boolean } {
  return truncate(redact(sanitize(text), options), options.maxBytes);
}
