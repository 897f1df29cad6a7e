import type { AskedCall, RawCall } from '../raw-call.js';
import { describeValue, isRecord } from '../unknown-value.js';

/** Whether input is a call in our own format, or a list with one. */
export function isNative(input: unknown): boolean {
  return Array.isArray(input) ? input.length === 0 || input.some(isNativeCall) : isNativeCall(input);
}

/** Reads a call in our own format; anything but an object is an unreadable call. */
export function toNativeCall(value: unknown): RawCall {
  if (!isRecord(value)) {
    return { problem: `it is ${describeValue(value)}, one object {"name", "args"} was expected.` };
  }
  const { id, name, args, reason } = value;
  return { id, name, args, reason, argsField: 'args' } satisfies AskedCall;
}

export function readNative(input: unknown): readonly RawCall[] {
  return (Array.isArray(input) ? input : [input]).map(toNativeCall);
}

export function isNativeCall(value: unknown): boolean {
  return isRecord(value) && ('args' in value || ('name' in value && !('type' in value)));
}
