import type { JsonObject } from '../../contract/json.js';
import type { CallHandles, CallParts } from './tool-context.js';

/** The only place where a tool is run. */
export function runTool(parts: CallParts, handles: CallHandles): unknown {
  const { ready, index, scope, recorder } = parts;
  const { tool, parsed } = ready;
  if (scope.preview === undefined) return tool.execute(parsed, handles.context);
  const note = async (data: JsonObject): Promise<void> => recorder?.noted(index, 'process', data);
  const call = { index, ready, signal: handles.signal, note };
  return scope.preview.run(call, () => tool.execute(parsed, handles.context));
}
