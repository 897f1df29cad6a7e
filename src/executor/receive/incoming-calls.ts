import type { ReadError, ToolCall, ToolResult } from '../../contract/call.js';
import type { BatchRun, IncomingBatch, RunOptions, SubmittedResult } from '../../contract/executor.js';
import type { CallKey, Journal } from '../../contract/journal.js';
import { finalize } from '../answer/finalize.js';
import { type FittingScope, fitted } from '../answer/fit-result.js';
import { CANCELLED_MESSAGE, failure, notRun, reasonOf } from '../answer/results.js';
import { attaches, checkCalls, incomingIsOver } from '../call/run-options.js';
import type { ExecutorSettings } from '../call/settings.js';
import { recordReceived } from './record-received.js';
import { RECEIVE, streamCallId, toReceivedData, toStreamArgs } from './stream-record.js';

export interface IncomingParts {
  /** The id of the batch that the calls will form. */
  readonly id: string;
  readonly conversation: string;
  readonly options: RunOptions;
  readonly settings: ExecutorSettings;
  /** Recovers the calls that earlier processes left unfinished, before anything else. */
  readonly ensureRecovered: () => Promise<void> | undefined;
  /** Starts the batch under its id. */
  readonly begin: (calls: readonly ToolCall[], options: RunOptions) => BatchRun;
}

/**
 * A batch whose calls are still arriving (D086). Until the batch is complete, it is recorded as a call that
 * never runs; the notes of this call hold the calls so far. If its writer dies, recovery answers those calls.
 */
export class IncomingCalls implements IncomingBatch {
  readonly id: string;
  readonly #parts: IncomingParts;
  /** Undefined: the calls are not meant to run, so they are not recorded. */
  readonly #journal: Journal | undefined;
  readonly #calls: ToolCall[] = [];
  /** Calls that cannot be read, each with its answer. */
  readonly #unreadable: { readonly call: ToolCall; readonly result: ToolResult }[] = [];
  #said: string | undefined;
  #stream: Promise<CallKey> | undefined;
  #isOver = false;

  constructor(parts: IncomingParts) {
    const { journal, mode } = parts.settings;
    const isRecorded = journal !== null && mode === 'enabled' && parts.options.dryRun !== true;
    this.id = parts.id;
    this.#parts = parts;
    this.#journal = isRecorded ? journal : undefined;
    this.#said = parts.options.message?.text;
  }

  async add(calls: readonly ToolCall[], said?: string): Promise<void> {
    this.#requireOpen();
    checkCalls(calls);
    await this.#note(calls, said, () => this.#calls.push(...calls));
  }

  async addUnreadable({ index, id = `call_${index}`, name = '', message }: ReadError): Promise<void> {
    this.#requireOpen();
    const call = { id, name, args: {} };
    const result = notRun(call, 'bad_args', message);
    await this.#note([call], undefined, () => this.#unreadable.push({ call, result }));
  }

  async #note(calls: readonly ToolCall[], said: string | undefined, keep: () => void): Promise<void> {
    // Text before the start of the stream is recorded only once.
    const data = toReceivedData(calls, said ?? (this.#stream === undefined ? this.#said : undefined));
    keep();
    this.#said = said ?? this.#said;
    const journal = this.#journal;
    if (journal === undefined) return;
    this.#stream ??= this.#open(journal);
    const key = await this.#stream;
    await journal.note(key, { kind: 'received', data, at: this.#parts.settings.clock.now() });
  }

  start(more: Pick<RunOptions, 'availableCapacityBytes'> = {}): BatchRun {
    this.#close();
    const { begin } = this.#parts;
    const options = { ...this.#parts.options, ...more };
    const { message = { text: '' } } = options;
    const spoken =
      this.#said === undefined ? options : { ...options, message: { ...message, text: this.#said } };
    const run = begin(this.#calls, spoken);
    // By then the batch is recorded, or none of its calls ran.
    const results = this.#recordUnreadable(run.results).finally(() =>
      this.#end(`${this.#calls.length} calls came, and are batch ${this.id}.`),
    );
    return { ...run, results };
  }

  /**
   * A call that cannot be read does not belong to the batch. It is recorded in a separate batch, with its
   * answer.
   */
  async #recordUnreadable(running: BatchRun['results']): Promise<readonly ToolResult[]> {
    const results = await running;
    const journal = this.#journal;
    if (journal === undefined || this.#unreadable.length === 0) return results;
    const { settings, conversation } = this.#parts;
    try {
      await recordReceived(journal, settings, {
        id: settings.createId(),
        conversation,
        attach: false,
        calls: this.#unreadable.map(({ call }) => call),
        results: this.#unreadable.map(({ result }) => result),
      });
    } catch (error) {
      // The calls of the batch have run, and their results stay valid.
      settings.logger.error(
        { batch: this.id, why: reasonOf(error) },
        'an unreadable call could not be recorded',
      );
    }
    return results;
  }

  async drop(
    why: Parameters<IncomingBatch['drop']>[0] = 'the stream was interrupted',
  ): Promise<readonly ToolResult[]> {
    this.#close();
    const { code, message } =
      typeof why === 'string'
        ? { code: 'cancelled' as const, message: `It was never started: ${why.replace(/[.]+$/, '')}.` }
        : why;
    const results = this.#calls.map((call) => notRun(call, code, message));
    const journal = this.#journal;
    if (journal === undefined || this.#stream === undefined) return results;
    await this.#stream;
    const { settings, conversation, options } = this.#parts;
    await recordReceived(journal, settings, {
      id: this.id,
      conversation,
      attach: attaches(options),
      calls: [...this.#calls, ...this.#unreadable.map(({ call }) => call)],
      results: [...results, ...this.#unreadable.map(({ result }) => result)],
      ...(options.turn === undefined ? {} : { turn: options.turn }),
      ...this.#message(),
      ...(options.origin === undefined ? {} : { origin: options.origin }),
    });
    await this.#end(message);
    return results;
  }

  answer(
    given: readonly (SubmittedResult | undefined)[],
    { availableCapacityBytes = Number.POSITIVE_INFINITY }: Pick<RunOptions, 'availableCapacityBytes'> = {},
  ): readonly ToolResult[] {
    this.#close();
    const { id, settings } = this.#parts;
    const scope = { id, settings, capacityBytes: availableCapacityBytes };
    return this.#calls.map((call, index) => {
      const one = given[index];
      return one === undefined
        ? notRun(call, 'cancelled', CANCELLED_MESSAGE)
        : adoptSubmitted(call, one, scope);
    });
  }

  #message(): Pick<RunOptions, 'message'> {
    if (this.#said === undefined) return {};
    return { message: { ...this.#parts.options.message, text: this.#said } };
  }

  async #open(journal: Journal): Promise<CallKey> {
    await this.#parts.ensureRecovered();
    const { settings, conversation, options, id } = this.#parts;
    const { clock, worker } = settings;
    const streamId = settings.createId();
    const entry = {
      callId: streamCallId(streamId),
      toolName: RECEIVE,
      args: toStreamArgs(id, options),
      effects: [],
      disposition: 'pre_resolved',
      reason: 'a response is coming in',
    } as const;
    const batch = { id: streamId, conversation, attach: false, at: clock.now(), worker, calls: [entry] };
    const [answer] = await journal.accept(batch);
    if (answer === undefined) throw new Error('a batch of one call has one answer');
    return answer.key;
  }

  async #end(output: string): Promise<void> {
    if (this.#journal === undefined || this.#stream === undefined) return;
    const { clock, logger, worker } = this.#parts.settings;
    try {
      const key = await this.#stream;
      const call = { id: this.id, name: RECEIVE };
      const { error: _, ...result } = failure(call, 'cancelled', '', 'no', { output });
      await this.#journal.finish(key, { ...result, success: true }, clock.now(), worker);
    } catch (error) {
      // Recovery finds the batch itself, and ends this record.
      logger.error({ batch: this.id, why: reasonOf(error) }, 'the end of a stream could not be recorded');
    }
  }

  #requireOpen(): void {
    if (!this.#isOver) return;
    throw incomingIsOver();
  }

  #close(): void {
    this.#requireOpen();
    this.#isOver = true;
  }
}

/**
 * Adopts a result that the host program submitted (D013). For the model and the journal it is an ordinary
 * tool output, so it is redacted, cut and fitted into the remaining context.
 */
function adoptSubmitted(
  call: ToolCall,
  { output, success = true }: SubmittedResult,
  scope: FittingScope,
): ToolResult {
  const outcome = { metadata: { submitted: true }, truncatable: true };
  const error = { code: 'execution_failed', message: output, executed: 'maybe' } as const;
  const result = finalize(
    success ? { ...outcome, text: output } : { ...outcome, text: '', error },
    // The host program submits the result.
    { call, declared: [], origin: ['user'] },
    scope,
    0,
  );
  return fitted(result, false, scope);
}
