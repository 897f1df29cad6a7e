import type { ExternalSpan } from '../contract/external.js';
import type { JsonObject } from '../contract/json.js';
import type { ErrorCode } from '../errors/catalogue.js';

/**
 * Begins a span for a call. Undefined: the call is not traced. Its errors are logged, and the call continues.
 */
export type BeginSpan = (call: {
  readonly tool: string;
  readonly callId: string;
}) => ExternalSpan | undefined;

export type Warn = (data: JsonObject, message: string) => void;

/** A checked span whose failures never affect the call. */
export interface Span {
  readonly context: Pick<ExternalSpan, 'traceparent' | 'tracestate'>;
  end(durationMs: number, code: ErrorCode | undefined): void;
}

/** Called when the call begins, while the program's active span is known. */
export function beginSpan(
  begin: BeginSpan | undefined,
  call: { readonly tool: string; readonly callId: string },
  warn: Warn,
): Span | undefined {
  if (begin === undefined) return undefined;
  const { tool } = call;
  const guarded = <T>(run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      warn({ tool, error: error instanceof Error ? error.message : String(error) }, 'trace threw');
      return undefined;
    }
  };
  return guarded(() => {
    const span = begin({ ...call });
    if (span === undefined || span === null) return undefined;
    const { traceparent, tracestate } = span;
    if (!isTraceParent(traceparent)) {
      warn({ tool }, 'trace gave an invalid traceparent: the tool gets no trace headers');
      return undefined;
    }
    const isState = typeof tracestate === 'string' && STATE.test(tracestate);
    return {
      context: { traceparent, ...(isState ? { tracestate } : {}) },
      end: (durationMs, code) =>
        guarded(() => span.end?.({ durationMs, ...(code === undefined ? {} : { code }) })),
    };
  });
}

function isTraceParent(value: unknown): value is string {
  return typeof value === 'string' && PARENT.test(value);
}

/** Version, trace, span and flags. All zeros, and the version `ff`, are invalid. */
const PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** Printable characters, up to the length that every system must pass on. */
const STATE = /^[\x20-\x7e]{1,512}$/;
