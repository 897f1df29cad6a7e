import type { JsonObject } from '../../contract/json.js';
import type { PreviewRole } from '../call/batch-scope.js';
import type { CallHandles, CallParts } from './tool-context.js';

/** The one place where a tool is run. */
export function runTool(parts: CallParts, handles: CallHandles): unknown {
  const { ready, scope } = parts;
  const { tool, parsed } = ready;
  if (scope.preview === undefined) return tool.execute(parsed, handles.context);
  return previewTool(parts, handles, scope.preview);
}

// Apart: a function that closes over the call would cost every call an object.
function previewTool(
  { ready, index, recorder }: CallParts,
  handles: CallHandles,
  preview: PreviewRole,
): unknown {
  const note = async (data: JsonObject): Promise<void> => recorder?.noted(index, 'process', data);
  const call = { index, ready, signal: handles.signal, note };
  return preview.run(call, () => ready.tool.execute(ready.parsed, handles.context));
}

/** A promise of the tool's own making counts too. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}

/** A promise of our own, which calls back once and never throws. */
export function follow(running: PromiseLike<unknown>): Promise<unknown> {
  return Promise.resolve(running);
}

/** The tool's own listeners run in here. */
export function abort(handles: CallHandles, reason: Error): void {
  handles.abort(reason);
}
