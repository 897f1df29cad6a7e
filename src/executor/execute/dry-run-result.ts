import type { ToolResult } from '../../contract/result.js';
import type { ReadyCall } from '../plan/judged-call.js';

/** What a dry run answers for a call that would change something: nothing ran, nobody was asked. */
export function dryRunResult(ready: ReadyCall): ToolResult {
  return {
    callId: ready.call.id,
    toolName: ready.call.name,
    success: true,
    output: `[Dry Run] ${ready.summary}`,
    truncated: false,
    executionTimeMs: 0,
    metadata: { dry_run: true },
  };
}
