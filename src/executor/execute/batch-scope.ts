import type { ConversationMemory } from '../../contract/context.js';
import type { BatchMessage, CallRecord } from '../../contract/journal.js';
import type { JsonObject } from '../../contract/json.js';
import type { Observer } from '../events/observer.js';
import type { Recovery } from '../recover/recovery.js';
import type { EngineSettings } from '../settings.js';

/** What the calls of one batch have in common (FR-REG-05). */
export interface BatchScope {
  readonly id: string;
  readonly settings: EngineSettings;
  readonly conversation: string;
  readonly memory: ConversationMemory;
  readonly dryRun: boolean;
  /** Recorded with the batch, where the caller has given them. */
  readonly message: BatchMessage | undefined;
  readonly origin: JsonObject | undefined;
  /** What earlier processes have left is settled before anything of this batch is recorded. */
  readonly recovery: Pick<Recovery, 'ensure'>;
  /**
   * Its calls as they were recorded, where it was put off and is gone on with. One that was delivered before it is
   * another batch's.
   */
  readonly deferred: readonly CallRecord[] | undefined;
  /** Undefined: nobody can watch this batch. */
  readonly observer: Observer | undefined;
  /** Bytes that the model's context can still take; shrinks with every result. */
  capacityBytes: number;
}
