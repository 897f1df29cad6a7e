import type { ToolCall } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import type { Recorder } from '../record/recorder.js';
import type { BatchScope } from './batch-scope.js';
import type { StopSwitch } from './stop-switch.js';

/** What one batch is made of. */
export interface BatchParts {
  readonly calls: readonly ToolCall[];
  readonly scope: BatchScope;
  readonly options: RunOptions;
  /** Undefined: nothing of it is recorded. */
  readonly recorder: Recorder | undefined;
  readonly stopping: StopSwitch;
}
