/** What the person can mend: wrong usage, input or configuration. One line, exit code 2. */
export class UsageError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'UsageError';
  }
}
