import type { CleanOutputOptions } from './clean-output.js';
import { redactValues } from './create-redactor.js';
import { exactValuesOf } from './redact.js';
import { sanitize } from './sanitize.js';
import { truncate } from './truncate.js';

const BYTE_ORDER_MARK = '\ufeff';

/**
 * The content of a file as it may be shown, recorded and sent. Only exact values are hidden: a rule that guesses would
 * spoil what is edited next (decision 24). `redacted` says that something was.
 */
export function cleanFileOutput(
  text: string,
  { maxBytes, values = [] }: CleanOutputOptions,
): { text: string; truncated: boolean; redacted: boolean } {
  // A byte order mark is part of what is edited next; anywhere else the same character only hides.
  const safe = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK + sanitize(text.slice(1)) : sanitize(text);
  const shown = values.length === 0 ? safe : redactValues(safe, exactValuesOf(values));
  return { ...truncate(shown, maxBytes), redacted: shown !== safe };
}
