import type { ToolDefinition } from '../../contract/tool.js';
import type { Provider } from '../provider.js';
import { nativeHistory } from './history.js';
import { isNative, isNativeCall, readNative } from './read.js';
import { nativeTurns } from './turns.js';
import { type NativeResult, writeNative } from './write.js';

/** Reads `{"id","name","args","reason?"}` or an array of them; writes an array of result objects. */
export const native = {
  recognizes: isNative,
  // An id here belongs to a call.
  idOf: () => undefined,
  read: readNative,
  textOf: () => '',
  createAssembler: () => ({ push: readNative, end: () => [] }),
  // A provider's stream may contain other events; a list of our calls may not.
  recognizesStream: (events) => events.length > 0 && events.every(isNativeCall),
  write: (results) => writeNative(results),
  describe: (tools) => [...tools],
  history: nativeHistory,
  turns: nativeTurns,
} satisfies Provider<NativeResult[], ToolDefinition[]>;
