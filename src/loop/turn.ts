import type { ToolResult } from '../contract/call.js';
import type { EndedTurn } from '../contract/conversation.js';
import { usedTokens } from '../providers/http/context-window.js';
import type { ModelRequest } from '../providers/model.js';
import type { LoopResult } from './loop-contract.js';
import type { LoopResponse } from './read-response.js';

/** The answer to calls after a limit was reached, and how the turn ends. */
export interface Limit {
  readonly code: 'max_iterations' | 'limit_exceeded';
  readonly message: string;
  readonly stopReason: 'max_iterations' | 'max_tokens';
}

export type Stop = Pick<LoopResult, 'stopReason' | 'error' | 'cutOff'>;

/** How many times hooks may continue a turn. */
const MOST_CONTINUATIONS = 8;

/** The state of one turn. */
export class Turn {
  iterations = 0;
  /** The limit that the model has been notified about. */
  overLimit: Limit['stopReason'] | undefined;
  /** From the provider's count; estimated if it counts nothing. */
  tokens = 0;
  readonly results: ToolResult[] = [];
  #continued = 0;
  #text = '';
  #inputTokens = 0;
  #outputTokens = 0;
  #contextUsed = 0;

  /** For the hooks of its end. */
  get ended(): EndedTurn {
    return { text: this.#text, isGoingOn: this.#continued > 0 };
  }

  /** Whether a hook may continue the turn: not without limit, and not beyond another limit. */
  goesOn(): boolean {
    return this.overLimit === undefined && this.#continued++ < MOST_CONTINUATIONS;
  }

  heard({ text, usage }: LoopResponse, request: ModelRequest): void {
    this.#text = text;
    this.#contextUsed = usedTokens(request, usage);
    this.tokens += this.#contextUsed;
    this.#inputTokens += usage?.inputTokens ?? 0;
    this.#outputTokens += usage?.outputTokens ?? 0;
  }

  toResult(stop: Stop, contextTokens: number | undefined): LoopResult {
    return {
      text: this.#text,
      iterations: this.iterations,
      results: [...this.results],
      usage: { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens },
      context: {
        usedTokens: this.#contextUsed,
        ...(contextTokens === undefined ? {} : { contextTokens }),
      },
      ...stop,
    };
  }
}
