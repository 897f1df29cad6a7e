import type { ContextLimits, ConversationMemory, ToolContext } from '../../contract/context.js';
import type { ChangeOptions, ContainedFiles } from '../../contract/files.js';
import type { Logger } from '../../contract/logger.js';
import type { ToolProcesses } from '../../contract/processes.js';
import type { ToolSearch } from '../../contract/search.js';
import type { EngineSettings } from '../settings.js';
import type { BatchScope } from './batch-scope.js';
import type { CallParts } from './call-parts.js';
import { grantFiles } from './grant-files.js';
import { grantProcesses } from './grant-processes.js';
import { grantSearch } from './grant-search.js';
import { Lease } from './lease.js';
import { LiveOutput } from './live-output.js';

/**
 * The world as one call sees it. Made anew for every call; what a tool never asks for is never made, because most
 * calls need little of it (FR-REG-04, FR-REG-04a).
 */
export class CallContext implements ToolContext {
  readonly callId: string;
  readonly #parts: CallParts;
  /** Dies with the call. */
  readonly lease = new Lease();
  #controller: AbortController | undefined;
  #abortedWith: Error | undefined;
  #files: ContainedFiles | undefined;
  #processes: ToolProcesses | undefined;
  #search: ToolSearch | undefined;
  #live: LiveOutput | undefined;
  #emit: ToolContext['emit'] | undefined;
  #limits: ContextLimits | undefined;

  constructor(parts: CallParts) {
    this.callId = parts.ready.call.id;
    this.#parts = parts;
  }

  get #scope(): BatchScope {
    return this.#parts.scope;
  }

  get #settings(): EngineSettings {
    return this.#scope.settings;
  }

  get cwd(): string {
    return this.#settings.sandbox.cwd;
  }

  get dryRun(): boolean {
    return this.#scope.dryRun;
  }

  get idempotencyKey(): string {
    return this.#parts.owner.idempotencyKey(this.#parts);
  }

  get logger(): Logger {
    return this.#settings.logger;
  }

  get memory(): ConversationMemory {
    return this.#scope.memory;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortedWith !== undefined) this.#controller.abort(this.#abortedWith);
    }
    return this.#controller.signal;
  }

  get limits(): ContextLimits {
    this.#limits ??= Object.freeze({
      maxOutputBytes: this.#settings.maxOutputBytes,
      availableCapacityBytes: this.#scope.capacityBytes,
      maxApplyPatchBytes: this.#settings.limits.maxApplyPatchBytes,
      maxFileReadBytes: this.#settings.limits.maxFileReadBytes,
      maxReadFileScanBytes: this.#settings.limits.maxReadFileScanBytes,
    });
    return this.#limits;
  }

  get files(): ContainedFiles {
    this.#files ??= grantFiles(this.#parts.ready, this.#settings, this.lease, this.#intend());
    return this.#files;
  }

  #intend(): ChangeOptions['intend'] {
    const parts = this.#parts;
    const { intend } = parts.owner;
    return intend === undefined ? undefined : (intent) => intend(parts, intent);
  }

  get search(): ToolSearch {
    this.#search ??= grantSearch({
      ready: this.#parts.ready,
      settings: this.#settings,
      lease: this.lease,
      signal: this.signal,
    });
    return this.#search;
  }

  get processes(): ToolProcesses {
    this.#processes ??= grantProcesses({
      ready: this.#parts.ready,
      settings: this.#settings,
      lease: this.lease,
      signal: this.signal,
      note: (data) => this.#parts.owner.noteProcess(this.#parts, data),
      live: this.#scope.observer === undefined ? undefined : this.#output(),
    });
    return this.#processes;
  }

  // A function of its own, because tools take their context apart: `({ emit }) => emit(text)`.
  get emit(): ToolContext['emit'] {
    this.#emit ??= (text, stream) => {
      if (this.#scope.observer === undefined || !this.lease.alive) return undefined;
      return this.#output().push(stream === 'stderr' ? 'stderr' : 'stdout', text);
    };
    return this.#emit;
  }

  abort(reason: Error): void {
    this.#abortedWith ??= reason;
    this.#controller?.abort(reason);
  }

  /** The last of the live output, then nothing more: the call is answered. */
  close(): void {
    this.lease.end();
    this.#live?.end();
  }

  #output(): LiveOutput {
    this.#live ??= new LiveOutput(this.#parts.ready.call, this.#scope);
    return this.#live;
  }
}
