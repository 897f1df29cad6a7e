import type { ToolDefinition } from '../../contract/tool.js';
import type { Provider } from '../provider.js';
import { nativeHistory } from './history.js';
import { isNative, isNativeCall, readNative } from './read.js';
import { type NativeResult, writeNative } from './write.js';

/** `{"id","name","args","reason?"}` or an array of them in; an array of result objects out. */
export const native = {
  recognizes: isNative,
  // An id here is a call's.
  idOf: () => undefined,
  read: readNative,
  textOf: () => '',
  createAssembler: () => ({ push: readNative, end: () => [] }),
  // A provider's stream may hold events of other kinds; a line among calls of ours may not.
  recognizesStream: (events) => events.length > 0 && events.every(isNativeCall),
  write: (results) => writeNative(results),
  describe: (tools) => [...tools],
  history: nativeHistory,
} satisfies Provider<NativeResult[], ToolDefinition[]>;
