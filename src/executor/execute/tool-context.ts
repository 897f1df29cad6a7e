import type { ChosenPaths, DeedsRefusal, PreviewedChanges } from '../../contract/changes.js';
import type { ContextLimits, ToolContext } from '../../contract/context.js';
import type { RunOptions } from '../../contract/executor.js';
import type { ContainedFiles } from '../../contract/files.js';
import type { ToolHttp } from '../../contract/http.js';
import type { Question, QuestionAnswer } from '../../contract/question.js';
import type { ToolSearch } from '../../contract/search.js';
import type { ToolProcesses } from '../../contract/tool-processes.js';
import { grantsEverything } from '../../effects/traits.js';
import { ToolError } from '../../errors/tool-error.js';
import { announce } from '../approve/announce.js';
import type { BatchScope } from '../call/batch-scope.js';
import { ChangeTally } from '../call/change-tally.js';
import type { ReadyCall } from '../call/evaluated-call.js';
import { grantFiles } from '../call/grant-files.js';
import { idempotencyKey } from '../call/idempotency-key.js';
import { Lease } from '../call/lease.js';
import type { Recorder } from '../record/recorder.js';
import type { LateAgreement } from './agreed-names.js';
import { CommandTally } from './command-tally.js';
import { ContextView } from './context-view.js';
import { grantAgents } from './grant-agents.js';
import { HttpGrant } from './grant-http.js';
import { grantProcesses } from './grant-processes.js';
import { grantSearch } from './grant-search.js';
import { isShown, LiveOutput } from './live-output.js';
import { reviewDeeds } from './review-deeds.js';

/** One execution of one call. */
export interface CallParts {
  readonly ready: ReadyCall;
  /** The index of the call in its batch. */
  readonly index: number;
  readonly scope: BatchScope;
  readonly options: RunOptions;
  /** Undefined: the batch is not recorded. */
  readonly recorder: Recorder | undefined;
  /** The queue in which the call takes its turn. */
  readonly queue: object;
}

/** The part of the execution that the handles of a call need. */
export interface HandlesOwner {
  /** Waits for a person. The wait does not count as the call's time. */
  whilePaused<T>(wait: () => Promise<T>): Promise<T>;
}

/**
 * The executor's side of one call's handles. The tool gets only `context`, a frozen view. A handle is created
 * when the tool first asks for it, because most calls need few (D029, D030).
 */
export class CallHandles {
  readonly parts: CallParts;
  readonly context: ToolContext;
  /** Ends with the call. */
  readonly lease = new Lease();
  readonly #owner: HandlesOwner;
  #controller: AbortController | undefined;
  #abortedWith: Error | undefined;
  #files: ContainedFiles | undefined;
  #processes: ToolProcesses | undefined;
  readonly #late: { state: LateAgreement['state'] } = { state: 'open' };
  #tally: CommandTally | undefined;
  #changes: ChangeTally | undefined;
  #search: ToolSearch | undefined;
  #http: HttpGrant | undefined;
  #live: LiveOutput | undefined;
  #emit: ToolContext['emit'] | undefined;
  #limits: ContextLimits | undefined;
  #agents: ToolContext['agents'];

  constructor(parts: CallParts, owner: HandlesOwner) {
    this.parts = parts;
    this.#owner = owner;
    this.context = new ContextView(this);
  }

  get idempotencyKey(): string {
    return idempotencyKey(this.parts);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedWith !== undefined) this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }

  get limits(): ContextLimits {
    const { settings, capacityBytes } = this.parts.scope;
    this.#limits ??= Object.freeze({
      maxOutputBytes: settings.maxOutputBytes,
      maxContentBytes: settings.maxContentBytes,
      availableCapacityBytes: capacityBytes,
      maxApplyPatchBytes: settings.limits.maxApplyPatchBytes,
      maxFileReadBytes: settings.limits.maxFileReadBytes,
      maxReadFileScanBytes: settings.limits.maxReadFileScanBytes,
    });
    return this.#limits;
  }

  get files(): ContainedFiles {
    const { ready, scope, index, recorder } = this.parts;
    const intend =
      recorder && ((intent: Parameters<typeof recorder.intend>[1]) => recorder.intend(index, intent));
    this.#changes ??= new ChangeTally();
    const tally = this.#changes;
    this.#files ??= Object.freeze(grantFiles(ready, scope.settings, this.lease, { intend, tally }));
    return this.#files;
  }

  get search(): ToolSearch {
    const { ready, scope } = this.parts;
    const { lease, signal } = this;
    this.#search ??= Object.freeze(grantSearch({ ready, settings: scope.settings, lease, signal }));
    return this.#search;
  }

  get http(): ToolHttp {
    const { lease, signal } = this;
    this.#http ??= new HttpGrant(this.parts.ready, lease, signal);
    return this.#http.fetch;
  }

  get processes(): ToolProcesses {
    const { ready, scope, index, recorder } = this.parts;
    const { lease, signal } = this;
    this.#tally ??= new CommandTally();
    this.#processes ??= Object.freeze(
      grantProcesses({
        ready,
        conversation: scope.conversation,
        settings: scope.settings,
        lease,
        signal,
        note: (data) => recorder?.note(index, ready.call.id, 'process', data),
        noted: async (data) => recorder?.noted(index, 'process', data),
        live: isShown(scope) ? this.#output() : undefined,
        headers: () => scope.observer?.headers(ready.call) ?? {},
        tally: this.#tally,
        agreeToPort: (port) => this.#askPort(port),
        agree: ready.asksAfter ? (changes) => this.#askAfter(changes) : undefined,
        deeds: reviewDeeds(ready, scope.settings, (changes) => this.#askAboutDeeds(changes)),
        late: ready.asksAfter ? this.#late : undefined,
      }),
    );
    return this.#processes;
  }

  /**
   * Asks about changes beyond the declared and allowed ones. A preview only notes them and asks when it is
   * committed.
   */
  async #askAboutDeeds(changes: PreviewedChanges): Promise<DeedsRefusal | ChosenPaths | undefined> {
    const { index, scope } = this.parts;
    if (scope.preview === undefined) return this.#askAfter(changes);
    scope.preview.sawUnexpected(
      index,
      changes.entries.filter(({ unexpected }) => unexpected !== undefined),
    );
    return undefined;
  }

  #askAfter(changes: PreviewedChanges): Promise<DeedsRefusal | ChosenPaths | undefined> {
    const { ready, scope, index, recorder } = this.parts;
    return this.#owner.whilePaused(async () => {
      const { askAfter } = await import('../approve/ask-after.js');
      const agreed = (isPersons: boolean): void => {
        this.#late.state = isPersons ? 'person' : 'other';
      };
      if (scope.settings.lateApprover === null) agreed(false);
      return askAfter({ ready, scope, index, recorder, signal: this.signal, agreed }, changes);
    });
  }

  #askPort(port: number): Promise<string | undefined> {
    const { ready, scope, index, recorder } = this.parts;
    return this.#owner.whilePaused(async () => {
      const { askPort } = await import('../approve/ask-port.js');
      return askPort({ ready, scope, index, recorder, signal: this.signal }, port);
    });
  }

  get trace(): NonNullable<ToolContext['trace']> {
    const { scope, ready } = this.parts;
    return scope.observer?.headers(ready.call) ?? {};
  }

  // A separate function, because tools destructure their context: `({ emit }) => emit(text)`.
  get emit(): ToolContext['emit'] {
    this.#emit ??= (text, stream) => {
      if (!isShown(this.parts.scope) || !this.lease.alive) return undefined;
      return this.#output().push(stream === 'stderr' ? 'stderr' : 'stdout', text);
    };
    return this.#emit;
  }

  /**
   * True if every change of the call was discarded before it was committed, or refused by the file system.
   */
  get hasLeftNothing(): boolean {
    const { ready } = this.parts;
    if (this.#tally !== undefined) return this.#tally.hasLeftNothing(ready);
    return (
      ready.tool.contained === true && this.#agents === undefined && this.#changes?.hasChangedNothing === true
    );
  }

  get ask(): ToolContext['ask'] {
    const { ready, scope } = this.parts;
    const { settings, conversation } = scope;
    const { asker, agent } = settings;
    if (asker === undefined) return undefined;
    const { lease, signal } = this;
    return async (questions: readonly Question[]) => {
      lease.require('ask the person');
      if (!ready.effects.some(({ effect }) => ASKING.has(effect.kind) || grantsEverything(effect))) {
        throw undeclared('ask the person', ready, "Declare { kind: 'ask' } in the effects of the tool.");
      }
      const about = { signal, callId: ready.call.id, ...(agent === undefined ? {} : { agent }) };
      const message = questions[0]?.question ?? '';
      const answers = await announce(
        { settings, conversation, type: 'elicitation_dialog', message },
        async () => asker(questions, about),
      );
      if (answers !== undefined && !areAnswers(answers, questions)) throw unusableAnswers();
      return answers;
    };
  }

  get agents(): ToolContext['agents'] {
    const { ready, scope } = this.parts;
    const { settings } = scope;
    if (settings.agents === undefined) return undefined;
    const { lease, signal, emit } = this;
    this.#agents ??= grantAgents({ ready, settings, lease, signal, emit });
    return this.#agents;
  }

  abort(reason: Error): void {
    this.#abortedWith ??= reason;
    this.#controller?.abort(reason);
  }

  /** Shows the rest of the live output and closes every handle, because the call is answered. */
  close(): void {
    this.lease.end();
    this.#http?.close();
    this.#live?.end();
  }

  #output(): LiveOutput {
    this.#live ??= new LiveOutput(this.parts.ready.call, this.parts.scope);
    return this.#live;
  }
}

/** Effects that allow a call to ask the person. A remote service asks through the tool that calls it. */
const ASKING: ReadonlySet<string> = new Set(['ask', 'call']);

function areAnswers(answers: readonly QuestionAnswer[], questions: readonly Question[]): boolean {
  const isAnswer = (answer: Partial<QuestionAnswer> | null | undefined): boolean =>
    answer?.declined === true ||
    (Array.isArray(answer?.chosen) && (answer.other === undefined || typeof answer.other === 'string'));
  return Array.isArray(answers) && answers.length === questions.length && answers.every(isAnswer);
}

function unusableAnswers(): ToolError {
  const message = 'The program that asks the person gave no usable answers.';
  const hint = 'options.asker returns one answer for each question, in order: { chosen: labels, other? }.';
  return new ToolError('execution_failed', message, { hint });
}

function undeclared(action: string, { tool }: ReadyCall, hint: string): ToolError {
  return new ToolError('sandbox_violation', `Cannot ${action}: ${tool.name} did not declare it.`, {
    hint,
    details: { reason: 'UndeclaredEffect' },
  });
}
