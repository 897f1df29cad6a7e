import {
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  isBrokenCircuitError,
} from 'cockatiel';
import type { ExternalToolCircuit } from '../contract/external.js';
import type { OptionsIn } from '../contract/settings.js';
import type { ToolOutput } from '../contract/tool.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { isToolError, ToolError } from '../errors/tool-error.js';
import { systemClock } from '../platform/clock/clock.js';
import type { CallRunner, ExternalCall } from './run-tool.js';

export type BreakerOptions = OptionsIn<'external.breaker'>;

/** Stops calling a tool for a while after several failures in a row; then one call tests it. */
export class CircuitBreakers {
  readonly #options: Required<BreakerOptions> | undefined;
  readonly #circuits = new Map<string, Circuit>();

  /** @param options undefined: every call passes. */
  constructor(options: Required<BreakerOptions> | undefined) {
    this.#options = options;
  }

  around(next: CallRunner): CallRunner {
    const options = this.#options;
    if (options === undefined) return next;
    return (call) => this.#circuitOf(call, options).run(call, next);
  }

  read(name: string): ExternalToolCircuit {
    return this.#circuits.get(name)?.read() ?? { state: 'closed' };
  }

  /** A replaced program gets a new breaker, because it may be fixed. */
  #circuitOf({ name, tool }: ExternalCall, options: Required<BreakerOptions>): Circuit {
    const known = this.#circuits.get(name);
    if (known !== undefined && known.print === tool.print) return known;
    const circuit = new Circuit(tool.print, options);
    this.#circuits.set(name, circuit);
    return circuit;
  }
}

class Circuit {
  readonly print: string | undefined;
  readonly #policy: CircuitBreakerPolicy;
  #retryAt = 0;

  constructor(print: string | undefined, { threshold, cooldownMs }: Required<BreakerOptions>) {
    this.print = print;
    // An interrupted trial proves nothing: the waiting time starts again.
    const counts = (code: ErrorCode | undefined): boolean =>
      code !== undefined && (FAILURES.has(code) || this.#policy.state === CircuitState.HalfOpen);
    const failure = handleWhen((error) => counts(isToolError(error) ? error.code : 'execution_failed'));
    this.#policy = circuitBreaker(
      failure.orWhenResult((result) => counts(codeOf(result as ToolOutput))),
      { halfOpenAfter: cooldownMs, breaker: new ConsecutiveBreaker(threshold) },
    );
    this.#policy.onBreak(() => {
      this.#retryAt = systemClock.now() + cooldownMs;
    });
  }

  async run(call: ExternalCall, next: CallRunner): Promise<ToolOutput> {
    // During a trial, other calls would have to wait for it.
    if (this.#policy.state === CircuitState.HalfOpen) throw this.#refusal(call);
    try {
      return await this.#policy.execute(() => next(call));
    } catch (error) {
      throw isBrokenCircuitError(error) ? this.#refusal(call) : error;
    }
  }

  read(): ExternalToolCircuit {
    const { state } = this.#policy;
    if (state === CircuitState.Closed) return { state: 'closed' };
    const retryAt = new Date(this.#retryAt).toISOString();
    const isTried = state === CircuitState.HalfOpen || systemClock.now() >= this.#retryAt;
    return { state: isTried ? 'half-open' : 'open', retryAt };
  }

  #refusal({ name }: ExternalCall): ToolError {
    const retryAt = new Date(this.#retryAt).toISOString();
    const why =
      this.#policy.state === CircuitState.HalfOpen
        ? 'one call is testing whether it works again'
        : `it is tried again at ${retryAt}`;
    return new ToolError('circuit_open', `${name} failed too often, and was not run: ${why}.`, {
      details: { retryAt, executed: 'no' },
    });
  }
}

/**
 * Failures that count against the program. A cancelled call, or one planned with an older program, does not.
 */
const FAILURES: ReadonlySet<ErrorCode> = new Set([
  'execution_failed',
  'invalid_tool_output',
  'timeout',
  'spawn_failed',
]);

function codeOf({ error }: ToolOutput): ErrorCode | undefined {
  return error === undefined ? undefined : (error.code ?? 'execution_failed');
}
