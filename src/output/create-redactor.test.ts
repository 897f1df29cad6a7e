import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteRedactor, createOutputPipe, createRedactor } from './create-redactor.js';
import { redact } from './redact.js';

const VALUES = ['aabaab', 'abaabaa', 'baabaabb', 'zz[REDA', 'ED]zzzz', 'long-value-1', 'value-1-long'];

function inPieces(text: string, at: readonly number[], values: readonly string[]): string {
  const redactor = createRedactor(values);
  const places = [0, ...at.map((place) => Math.min(place, text.length)).sort((a, b) => a - b), text.length];
  let out = '';
  for (let index = 1; index < places.length; index++)
    out += redactor.push(text.slice(places[index - 1], places[index]));
  return out + redactor.end();
}

describe('createRedactor', () => {
  it('hides a value that comes in pieces', () => {
    const redactor = createRedactor(['hunter2-hunter2']);
    const out =
      ['pass hunt', 'er2-hun', '', 'ter2 done'].map((chunk) => redactor.push(chunk)).join('') +
      redactor.end();
    expect(out).toBe('pass [REDACTED] done');
  });

  it('holds back only what may be the beginning of a value', () => {
    const redactor = createRedactor(['hunter2-hunter2', `key-${'k'.repeat(2000)}z`]);
    expect(redactor.push('Password: ')).toBe('Password: ');
    expect(redactor.push('the hunter and ke')).toBe('the hunter and ');
    expect(redactor.push('ys, hunter2-')).toBe('keys, ');
    expect(redactor.end()).toBe('hunter2-');
  });

  it('passes everything at once when there is nothing to hide', () => {
    const redactor = createRedactor(['abc', 'true']);
    expect(redactor.push('abc true')).toBe('abc true');
    expect(redactor.end()).toBe('');
  });

  it('hides each line of a value with several lines, indented or not, but no short line and no armour', () => {
    const armour = ['-----BEGIN X KEY-----', '-----END X KEY-----'];
    const value = [
      armour[0],
      'line-one-of-key',
      '  line-two-of-key\r',
      'lineof8c',
      'lineof7',
      armour[1],
    ].join('\n');
    const clean = (text: string): string => redact(text, { values: [value], rules: false });
    expect(clean(`1: line-one-of-key\n2: line-two-of-key\n3: lineof8c\n4: lineof7`)).toBe(
      '1: [REDACTED]\n2: [REDACTED]\n3: [REDACTED]\n4: lineof7',
    );
    expect(clean(armour.join(' '))).toBe(armour.join(' '));
    expect(clean(`<${value}>`)).toBe('<[REDACTED]>');
    const resembling = `${armour[0]}!\nx${armour[1]}\n-----BEGIN a-----`;
    expect(redact(resembling.replaceAll('\n', ' '), { values: [resembling], rules: false })).toBe(
      '[REDACTED] [REDACTED] [REDACTED]',
    );
  });

  it('hides no value of blanks, of one repeated character, or within the marker, and others after its overlap', () => {
    const clean = (text: string, value: string): string => redact(text, { values: [value], rules: false });
    for (const value of [' \t \t \t ', '========', 'REDACTED', 'x[REDACTED]x', 'Password'])
      expect(clean(`a ${value} b`, value)).toBe(`a ${value} b`);
    expect(clean('my-secret[RE', 'my-secret[RE')).toBe('[REDACTED][RE');
    expect(clean('ED]my-secret', 'ED]my-secret')).toBe('ED][REDACTED]');
    expect(clean('secre1', 'secre1')).toBe('[REDACTED]');
    expect(clean('secr1', 'secr1')).toBe('secr1');
  });

  it('starts again after the end', () => {
    const redactor = createRedactor(['hunter2']);
    expect(redactor.push('hunt') + redactor.end() + redactor.push('er2') + redactor.end()).toBe('hunter2');
  });

  it('gives what the whole text gives, however it is cut', () => {
    const text = fc
      .array(
        fc.constantFrom('a', 'b', 'aab', 'baa', 'long-', 'value-1', '-long', 'zz', '[REDA', 'CTED]', ' '),
        { maxLength: 30 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(60), { maxLength: 10 }), (text, at) => {
        const whole = inPieces(text, [], VALUES);
        expect(inPieces(text, at, VALUES)).toBe(whole);
        expect(redact(text, { values: VALUES })).toBe(whole);
        expect(inPieces(whole, at, VALUES)).toBe(whole);
      }),
      { numRuns: 1000 },
    );
  });

  it('hides each of many values, as a plain search finds them', () => {
    const value = fc.string({ unit: fc.constantFrom(...'abcXY01é日'), minLength: 6, maxLength: 20 });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 40 }),
        fc.string({ unit: 'binary' }),
        (values, filler) => {
          const text = values.join(filler);
          const clean = inPieces(text, [], values);
          for (const hidden of values) if (new Set(hidden).size > 1) expect(clean).not.toContain(hidden);
        },
      ),
    );
  });
});

function redactAll(values: readonly string[], chunks: readonly Uint8Array[]): Buffer {
  const redactor = createByteRedactor(values);
  return Buffer.concat([...chunks.map((chunk) => redactor.push(chunk)), redactor.end()]);
}

it('hides a value wherever it is cut, even one beyond ASCII', () => {
  const value = 'geheim-ключ-значение';
  const whole = Buffer.from(`a ${value} z`);
  for (let at = 0; at <= whole.length; at++) {
    expect(redactAll([value], [whole.subarray(0, at), whole.subarray(at)]).toString()).toBe('a [REDACTED] z');
  }
});

it('leaves all other bytes unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
      expect(redactAll(['a-value-of-some-length'], chunks)).toEqual(Buffer.concat(chunks));
    }),
  );
});

it('copies nothing where there are no values', () => {
  const bytes = Buffer.from('no such thing in here');
  const redactor = createByteRedactor([]);
  expect(redactor.push(bytes)).toBe(bytes);
  expect(redactor.end()).toEqual(new Uint8Array());
});

it('copies nothing where there is nothing to hide', () => {
  const bytes = Buffer.from('no such thing in here');
  expect(createByteRedactor(['xyz-xyz-xyz']).push(bytes)).toBe(bytes);
});

describe('createOutputPipe', () => {
  it('neutralises, then hides values, over chunk borders', () => {
    const pipe = createOutputPipe(['hunter2-hunter2']);
    const chunks = ['a hunter', '2-\x1b[3', '1mhun', Buffer.from('ter2 \xe9'), 'b\r'];
    expect(chunks.map((chunk) => pipe.push(chunk)).join('') + pipe.end()).toBe('a [REDACTED] éb\n');
  });
});
