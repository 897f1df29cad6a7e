import type { Stdio } from '../platform/stdio.js';

/** What a command sees of the process it runs in. */
export interface CliContext {
  readonly stdio: Stdio;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exitNow: (code: number) => never;
}

/** What the person can mend: wrong usage, input or configuration. One line, exit code 2. */
export class UsageError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'UsageError';
  }
}
