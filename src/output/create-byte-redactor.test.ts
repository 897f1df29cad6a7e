import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createByteRedactor } from './create-byte-redactor.js';

function redactAll(values: readonly string[], chunks: readonly Uint8Array[]): Buffer {
  const redactor = createByteRedactor(values);
  return Buffer.concat([...chunks.map((chunk) => redactor.push(chunk)), redactor.end()]);
}

it('hides a value wherever it is cut, also one beyond ASCII', () => {
  const value = 'geheim-ключ-значение';
  const whole = Buffer.from(`a ${value} z`);
  for (let at = 0; at <= whole.length; at++) {
    expect(redactAll([value], [whole.subarray(0, at), whole.subarray(at)]).toString()).toBe('a [REDACTED] z');
  }
});

it('leaves all other bytes as they are', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
      expect(redactAll(['a-value-of-some-length'], chunks)).toEqual(Buffer.concat(chunks));
    }),
  );
});

it('copies nothing where there is nothing to hide', () => {
  const bytes = Buffer.from('no such thing in here');
  expect(createByteRedactor(['xyz-xyz-xyz']).push(bytes)).toBe(bytes);
});
