import { onFirstUse } from '../../base/on-first-use.js';
import { parseUrl } from '../../base/parse-url.js';
import type { ToolHttp } from '../../contract/http.js';
import { grantsEverything } from '../../effects/traits.js';
import { ToolError } from '../../errors/tool-error.js';
import { type HostPattern, parseHostPattern } from '../../patterns/host.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import type { Lease } from '../call/lease.js';

/** HTTP access, restricted to the URLs that a call has declared. It works only while the call lives. */
export class HttpGrant {
  readonly fetch: ToolHttp;
  readonly #ended = new AbortController();

  constructor(ready: ReadyCall, lease: Lease, signal: AbortSignal) {
    const load = onFirstUse(async () => (await import('../../http/fetch-within.js')).fetchWithin);
    this.fetch = async (url, init) => {
      lease.require('use the network');
      const scope = {
        declares: (asked: URL) => declares(ready, asked),
        undeclared: (shown: string, redirect: string | undefined) => undeclared(ready, shown, redirect),
        exceptions: exceptionsOf(ready),
        signal: AbortSignal.any([signal, this.#ended.signal]),
      };
      return load(scope, url, init);
    };
  }

  /**
   * Closes all requests that are still running and all bodies that were not read, because the call is
   * answered.
   */
  close(): void {
    this.#ended.abort(new ToolError('cancelled', 'The call is answered.'));
  }
}

function declares({ effects }: ReadyCall, asked: URL): boolean {
  return effects.some(({ effect }) => {
    if (grantsEverything(effect)) return true;
    return effect.kind === 'fetch' && isWithin(asked, effect.url);
  });
}

/**
 * Whether the URL has the same scheme, host and port, or is the `https` form of a declared `http` URL on the
 * same host.
 */
function isWithin(asked: URL, declared: string): boolean {
  const url = parseUrl(declared);
  if (url === undefined) return false;
  const { origin, protocol, port, hostname } = url;
  if (asked.origin === origin) return true;
  const isUpgrade = protocol === 'http:' && asked.protocol === 'https:' && port === '' && asked.port === '';
  return isUpgrade && asked.hostname === hostname;
}

function undeclared({ tool }: ReadyCall, shown: string, redirect: string | undefined): ToolError {
  const details = { reason: 'UndeclaredEffect', attempted: redirect ?? shown, access: 'fetch' };
  const message =
    redirect === undefined
      ? `Cannot fetch ${shown}: ${tool.name} did not declare it.`
      : `Cannot fetch ${shown}: it redirects to another site, which ${tool.name} did not declare.`;
  return new ToolError('sandbox_violation', message, {
    hint: "Declare { kind: 'fetch', url } in the effects of the tool.",
    details: redirect === undefined ? details : { ...details, reason: 'UndeclaredRedirect', redirect },
  });
}

function exceptionsOf({ tool }: ReadyCall): readonly HostPattern[] {
  return (tool.privateHosts ?? []).map((host) => parseHostPattern(host, false));
}
