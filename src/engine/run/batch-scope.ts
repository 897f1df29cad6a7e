import type { ConversationMemory } from '../../contract/context.js';
import type { Observer } from '../events/observer.js';
import type { EngineSettings } from '../settings.js';

/** What the calls of one batch have in common (FR-REG-05). */
export interface BatchScope {
  readonly id: string;
  readonly settings: EngineSettings;
  readonly conversation: string;
  readonly memory: ConversationMemory;
  readonly dryRun: boolean;
  /** Undefined: nobody can watch this batch. */
  readonly observer: Observer | undefined;
  /** Bytes that the model's context can still take; shrinks with every result. */
  capacityBytes: number;
}
