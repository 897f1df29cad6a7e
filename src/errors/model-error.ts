export interface ModelErrorOptions {
  /** The status of the provider's answer, where it gave one. */
  readonly status?: number;
  /** The same request may succeed later. Default false. */
  readonly retriable?: boolean;
  readonly cause?: unknown;
}

/**
 * What a model throws while it streams: the provider refused the request, the connection was cut, a time limit passed,
 * or the signal aborted. Its message never holds a key.
 */
export class ModelError extends Error {
  /** Left out where no answer came: no connection, a timeout, a cancellation. */
  declare readonly status?: number;
  readonly retriable: boolean;

  constructor(message: string, options: ModelErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ModelError';
    this.retriable = options.retriable ?? false;
    if (options.status !== undefined) this.status = options.status;
  }
}
