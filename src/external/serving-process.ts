import { randomUUID } from 'node:crypto';
import { type LaunchedServer, launchServer } from '../commands/launch-server.js';
import { createWakefulness, idleClock, systemClock } from '../platform/clock/clock.js';
import { type Addressed, LineSplitter, readToolLine, type ToolLine } from './tool-lines.js';

export interface ServingStart {
  readonly path: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Limit of one line. */
  readonly maxLineBytes: number;
}

/** The final answer to a request. */
export type ServedAnswer = Extract<ToolLine, { readonly type: 'result' | 'error' | 'pong' }>;

/** The answer cannot be trusted, or none came. The message is a clause: `it ended with exit code 1`. */
export class ServingFault extends Error {}

/** The same before anything was sent, so another process can be asked. */
export class NotAsked extends ServingFault {}

interface Pending {
  readonly id: string;
  readonly show: (text: string) => void | Promise<void>;
  readonly answered: (answer: ServedAnswer) => void;
  readonly failed: (fault: ServingFault) => void;
}

/**
 * A program started with `--serve`. It answers one request at a time. Each request has an unguessable id, and
 * only an answer with the id of the open request counts, so a late, repeated or misordered answer reaches no
 * other call. After anything unexpected the process is ended and gets no further request (`isSound`). A late
 * line with the previous id is skipped: the open request keeps its process, which gets no further one.
 */
export class ServingProcess {
  readonly #abort = new AbortController();
  readonly #lines: LineSplitter;
  readonly #wakefulness = createWakefulness();
  readonly #server: Promise<LaunchedServer>;
  readonly #ended: Promise<void>;
  #launched: LaunchedServer | undefined;
  #pending: Pending | undefined;
  /** The id of the last answered request. */
  #answered: string | undefined;
  #isLate = false;
  #fault: ServingFault | undefined;
  #errors = '';
  /** When it was last used, on the monotonic clock. */
  idleSince = systemClock.monotonic();
  /** The number of answered calls. */
  served = 0;

  constructor({ path, cwd, env, maxLineBytes }: ServingStart) {
    this.#lines = new LineSplitter(maxLineBytes);
    const decoder = new TextDecoder();
    this.#server = launchServer({
      file: path,
      args: ['--serve'],
      cwd,
      env,
      signal: this.#abort.signal,
      onOutput: (stream, chunk) => {
        if (stream === 'stdout') return this.#read(chunk);
        this.#errors = (this.#errors + decoder.decode(chunk, { stream: true })).slice(-KEPT_ERRORS);
        return undefined;
      },
    });
    this.#ended = this.#follow();
  }

  /** Whether it can be asked: it runs, and did nothing unexpected. */
  get isSound(): boolean {
    return this.#fault === undefined && !this.#isLate;
  }

  /** The end of its standard error. It is not known which call it belongs to, so it is only logged. */
  get errors(): string {
    return this.#errors;
  }

  /** Its process id and start time. @throws ToolError `spawn_failed`. */
  async identify(): Promise<LaunchedServer['process']> {
    return (await this.#server).process;
  }

  /** Resolves when it and everything it started is gone. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /**
   * Sends one line and waits for its answer. Call it only when no other request is open.
   * @throws ToolError `spawn_failed`; ServingFault.
   */
  async ask(
    request: object,
    show: Pending['show'],
    signal: AbortSignal,
    isExpected: (answer: ServedAnswer) => boolean,
  ): Promise<ServedAnswer> {
    const server = this.#launched ?? (await this.#server);
    const stop = (): void => void this.#doubt('it was stopped in the middle of a call');
    const answering = new Promise<ServedAnswer>((answered, failed) => {
      if (this.#fault !== undefined || signal.aborted) {
        failed(new NotAsked(this.#fault?.message ?? 'it was not asked'));
        return;
      }
      const id = randomUUID();
      this.#pending = { id, show, answered, failed };
      signal.addEventListener('abort', stop, { once: true });
      server.write(`${JSON.stringify({ ...request, id })}\n`);
    });
    // The process itself does not keep this program alive; a pending answer does.
    this.#wakefulness.on();
    try {
      const answer = await answering;
      if (!isExpected(answer)) throw this.#doubt(`it answered with "${answer.type}"`);
      return answer;
    } finally {
      this.#wakefulness.off();
      signal.removeEventListener('abort', stop);
      this.idleSince = systemClock.monotonic();
    }
  }

  /** Closes its input and ends it if it does not exit. Resolves when it is gone. */
  async end({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#fault ??= new ServingFault('it is being ended');
    this.#launched?.closeInput();
    const stop = systemClock.after(graceMs, () => this.#abort.abort());
    await this.#ended.finally(stop);
  }

  /** Ends it at once. */
  kill(): Promise<void> {
    this.#doubt('it was ended');
    return this.#ended;
  }

  #read(chunk: Uint8Array): void | Promise<void> {
    const lines = this.#lines.push(chunk);
    if (lines === undefined) return this.#fail('it wrote more than it may in one line');
    const shown = lines.map((line) => this.#take(line)).filter((part) => part instanceof Promise);
    if (this.#pending === undefined && !this.#lines.isEmpty) this.#doubt('it wrote more after its answer');
    return shown.length === 0 ? undefined : Promise.all(shown).then(() => undefined);
  }

  #take(bytes: Uint8Array): void | Promise<void> {
    const pending = this.#pending;
    if (this.#fault !== undefined) return undefined;
    if (pending === undefined) return this.#fail('it wrote a line without being asked');
    const line = readToolLine(bytes);
    if ('fault' in line) return this.#fail(line.fault);
    if (line.id !== pending.id) return this.#passOver(line, pending);
    if (line.type === 'progress' || line.type === 'stdout') return pending.show(line.text);
    this.#pending = undefined;
    this.#answered = pending.id;
    pending.answered(line);
    return undefined;
  }

  async #follow(): Promise<void> {
    try {
      this.#launched = await this.#server;
      const { exitCode, signal } = await this.#launched.ended;
      this.#doubt(
        exitCode === null ? `it was ended by ${signal ?? 'a signal'}` : `it ended with exit code ${exitCode}`,
      );
    } catch {
      this.#doubt('it could not be started');
    } finally {
      this.#wakefulness.end();
    }
  }

  /** An answer with the previous id may be meant for the open request; in that case no other answer follows. */
  #passOver({ id, type }: Addressed, open: Pending): void {
    const reason = 'it wrote a line that belongs to no open request';
    if (id === undefined || id !== this.#answered) {
      this.#fail(reason);
      return;
    }
    this.#isLate = true;
    if (type === 'progress' || type === 'stdout') return;
    idleClock.after(LATE_MS, () => {
      if (this.#pending === open) this.#fail(reason);
    });
  }

  #fail(reason: string): void {
    this.#doubt(reason);
  }

  /** The first reason to distrust the process also counts for all later ones. */
  #doubt(reason: string): ServingFault {
    this.#fault ??= new ServingFault(reason);
    this.#abort.abort();
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.failed(this.#fault);
    return this.#fault;
  }
}

const KEPT_ERRORS = 2_000;
/** How long an answer may take after one with the previous request's id. */
const LATE_MS = 1_000;
