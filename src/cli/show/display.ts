import type { ToolEvent } from '../../contract/executor.js';

/** What is seen on standard error while a batch runs. */
export interface Display {
  event(event: ToolEvent): void;
  /** Something to know about the whole. */
  note(message: string): void;
  /** Leaves the screen as it is to stay. */
  end(): void;
}
