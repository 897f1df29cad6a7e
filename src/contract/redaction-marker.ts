/** Stands where a secret stood. Writing it back into a file is `bad_args` (decision 24). */
export const REDACTION_MARKER = '[REDACTED]';
