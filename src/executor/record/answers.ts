import type { ToolCall, ToolResult } from '../../contract/call.js';
import { failure } from '../answer/results.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { Recorder } from './recorder.js';

/** A call as far as an answer needs it. */
export type NamedCall = Pick<ToolCall, 'id' | 'name'>;

/** The answers of a batch: fitted into what the model can still take, recorded, then shown as completed. */
export class Answers {
  readonly #scope: BatchScope;
  readonly #results: (ToolResult | undefined)[];
  /** How many records are being written. */
  #writing = 0;
  #tellWritten: (() => void) | undefined = undefined;

  constructor(count: number, scope: BatchScope) {
    this.#scope = scope;
    this.#results = new Array<ToolResult | undefined>(count).fill(undefined);
  }

  has(index: number): boolean {
    return this.#results[index] !== undefined;
  }

  /**
   * Takes the one answer of a call; it is shown as completed once it is on disk. Never throws.
   * @param recorder undefined: it is not ours to record.
   */
  take(index: number, call: NamedCall, answer: ToolResult, recorder: Recorder | undefined): void {
    this.#results[index] = answer;
    const later = (isOnDisk: boolean): void => this.#completeLater(index, call, isOnDisk);
    const isOnDisk = recorder === undefined ? true : recorder.finish(index, call, answer, later);
    if (isOnDisk === undefined) this.#writing++;
    else this.#complete(index, call, isOnDisk);
  }

  #completeLater(index: number, call: NamedCall, isOnDisk: boolean): void {
    try {
      this.#complete(index, call, isOnDisk);
    } finally {
      if (--this.#writing === 0) this.#tellWritten?.();
    }
  }

  #complete(index: number, call: NamedCall, isOnDisk: boolean): void {
    let result = this.#results[index] as ToolResult;
    if (!isOnDisk) {
      result = { ...result, metadata: { ...result.metadata, recorded: false } };
      this.#results[index] = result;
    }
    this.#scope.observer?.completed(call, result);
  }

  /** False while an answer is not written yet, or not shown. */
  get areWritten(): boolean {
    return this.#writing === 0;
  }

  /** Calls back, once, when all of them are written and shown. For one caller at a time. */
  whenWritten(tell: () => void): void {
    this.#tellWritten = () => {
      this.#tellWritten = undefined;
      tell();
    };
  }

  /** All of them, once every call has one. */
  all(calls: readonly unknown[]): ToolResult[] {
    for (let index = 0; index < this.#results.length; index++)
      this.#results[index] ??= lost(nameOf(calls[index], index));
    return this.#results as ToolResult[];
  }
}

// Cannot happen while a call is answered on every path; an answer is owed all the same.
export function lost(call: NamedCall): ToolResult {
  return failure(call, 'outcome_unknown', 'The call ended without an answer.', 'maybe');
}

export function nameOf(call: unknown, index: number): NamedCall {
  const { id, name } = (typeof call === 'object' && call !== null ? call : {}) as Partial<ToolCall>;
  return {
    id: typeof id === 'string' && id !== '' ? id : `call_${index}`,
    name: typeof name === 'string' ? name : 'unknown',
  };
}
