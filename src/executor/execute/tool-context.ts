import type { ChosenPaths, DeedsRefusal, PreviewedChanges } from '../../contract/changes.js';
import type { ContextLimits, ConversationMemory, Logger, ToolContext } from '../../contract/context.js';
import type { RunOptions } from '../../contract/executor.js';
import type { ContainedFiles } from '../../contract/files.js';
import type { ToolHttp } from '../../contract/http.js';
import type { Question } from '../../contract/question.js';
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
import type { ExecutionSettings } from '../call/settings.js';
import type { Recorder } from '../record/recorder.js';
import type { LateAgreement } from './agreed-names.js';
import { CommandTally } from './command-tally.js';
import { grantAgents } from './grant-agents.js';
import { HttpGrant } from './grant-http.js';
import { grantProcesses } from './grant-processes.js';
import { LiveOutput } from './live-output.js';
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
        live: scope.observer?.isRead === true ? this.#output() : undefined,
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
      if (this.parts.scope.observer?.isRead !== true || !this.lease.alive) return undefined;
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
      return announce({ settings, conversation, type: 'elicitation_dialog', message }, async () =>
        asker(questions, about),
      );
    };
  }

  get agents(): ToolContext['agents'] {
    const { settings } = this.parts.scope;
    if (settings.agents === undefined) return undefined;
    const { lease, signal, emit } = this;
    this.#agents ??= grantAgents({ settings, lease, signal, emit });
    return this.#agents;
  }

  abort(reason: Error): void {
    this.#abortedWith ??= reason;
    this.#controller?.abort(reason);
  }

  /** Shows the rest of the live output and ends every handle, because the call is answered. */
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

/**
 * The view that a tool gets. Its handles are getters on a frozen prototype, which costs 0.04 µs a call; an
 * object literal with its own getters costs 2 µs.
 */
class ContextView implements ToolContext {
  readonly #handles: CallHandles;
  readonly callId: string;
  readonly dryRun: boolean;

  constructor(handles: CallHandles) {
    this.#handles = handles;
    this.callId = handles.parts.ready.call.id;
    this.dryRun = handles.parts.scope.dryRun;
    Object.freeze(this);
  }

  get cwd(): string {
    return this.#handles.parts.scope.settings.sandbox.cwd;
  }

  get idempotencyKey(): string {
    return this.#handles.idempotencyKey;
  }

  get logger(): Logger {
    return this.#handles.parts.scope.settings.logger;
  }

  get memory(): ConversationMemory {
    return this.#handles.parts.scope.memory;
  }

  get signal(): AbortSignal {
    return this.#handles.signal;
  }

  get limits(): ContextLimits {
    return this.#handles.limits;
  }

  get files(): ContainedFiles {
    return this.#handles.files;
  }

  get search(): ToolSearch {
    return this.#handles.search;
  }

  get http(): ToolHttp {
    return this.#handles.http;
  }

  get processes(): ToolProcesses {
    return this.#handles.processes;
  }

  get emit(): ToolContext['emit'] {
    return this.#handles.emit;
  }

  get ask(): ToolContext['ask'] {
    return this.#handles.ask;
  }

  get agents(): ToolContext['agents'] {
    return this.#handles.agents;
  }

  get trace(): NonNullable<ToolContext['trace']> {
    return this.#handles.trace;
  }
}

// The view does not lead to the class, and no tool can change the view of the next one.
Object.defineProperty(ContextView.prototype, 'constructor', { value: Object });
for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(ContextView.prototype))) {
  if (descriptor.get !== undefined) {
    Object.defineProperty(ContextView.prototype, name, { ...descriptor, enumerable: true });
  }
}
Object.freeze(ContextView.prototype);

/** Effects that allow a call to ask the person. A remote service asks through the tool that calls it. */
const ASKING: ReadonlySet<string> = new Set(['ask', 'call']);

function undeclared(action: string, { tool }: ReadyCall, hint: string): ToolError {
  return new ToolError('sandbox_violation', `Cannot ${action}: ${tool.name} did not declare it.`, {
    hint,
    details: { reason: 'UndeclaredEffect' },
  });
}

interface SearchGrant {
  readonly ready: ReadyCall;
  readonly settings: ExecutionSettings;
  readonly lease: Lease;
  readonly signal: AbortSignal;
}

/** Search, restricted to the paths that the call has declared to read. It works only while the call lives. */
function grantSearch({ ready, settings, lease, signal }: SearchGrant): ToolSearch {
  function require(path: string): void {
    lease.require(`search "${path}"`);
    if (settings.outputs.owns(path)) {
      throw new ToolError(
        'sandbox_violation',
        `Cannot search "${path}": it is a kept output, and no directory. Read it with read_file, by start_line and end_line or by offset and limit.`,
        { details: { reason: 'ReadOnlyOutput', attempted: path, access: 'read' } },
      );
    }
    const asked = settings.sandbox.resolve(path, 'read');
    const granted = ready.effects.some(
      ({ effect, at }) =>
        grantsEverything(effect) ||
        (effect.kind === 'read' && at !== undefined && settings.covers(at, asked)),
    );
    if (granted) return;
    throw new ToolError(
      'sandbox_violation',
      `Cannot search "${path}": ${ready.tool.name} did not declare it.`,
      {
        hint: "Declare { kind: 'read', path } in the effects of the tool.",
        details: { reason: 'UndeclaredEffect', attempted: path, access: 'read' },
      },
    );
  }

  return {
    async files(request) {
      require(request.path);
      return lease.holdProcess(settings.search.files(request, signal));
    },
    async text(request) {
      require(request.path);
      return lease.holdProcess(settings.search.text(request, signal));
    },
  };
}
