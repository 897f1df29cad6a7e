import type { Clock } from '../../contract/context.js';
import { ModelError } from '../../errors/model-error.js';
import { systemClock } from '../../platform/clock/clock.js';
import { readEnvironment } from '../../platform/runtime/environment.js';
import { type PostHttp, postHttp } from '../../platform/runtime/post-http.js';
import { describeTools } from '../describe/describe-tools.js';
import { asJsonObjects } from '../json-fields.js';
import type { Model, ModelEvent, ModelRequest } from '../model.js';
import { type HttpFormat, httpOf } from '../registry.js';
import { AnswerReader } from './answer-reader.js';
import { contextTokensOf } from './context-window.js';
import type { HttpApi } from './http-api.js';
import { toNativeMessages } from './messages.js';
import { type ModelOptions, type ModelSettings, toSettings } from './model-options.js';
import { cancelled, openStream, RefusedRequest } from './open-stream.js';
import { retryDelay } from './retry-delay.js';

/** The outside world of a model. */
export interface ModelWorld {
  readonly post: PostHttp;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly environment: () => Readonly<Record<string, string | undefined>>;
}

const SYSTEM: ModelWorld = {
  post: postHttp,
  clock: systemClock,
  random: Math.random,
  environment: readEnvironment,
};

export function createModel(format: HttpFormat, options: ModelOptions, world: ModelWorld = SYSTEM): Model {
  const api = httpOf(format);
  const settings = toSettings(api, options, world.environment());
  const contextTokens = contextTokensOf(settings.model);
  const connector = new Connector(format, settings, world);
  return Object.freeze({
    name: settings.model,
    format,
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(settings.maxTokens === undefined ? {} : { maxOutputTokens: settings.maxTokens }),
    stream: (request: ModelRequest, { signal }: { readonly signal: AbortSignal }) =>
      connector.stream(request, signal),
  });
}

class Connector {
  readonly #format: HttpFormat;
  readonly #api: HttpApi;
  readonly #settings: ModelSettings;
  readonly #world: ModelWorld;
  /** Parts of our requests that this server has rejected: they are left out from then on. */
  readonly #without = new Set<string>();

  constructor(format: HttpFormat, settings: ModelSettings, world: ModelWorld) {
    this.#format = format;
    this.#api = httpOf(format);
    this.#settings = settings;
    this.#world = world;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const toBody = this.#bodyWriter(request);
    for (let attempt = 0; ; ) {
      if (signal.aborted) throw this.#report(cancelled(signal));
      const answer = new AnswerReader(this.#format, request.tools);
      try {
        for await (const batch of this.#open(toBody(), signal)) {
          for (const data of batch) for (const event of answer.push(data)) yield event;
          if (answer.isOver) break;
        }
        yield* answer.end();
        return;
      } catch (error) {
        yield* answer.cut();
        const failure = toModelError(error);
        if (answer.begun) throw this.#report(failure);
        if (this.#concede(failure)) continue;
        await this.#pause(failure, attempt, signal);
        attempt += 1;
      }
    }
  }

  #bodyWriter({ system, messages, tools }: ModelRequest): () => string {
    const { model, maxTokens } = this.#settings;
    const request = {
      model,
      system,
      maxTokens,
      messages: toNativeMessages(this.#format, messages, model),
      tools: asJsonObjects(describeTools(this.#format, tools)),
      without: this.#without,
    };
    return () => JSON.stringify(this.#api.body(request));
  }

  #open(body: string, signal: AbortSignal) {
    const { url, headers, timeoutMs } = this.#settings;
    const { post, clock } = this.#world;
    return openStream(
      { url, headers, body },
      {
        post,
        clock,
        timeoutMs,
        signal,
        toEvents: (response) => this.#api.toEvents(response),
      },
    );
  }

  /** Whether to send the request again without the part that the server rejected. */
  #concede(failure: ModelError): boolean {
    if (failure.status !== 400 && failure.status !== 422) return false;
    const concession = this.#api.concessions.find(
      ({ name, refusal }) => !this.#without.has(name) && refusal.test(failure.message),
    );
    if (concession === undefined) return false;
    this.#without.add(concession.name);
    return true;
  }

  /** @throws the failure, if a retry makes no sense. */
  async #pause(failure: ModelError, attempt: number, signal: AbortSignal): Promise<void> {
    const { random, clock } = this.#world;
    const asked = failure instanceof RefusedRequest ? failure.askedDelayMs : undefined;
    const delay = retryDelay(attempt, asked, random());
    if (!failure.retriable || attempt >= this.#settings.retries || delay === undefined) {
      throw this.#report(failure);
    }
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        stop();
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const stop = clock.after(delay, finish);
      signal.addEventListener('abort', finish, { once: true });
    });
  }

  /** The failure in a sentence that names the model, without secrets. */
  #report(failure: ModelError): ModelError {
    let message = failure.message;
    for (const secret of this.#settings.secrets) message = message.replaceAll(secret, '[REDACTED]');
    const { model, from } = this.#settings;
    const remedy = failure.status === 401 ? ` Check the key (${this.#api.keyNames[0]}).` : '';
    const sentence = `Cannot get an answer of ${JSON.stringify(model)} from ${from}: ${message}`;
    const { status, retriable, cause } = failure;
    return new ModelError(`${sentence.replace(/[.!\s]*$/, '')}.${remedy}`, {
      ...(status === undefined ? {} : { status }),
      retriable,
      cause,
    });
  }
}

function toModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  return new ModelError(error instanceof Error ? error.message : String(error), { cause: error });
}
