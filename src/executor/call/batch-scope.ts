import type { ShownFile } from '../../contract/approval.js';
import type { ConversationMemory } from '../../contract/context.js';
import type { BatchMessage, CallRecord } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { Observer } from '../events/observer.js';
import type { EngineSettings } from './settings.js';

/** What the calls of one batch have in common (D032). */
export interface BatchScope {
  readonly id: string;
  readonly settings: EngineSettings;
  readonly conversation: string;
  readonly memory: ConversationMemory;
  readonly dryRun: boolean;
  /** Recorded with the batch, where the caller has given them. */
  readonly message: BatchMessage | undefined;
  readonly origin: JsonObject | undefined;
  /**
   * For a deferred batch that is gone on with: its calls as recorded. A call that an earlier batch delivered first
   * belongs to that batch.
   */
  readonly deferred:
    | {
        readonly calls: readonly CallRecord[];
        /** What the person saw, where the caller says so. */
        readonly shown: readonly ShownFile[];
      }
    | undefined;
  /** Undefined: the batch has no reader for its events. */
  readonly observer: Observer | undefined;
  /** Bytes that the model's context can still take; shrinks with every result. */
  capacityBytes: number;
}
