import { lookup } from 'node:dns/promises';

/** All addresses of a host, as the system resolves it. Stops waiting when `signal` aborts. */
export type LookUpHost = (host: string, signal: AbortSignal) => Promise<readonly string[]>;

/** @throws what Node throws for a name without an address (`ENOTFOUND`, `EAI_AGAIN`), or the signal's reason. */
export const lookUpHost: LookUpHost = (host, signal) =>
  new Promise((resolve, reject) => {
    // A look-up cannot be cancelled, but its caller need not wait for it.
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    lookup(host, { all: true, verbatim: true })
      .then((found) => resolve(found.map(({ address }) => address)), reject)
      .finally(() => signal.removeEventListener('abort', stop));
  });
