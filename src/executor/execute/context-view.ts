import type { ContextLimits, ConversationMemory, Logger, ToolContext } from '../../contract/context.js';
import type { ContainedFiles } from '../../contract/files.js';
import type { ToolHttp } from '../../contract/http.js';
import type { ToolSearch } from '../../contract/search.js';
import type { ToolProcesses } from '../../contract/tool-processes.js';
import type { BatchScope } from '../call/batch-scope.js';
import type { ReadyCall } from '../call/evaluated-call.js';

/** The values behind a view, which the executor creates when the tool asks for them. */
interface ContextSource
  extends Pick<
    ToolContext,
    | 'idempotencyKey'
    | 'signal'
    | 'limits'
    | 'files'
    | 'search'
    | 'http'
    | 'processes'
    | 'emit'
    | 'ask'
    | 'agents'
  > {
  readonly parts: { readonly ready: Pick<ReadyCall, 'call'>; readonly scope: BatchScope };
  readonly trace: NonNullable<ToolContext['trace']>;
}

/**
 * The view that a tool gets. Its handles are getters on a frozen prototype, which costs 0.04 µs a call; an
 * object literal with its own getters costs 2 µs.
 */
export class ContextView implements ToolContext {
  readonly #handles: ContextSource;
  readonly callId: string;
  readonly dryRun: boolean;

  constructor(handles: ContextSource) {
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
