import { describeValue } from '../describe-value.js';
import { isRecord } from '../is-record.js';
import type { AskedCall, RawCall } from '../raw-call.js';
import type { WireProtocol } from '../wire-protocol.js';
import { writeNative } from './write-native.js';

/** `{"id","name","args","reason?"}` or an array of them in; an array of result objects out. */
export const nativeProtocol: WireProtocol<'native'> = {
  recognises: (input) =>
    Array.isArray(input) ? input.length === 0 || input.some(isNativeCall) : isNativeCall(input),
  // An id here is a call's.
  idOf: () => undefined,
  read: readNative,
  write: (results) => writeNative(results),
  createAssembler: () => ({ push: readNative, end: () => [] }),
  recognisesEvent: isNativeCall,
};

/** A call object of our own shape; anything that is no object is a call that cannot be read. */
export function toNativeCall(value: unknown): RawCall {
  if (!isRecord(value)) {
    return { problem: `it is ${describeValue(value)}, one object {"name", "args"} was expected.` };
  }
  const { id, name, args, reason } = value;
  return { id, name, args, reason, argsField: 'args' } satisfies AskedCall;
}

function readNative(input: unknown): readonly RawCall[] {
  return (Array.isArray(input) ? input : [input]).map(toNativeCall);
}

function isNativeCall(value: unknown): boolean {
  return isRecord(value) && ('args' in value || ('name' in value && !('type' in value)));
}
