/** The answer to a request, with its whole body. */
export interface WholeAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Sends a prepared request, and reads the whole answer. A redirect is an answer: another address must not get the
 * signature of the request.
 *
 * @throws what `fetch` throws, if there is no answer or the request's signal aborts
 */
export async function sendWhole(request: Request): Promise<WholeAnswer> {
  const response = await fetch(request, { redirect: 'manual' });
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
}

/** A failed request says in its cause why. */
export function reasonOfFailure(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/** Whether an answer says that the request succeeded. */
export function isSuccess({ status }: WholeAnswer): boolean {
  return status >= 200 && status < 300;
}
