import { writeNative } from '../native/write-native.js';
import type { RawCall } from '../raw-call.js';
import type { WireProtocol } from '../wire-protocol.js';
import { createFenceAssembler } from './fence-assembler.js';
import { isProse } from './is-prose.js';

/** Prose with ```tool blocks in; our own result objects out, since text has no place for results. */
export const fencedProtocol: WireProtocol<'fenced'> = {
  recognises: (input) => typeof input === 'string' && isProse(input),
  idOf: () => undefined,
  read: (input) => readFences(input),
  write: (results) => writeNative(results),
  createAssembler: () => createFenceAssembler(),
};

/** The text is a stream that comes in one piece. */
export function readFences(text: unknown, labels?: readonly string[]): readonly RawCall[] {
  const assembler = createFenceAssembler(labels);
  return [...assembler.push(text), ...assembler.end()];
}
