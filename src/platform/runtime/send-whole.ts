/** The answer to a request, with its complete body. */
export interface WholeAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/**
 * Sends a prepared request and reads the whole answer. A redirect is returned as an answer, because another address
 * must not receive the signature of the request.
 *
 * @throws what `fetch` throws, if there is no answer or the request's signal aborts
 */
export async function sendWhole(request: Request): Promise<WholeAnswer> {
  const response = await fetch(request, { redirect: 'manual' });
  return { status: response.status, body: new Uint8Array(await response.arrayBuffer()) };
}

/** The cause of a failed request contains the reason. */
export function reasonOfFailure(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error(String(error));
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/** Whether the answer is a success. */
export function isSuccess({ status }: WholeAnswer): boolean {
  return status >= 200 && status < 300;
}
