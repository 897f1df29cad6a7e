import type { RunOptions } from '../../contract/executor.js';
import type { BatchScope } from '../execute/batch-scope.js';
import { replanner } from '../plan/judge-batch.js';
import type { JudgedCall, ReadyCall } from '../plan/judged-call.js';
import type { Recorder } from '../record/recorder.js';
import { refuseReady } from '../record/refuse-ready.js';
import { type ApprovedCall, askApproval } from './ask-approval.js';
import { putOff } from './deferred-calls.js';

export interface ApprovalParts {
  readonly scope: BatchScope;
  readonly options: RunOptions;
  readonly recorder: Recorder | undefined;
  /** Told which arguments of a call were agreed to, by their hash. */
  readonly agreed: (index: number, argsHash: string) => void;
}

/** The one question about a batch: for which calls it is asked, of whom, and what comes of it. */
export class BatchApproval {
  readonly #parts: ApprovalParts;
  readonly #answers: { readonly index: number; readonly answer: ApprovedCall }[] = [];
  #isPutOff = false;

  constructor(parts: ApprovalParts) {
    this.#parts = parts;
  }

  /** The calls still wait: on purpose, or because there was nobody to ask about a batch that had been put off. */
  get isPutOff(): boolean {
    return this.#isPutOff;
  }

  /** Asks about the calls at these places; the others stay as they are, unless the whole batch is put off. */
  async ask(
    judged: readonly JudgedCall[],
    waiting: readonly number[],
    signal: AbortSignal,
  ): Promise<JudgedCall[]> {
    const { scope } = this.#parts;
    const approver = approverOf(this.#parts);
    if (await this.#putsOff(approver)) return putOff(judged, scope.id);
    const answered = [...judged];
    if (approver === undefined || approver === null) {
      for (const index of waiting) answered[index] = unasked(judged[index] as ReadyCall);
      return answered;
    }
    const calls = waiting.map((index) => judged[index] as ReadyCall);
    for (const { call, summary } of calls) scope.observer?.approvalRequested({ call, summary });
    const answers = await askApproval(calls, approver, replanner(scope.settings), signal);
    for (const [place, answer] of answers.entries()) {
      const index = waiting[place] as number;
      answered[index] = answer.judged;
      this.#take(index, answer);
    }
    // Where several may approve, it is not known yet whose word counts.
    if (scope.deferred === undefined) this.note();
    return answered;
  }

  #take(index: number, answer: ApprovedCall): void {
    const { judged, approved, reason, argsHash } = answer;
    if (argsHash !== undefined) this.#parts.agreed(index, argsHash);
    this.#parts.scope.observer?.approvalDecided(judged.call, approved, reason);
    this.#answers.push({ index, answer });
  }

  /** Records what was decided about each call, and by whom. */
  note(): void {
    for (const { index, answer } of this.#answers) {
      const { judged, approved, reason, argsHash, by } = answer;
      this.#parts.recorder?.note(index, judged.call.id, 'approval', {
        approved,
        ...(by === undefined ? {} : { by }),
        ...(argsHash === undefined ? {} : { argsHash, args: judged.call.args }),
        ...(reason === undefined ? {} : { reason }),
      });
    }
  }

  async #putsOff(approver: RunOptions['approver']): Promise<boolean> {
    const { scope, options, recorder } = this.#parts;
    if (recorder === undefined) return false;
    if (scope.deferred !== undefined) this.#isPutOff = approver === undefined;
    else if (options.defer === true) {
      await recorder.putOff();
      this.#isPutOff = true;
    }
    return this.#isPutOff;
  }
}

/** Whom to ask. Null is consent in advance: the host program has decided that nobody is asked. */
export function approverOf({
  options,
  scope,
}: Pick<ApprovalParts, 'options' | 'scope'>): RunOptions['approver'] {
  return options.approver === undefined ? scope.settings.approver : options.approver;
}

function unasked(ready: ReadyCall): JudgedCall {
  const message = `${ready.call.name} needs approval, and there is nobody to ask: ${ready.reason.replace(/[.]+$/, '')}. Give an approver, or allow it by a rule.`;
  return refuseReady(ready, 'approval_unavailable', message);
}
