export interface ModelErrorOptions {
  /** The HTTP status of the provider's answer, if it gave one. */
  readonly status?: number;
  /** The same request may succeed later. Default false. */
  readonly retriable?: boolean;
  readonly cause?: unknown;
}

/**
 * Thrown by a model's stream: the provider refused the request, the connection was cut, a time limit passed,
 * or the signal aborted. The message never contains a key.
 */
export class ModelError extends Error {
  /** Absent without an answer: no connection, a timeout, a cancellation. */
  declare readonly status?: number;
  readonly retriable: boolean;

  /** @param options null counts as none: building an error must not fail. */
  constructor(message: string, options?: ModelErrorOptions | null) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.retriable = options?.retriable ?? false;
    if (options?.status !== undefined) this.status = options.status;
  }
}
