import { type ErrorCode, isErrorCode } from './catalogue.js';

/** Facts about a failure for programs. JSON values only. */
export type ErrorDetails = { readonly [key: string]: unknown };

export interface ToolErrorOptions {
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
  /** The remedy, for the developer or the person. It is never sent to a provider. */
  readonly hint?: string;
}

/** The wire form. `ToolError.fromJSON` turns it into a `ToolError` again. */
export interface ToolErrorJson {
  readonly name: 'ToolError';
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

const BRAND = Symbol.for('toolexec.ToolError');

/**
 * The error class of toolexec: a code from the catalogue, a message with a remedy, data, and a cause. If a
 * tool throws it, the call's result fails with this code (A019, D094).
 */
export class ToolError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  /** Present only if it was given. */
  declare readonly hint?: string;
  /** Identifies the class across copies of the package and across realms, where `instanceof` fails. */
  readonly [BRAND] = true;

  /** @param options null counts as none: building an error must not fail. */
  constructor(code: ErrorCode, message: string, options?: ToolErrorOptions | null) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ToolError';
    this.code = code;
    this.details = options?.details ?? {};
    if (options?.hint !== undefined) this.hint = options.hint;
  }

  toJSON(): ToolErrorJson {
    const cause = causeToJson(this.cause);
    return {
      name: 'ToolError',
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      ...(Object.keys(this.details).length > 0 ? { details: this.details } : {}),
      ...(cause === undefined ? {} : { cause }),
    };
  }

  /** @throws ToolError `bad_args` if `value` does not come from `toJSON`. */
  static fromJSON(value: unknown): ToolError {
    return errorFromJson(value);
  }
}

// Outside the class: the bundler renames a class that names itself in a static member, and stack traces show
// that name.
function errorFromJson(value: unknown): ToolError {
  if (!isToolErrorJson(value))
    throw new ToolError('bad_args', 'Cannot read a ToolError: { code, message } expected.');
  return new ToolError(value.code, value.message, {
    ...(value.hint === undefined ? {} : { hint: value.hint }),
    ...(value.details === undefined ? {} : { details: value.details }),
    ...(value.cause === undefined ? {} : { cause: causeFromJson(value.cause) }),
  });
}

/**
 * True for a ToolError from any copy of this package; with `code`, also if an error in its chain of causes
 * has that code (A019).
 */
export function isToolError(error: unknown, code?: ErrorCode): error is ToolError {
  for (let at = error, depth = 0; at !== undefined && at !== null && depth < 32; depth++) {
    const branded = typeof at === 'object' && (at as { [BRAND]?: unknown })[BRAND] === true;
    if (branded && (code === undefined || (at as ToolError).code === code)) return true;
    // Without a code only the error itself counts: a wrapper is not a ToolError because its cause is one.
    if (code === undefined) return false;
    at = typeof at === 'object' ? (at as { cause?: unknown }).cause : undefined;
  }
  return false;
}

function isToolErrorJson(value: unknown): value is ToolErrorJson {
  if (typeof value !== 'object' || value === null) return false;
  const { code, message, hint, details } = value as Partial<ToolErrorJson>;
  return (
    isErrorCode(code) &&
    typeof message === 'string' &&
    (hint === undefined || typeof hint === 'string') &&
    (details === undefined || (typeof details === 'object' && details !== null))
  );
}

function causeToJson(cause: unknown): unknown {
  if (cause === undefined) return undefined;
  if (isToolError(cause)) return cause.toJSON();
  if (cause instanceof Error) return { name: cause.name, message: cause.message };
  return typeof cause === 'string' ? cause : undefined;
}

function causeFromJson(cause: unknown): unknown {
  if (isToolErrorJson(cause)) return errorFromJson(cause);
  if (typeof cause !== 'object' || cause === null) return cause;
  const { name, message } = cause as { name?: unknown; message?: unknown };
  if (typeof message !== 'string') return cause;
  return Object.assign(new Error(message), typeof name === 'string' ? { name } : {});
}
