import { isToolError, type ToolError } from '../../errors/tool-error.js';
import { journalUnavailable } from '../records/journal-errors.js';

/** The error codes that the schema's own functions raise. */
export const BATCH_IS_KNOWN = 'TX001';
export const CALL_IS_UNKNOWN = 'TX002';
export const BATCH_IS_UNKNOWN = 'TX003';

interface Explanation {
  readonly reason: string;
  readonly remedy: string;
}

const NOT_REACHED: Explanation = {
  reason: 'the server cannot be reached',
  remedy: 'Start it, or correct the address.',
};
const REFUSED: Explanation = {
  reason: 'the server refuses the login',
  remedy: 'Correct the user and the password in the address.',
};
const STOPPING: Explanation = {
  reason: 'the server is stopping or starting',
  remedy: 'Wait for it, then try again.',
};
const NO_ANSWER: Explanation = {
  reason: 'the server did not answer in time',
  remedy: 'Look for long transactions and for its load, or allow more time (busyTimeoutMs).',
};

const BY_CODE: Readonly<Record<string, Explanation>> = {
  ECONNREFUSED: NOT_REACHED,
  ECONNRESET: NOT_REACHED,
  EHOSTUNREACH: NOT_REACHED,
  ENETUNREACH: NOT_REACHED,
  ENOENT: NOT_REACHED,
  ENOTFOUND: NOT_REACHED,
  EAI_AGAIN: NOT_REACHED,
  ETIMEDOUT: NOT_REACHED,
  EPIPE: NOT_REACHED,
  '28P01': REFUSED,
  '28000': REFUSED,
  '3D000': { reason: 'there is no such database', remedy: 'Create it, or correct the address.' },
  '42501': {
    reason: 'the user may not do that',
    remedy: 'Grant it the schema, or CREATE on the database for the first start.',
  },
  '53100': { reason: 'the disk of the server is full', remedy: 'Free disk space on the server.' },
  '53300': {
    reason: 'the server has no connection left',
    remedy: 'Raise max_connections, lower `pool`, or put a pooler in front.',
  },
  '25006': { reason: 'the server can only be read', remedy: 'Use the address of the primary.' },
  '57P01': STOPPING,
  '57P02': STOPPING,
  '57P03': STOPPING,
};

/** Turns any error from using the journal into a `journal_unavailable` with a remedy. @param place without the password */
export function postgresFailure(place: string, error: unknown): ToolError {
  if (isToolError(error)) return error;
  const { reason, remedy } = explain(error);
  const cause = error instanceof Error ? error.message : String(error);
  return journalUnavailable(`Cannot use the journal in ${place}`, `${reason} (${cause})`, remedy, {
    details: { place },
    cause: error,
  });
}

function explain(error: unknown): Explanation {
  const known = BY_CODE[codeOf(error) ?? ''];
  if (known !== undefined) return known;
  if (isTimeout(error)) return NO_ANSWER;
  if (isBroken(error)) return { ...NOT_REACHED, reason: 'the connection broke' };
  if (codeOf(error)?.startsWith('22') === true) {
    return {
      reason: 'the given values cannot be recorded',
      remedy: 'Give JSON values and finite times.',
    };
  }
  return { reason: 'the server refuses it', remedy: 'The message of the server says more.' };
}

export function codeOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** Deadlocks and serialization failures: the server has undone the transaction, and another attempt may succeed. */
const AGAIN: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '55P03']);
/** The server has no room for a connection, or is stopping or starting. */
const LATER: ReadonlySet<string | undefined> = new Set(['53300', '57P01', '57P02', '57P03', '25006']);

/** Whether another attempt may succeed soon. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error);
  return AGAIN.has(code) || LATER.has(code) || (isBroken(error) && code !== 'ENOTFOUND');
}

/** Whether the connection can no longer be used. Whether its last statement was committed is then unknown. */
export function isBroken(error: unknown): boolean {
  if (isToolError(error) || error instanceof TypeError || error instanceof RangeError) return false;
  const code = codeOf(error);
  // An SQLSTATE has five characters; errors of sockets have longer codes, those of the driver have none.
  return (
    code === undefined ||
    code.length !== 5 ||
    code.startsWith('08') ||
    code.startsWith('57P') ||
    code === '25P03'
  );
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout/i.test(error.message);
}
