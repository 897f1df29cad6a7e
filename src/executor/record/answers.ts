import { withBase64Json } from '../../base/base64.js';
import type { ContentBlock, ToolCall, ToolResult } from '../../contract/call.js';
import { isJsonObjectText, truncate } from '../../output/clean-output.js';
import { contentWords, textBeside } from '../../protocols/content-words.js';
import { isUncut } from '../answer/finalize.js';
import { cleanRefusal } from '../answer/refuse-ready.js';
import { causeOf, failure, rememberCause } from '../answer/results.js';
import { stackOf } from '../answer/thrown.js';
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

type FittingScope = Pick<BatchScope, 'id' | 'settings' | 'capacityBytes'>;

/** Refusals quote what models wrote: they are cleaned; an answer of the journal's is what it was. Never throws. */
export function fitted(answer: ToolResult, isRecorded: boolean, scope: FittingScope): ToolResult {
  const { id, settings } = scope;
  try {
    const refused = !answer.success && answer.error.details?.executed === 'no' && !isRecorded;
    return takeCapacity(refused ? cleanRefusal(answer, settings) : answer, scope);
  } catch (error) {
    settings.logger.error({ batch: id, stack: stackOf(error) }, 'an answer could not be fitted');
    return { ...answer, output: '', truncated: true };
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

/**
 * Fits a result into what the model's context can still take, and takes it from there: what one result uses, the
 * later ones of the batch no longer have (D031, D079). A failure's message comes before its output, that before texts
 * of its content; what is no text takes nothing, because its bytes say nothing about what it needs.
 */
function takeCapacity(result: ToolResult, scope: FittingScope): ToolResult {
  if (scope.capacityBytes === Number.POSITIVE_INFINITY) return result;
  const message = result.success
    ? undefined
    : fitText(result.error.message, scope, passesWhole(result) || isUncut(result));
  const output = result.content === undefined ? fitText(result.output, scope, isUncut(result)) : undefined;
  const content = output === undefined ? fitContent(result, scope) : undefined;
  const isCut = output?.truncated === true || content?.truncated === true;
  if (!isCut && message?.truncated !== true) return result;
  const truncated = { output: output?.text ?? result.output, ...content, truncated: true };
  const fitted: ToolResult =
    result.success || message === undefined
      ? { ...result, ...truncated }
      : { ...result, ...truncated, error: { ...result.error, message: message.text } };
  rememberCause(fitted, causeOf(result));
  return fitted;
}

interface FittedContent {
  readonly output: string;
  readonly content: readonly ContentBlock[];
  readonly truncated: boolean;
}

function fitContent(result: ToolResult, scope: FittingScope): FittedContent {
  const whole = isUncut(result);
  const said = textBeside(result);
  const beside = fitText(said, scope, whole);
  let { truncated } = beside;
  const fitted = (result.content ?? []).map((block): ContentBlock => {
    if (!('text' in block) || block.text === undefined) return block;
    const { text, truncated: isCut } = fitText(block.text, scope, whole);
    truncated ||= isCut;
    return isCut ? withBase64Json({ ...block, text }) : block;
  });
  const content = fitted.filter((block) => block.type !== 'text' || block.text !== '');
  return { output: said === '' ? contentWords(content) : beside.text, content, truncated };
}

function fitText(text: string, scope: FittingScope, whole: boolean): ReturnType<typeof truncate> {
  const fitted = whole ? { text, truncated: false } : truncate(text, scope.capacityBytes);
  scope.capacityBytes = Math.max(0, scope.capacityBytes - Buffer.byteLength(fitted.text));
  return fitted;
}

function passesWhole({ error }: ToolResult): boolean {
  return error?.code === 'execution_failed' && isJsonObjectText(error.message);
}
