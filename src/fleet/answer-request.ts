import { onAbort } from '../base/on-abort.js';
import type { Clock } from '../contract/context.js';
import { isToolError, type ToolError } from '../errors/tool-error.js';
import { bearerOf, foreignRequest, isLoopback } from '../platform/runtime/admit-request.js';
import { answerEvents } from './answer-events.js';
import type { FleetToken, FleetTokens, TokenScope } from './fleet-tokens.js';
import type { JournalFeed } from './journal-feed.js';
import { readBatch, readCancel, readDecision } from './read-batch.js';
import type { TenantDesk } from './tenant-desk.js';

export interface ServedFleet {
  /** The address at which the server listens. */
  readonly host: string;
  /** The names under which a proxy serves it. */
  readonly names: readonly string[];
  readonly clock: Clock;
  readonly tokens: FleetTokens;
  readonly feed: JournalFeed;
  readonly maxBodyBytes: number;
  readonly deskOf: (tenant: string) => TenantDesk;
  readonly metrics: () => Promise<string>;
  /** Rejects if the journal does not answer. */
  readonly alive: () => Promise<unknown>;
  /** Aborts when the server closes. */
  readonly closing: AbortSignal;
  /** Reports an error that its answer does not name. */
  readonly failed: (error: unknown) => void;
}

/** How many long requests (waits and streams) one token may have open. */
const MOST_LONG = 64;
const LONGEST_WAIT_SECONDS = 300;
/** Pauses between two polls of a wait, in milliseconds. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 200;

/** An answer that is not a success. `code` is listed in docs/errors.md, or names a fault of the request itself. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The HTTP interface of a fleet. Every request gets one answer; no answer reveals internals of the program. */
export class FleetRequests {
  readonly #fleet: ServedFleet;
  /** The number of open long requests by token. */
  readonly #long = new Map<string, number>();

  constructor(fleet: ServedFleet) {
    this.#fleet = fleet;
  }

  async answer(request: Request): Promise<Response> {
    try {
      return await this.#route(request);
    } catch (error) {
      const { status, code, message, headers } = this.#toRefusal(error);
      return Response.json({ error: { code, message } }, { status, headers });
    }
  }

  async #route(request: Request): Promise<Response> {
    const { host, names, metrics, alive } = this.#fleet;
    const foreign = foreignRequest(request, host, names);
    if (foreign !== undefined) throw new Refusal(403, 'forbidden', foreign);
    const url = new URL(request.url);
    if (url.pathname === '/health' || url.pathname === '/metrics') {
      if (!isLoopback(host)) await this.#tokenOf(request);
      requireMethod(request, 'GET');
      if (url.pathname === '/health') {
        await alive();
        return Response.json({ ok: true });
      }
      return new Response(await metrics(), {
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      });
    }
    const token = await this.#tokenOf(request);
    const [version, kind, id, action, ...rest] = url.pathname.split('/').slice(1).map(decoded);
    if (version !== 'v1' || rest.length > 0) throw noPage();
    if (kind === 'events' && id === undefined) return this.#events(request, url, token);
    if (kind === 'waiting' && id === undefined) {
      this.#require(request, 'GET', token, 'approve', 'watch');
      return Response.json({ batches: await this.#fleet.deskOf(token.tenant).waiting() });
    }
    if (kind === 'blobs' && id !== undefined && action === undefined) return this.#blob(request, token, id);
    if (kind !== 'batches') throw noPage();
    if (id === undefined) return this.#submit(request, url, token);
    return this.#onBatch(request, url, token, id, action);
  }

  async #submit(request: Request, url: URL, token: FleetToken): Promise<Response> {
    this.#require(request, 'POST', token, 'submit');
    const seconds = waitOf(url);
    const batch = readBatch(await this.#body(request));
    const id = await this.#fleet.deskOf(token.tenant).submit(batch);
    return this.#shown(request, token, id, seconds, { location: `/v1/batches/${encodeURIComponent(id)}` });
  }

  async #onBatch(
    request: Request,
    url: URL,
    token: FleetToken,
    id: string,
    action: string | undefined,
  ): Promise<Response> {
    const desk = this.#fleet.deskOf(token.tenant);
    const seconds = waitOf(url);
    if (action === undefined) this.#require(request, 'GET', token, 'submit', 'approve', 'watch');
    else if (action === 'decision') {
      this.#require(request, 'POST', token, 'approve');
      const { by, ...decision } = readDecision(await this.#body(request));
      // The client chooses the name; the token is verified.
      await desk.decide(id, decision, by === undefined ? `token ${token.id}` : `${by} (token ${token.id})`);
    } else if (action === 'cancel') {
      this.#require(request, 'POST', token, 'submit');
      const { calls, reason } = readCancel(await this.#body(request));
      await desk.cancel(id, calls, reason);
    } else throw noPage();
    return this.#shown(request, token, id, seconds);
  }

  /** The batch, once it is done or the wait has timed out. */
  async #shown(
    request: Request,
    token: FleetToken,
    id: string,
    seconds: number,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const { clock } = this.#fleet;
    const desk = this.#fleet.deskOf(token.tenant);
    const until = clock.monotonic() + seconds * 1_000;
    const leave = seconds > 0 ? this.#enter(token) : () => {};
    try {
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
        const batch = await desk.show(id);
        const left = until - clock.monotonic();
        const isOver = left <= 0 || request.signal.aborted || this.#fleet.closing.aborted;
        if (batch.state === 'done' || isOver)
          return Response.json(batch, { status: batch.state === 'done' ? 200 : 202, headers });
        await this.#pause(Math.min(pauseMs, left), request.signal);
      }
    } finally {
      leave();
    }
  }

  #pause(ms: number, gone: AbortSignal): Promise<void> {
    const { clock, closing } = this.#fleet;
    return new Promise((resolve) => {
      const end = (): void => {
        forget();
        for (const unlisten of unlisteners) unlisten();
        resolve();
      };
      const forget = clock.after(ms, end);
      const unlisteners: (() => void)[] = [];
      for (const signal of [gone, closing]) unlisteners.push(onAbort(signal, end));
    });
  }

  async #blob(request: Request, token: FleetToken, ref: string): Promise<Response> {
    this.#require(request, 'GET', token, 'submit', 'approve', 'watch');
    const bytes = await this.#fleet.deskOf(token.tenant).blob(ref);
    // A tool produced the content, so no browser may show it as a page of this server.
    const headers = { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' };
    return new Response(Buffer.from(bytes), { headers: { ...headers, 'x-content-type-options': 'nosniff' } });
  }

  #events(request: Request, url: URL, token: FleetToken): Response {
    this.#require(request, 'GET', token, 'watch');
    const { feed, clock, closing } = this.#fleet;
    const left = this.#enter(token);
    const reader = feed.subscribe({
      tenant: token.tenant,
      conversation: url.searchParams.get('conversation') ?? undefined,
      after: request.headers.get('last-event-id') ?? undefined,
    });
    return answerEvents(reader, { clock, closing, gone: request.signal, left });
  }

  /** Counts a long request of a token. @returns the function that stops counting it; a second call does nothing */
  #enter({ id }: FleetToken): () => void {
    const open = this.#long.get(id) ?? 0;
    if (open >= MOST_LONG)
      throw new Refusal(429, 'limit_exceeded', `A token has at most ${MOST_LONG} waits and streams open.`, {
        'retry-after': '1',
      });
    this.#long.set(id, open + 1);
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      const left = (this.#long.get(id) ?? 1) - 1;
      if (left === 0) this.#long.delete(id);
      else this.#long.set(id, left);
    };
  }

  async #tokenOf(request: Request): Promise<FleetToken> {
    const token = await this.#fleet.tokens.find(bearerOf(request));
    if (token !== undefined) return token;
    throw new Refusal(401, 'unauthorized', 'Send a valid token: Authorization: Bearer TOKEN.', {
      'www-authenticate': 'Bearer realm="toolexec"',
    });
  }

  #require(request: Request, method: string, { scopes }: FleetToken, ...any: readonly TokenScope[]): void {
    requireMethod(request, method);
    if (any.some((scope) => scopes.includes(scope))) return;
    throw new Refusal(403, 'forbidden', `The token lacks the scope ${any.join(' or ')}.`);
  }

  /** The body as JSON; undefined if it is empty. */
  async #body(request: Request): Promise<unknown> {
    const { maxBodyBytes } = this.#fleet;
    const tooLarge = new Refusal(413, 'too_large', `A request has at most ${maxBodyBytes} bytes.`);
    if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge;
    const parts: Uint8Array[] = [];
    let size = 0;
    const reader = request.body?.getReader();
    for (;;) {
      const { done = true, value } = (await reader?.read().catch(() => undefined)) ?? {};
      if (done || value === undefined) break;
      size += value.length;
      if (size > maxBodyBytes) {
        reader?.cancel().catch(() => {});
        throw tooLarge;
      }
      parts.push(value);
    }
    if (size === 0) return undefined;
    try {
      return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts)));
    } catch {
      throw new Refusal(400, 'bad_args', 'The body is not JSON.');
    }
  }

  #toRefusal(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (isToolError(error)) {
      const status = STATUS[error.code];
      if (status !== undefined) return new Refusal(status, error.code, error.message, retryOf(error));
    }
    if (error instanceof RangeError) return new Refusal(400, 'bad_args', 'The body is nested too deeply.');
    this.#fleet.failed(error);
    return new Refusal(500, 'internal', 'The server failed. Its log says why.');
  }
}

const STATUS: Readonly<Record<string, number>> = {
  bad_args: 400,
  limit_exceeded: 400,
  unknown_batch: 404,
  already_decided: 409,
  conflict: 409,
  quota_exceeded: 429,
  journal_unavailable: 503,
};

function retryOf({ code, details }: ToolError): Readonly<Record<string, string>> {
  const ms = Number(details?.retry_after_ms ?? 1_000);
  return code === 'quota_exceeded' || code === 'journal_unavailable'
    ? { 'retry-after': String(Math.max(1, Math.ceil(ms / 1_000))) }
    : {};
}

function requireMethod(request: Request, method: string): void {
  if (request.method === method) return;
  throw new Refusal(405, 'method_not_allowed', `Send ${method}, not ${request.method}.`, { allow: method });
}

function noPage(): Refusal {
  return new Refusal(404, 'not_found', 'There is no such page. docs/serve.md lists them.');
}

function waitOf({ searchParams }: URL): number {
  const given = searchParams.get('wait');
  if (given === null) return 0;
  const seconds = Number(given);
  if (/^\d+(?:\.\d+)?$/.test(given) && seconds <= LONGEST_WAIT_SECONDS) return seconds;
  throw new Refusal(400, 'bad_args', `wait must be a number of seconds, at most ${LONGEST_WAIT_SECONDS}.`);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw noPage();
  }
}
