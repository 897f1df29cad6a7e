import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { SearchLine } from '../contract/search.js';
import { createPathSplitter, toBytes, toText } from './byte-path.js';
import { createResultParser, type ResultSink } from './parse-results.js';
import { Smallest } from './smallest.js';

function cutAnywhere(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

it('the smallest are kept, and all are counted', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ unit: 'binary-ascii' }), { maxLength: 900 }),
      fc.integer({ min: 1, max: 40 }),
      (texts, capacity) => {
        const smallest = new Smallest(capacity);
        for (const text of texts) {
          if (smallest.isBeyond(text.slice(0, 1))) smallest.pass();
          else smallest.add(text);
        }
        expect(smallest.sorted()).toEqual([...texts].sort().slice(0, capacity));
        expect(smallest.count).toBe(texts.length);
      },
    ),
  );
});

it('paths come out whole, however their bytes are cut', () => {
  const paths = ['./a', './dir/ü', './new\nline', './\x80\xff/x'].map((path) => Buffer.from(path, 'latin1'));
  const stream = Buffer.concat(paths.flatMap((path) => [path, Buffer.of(0)]));
  fc.assert(
    fc.property(fc.array(fc.nat()), (cuts) => {
      const met: Buffer[] = [];
      const split = createPathSplitter((text, from, _slash, end) => met.push(toBytes(text.slice(from, end))));
      for (const chunk of cutAnywhere(stream, cuts)) split(chunk);
      expect(met).toEqual(paths);
    }),
  );
});

it('names that are not UTF-8 are shown with replacement marks', () => {
  expect(toText(Buffer.from([0x61, 0xff]).toString('latin1'))).toBe('a\ufffd');
  expect(toText(Buffer.from('日本').toString('latin1'))).toBe('日本');
});

it('results come out whole, however the output is cut', () => {
  const output = Buffer.from(
    [
      '/dev/fd/3\x001:grün: 2-x\n',
      '/dev/fd/3\x002-context\r\n',
      '\0\n',
      '/dev/fd/3\x0010:\n',
      '/dev/fd/4: binary file matches (found "\\0" byte around offset 8)\n',
      '/dev/fd/5\x007:last\n',
    ].join(''),
  );
  fc.assert(
    fc.property(fc.array(fc.nat()), (cuts) => {
      const met: (string | SearchLine)[] = [];
      const sink: ResultSink = {
        file: () => met.push('file'),
        line: (name, line) => met.push(name, line),
        gap: () => met.push('gap'),
        binary: (name) => met.push(`binary ${name}`),
        overflow: () => met.push('overflow'),
      };
      const parse = createResultParser('lines', sink);
      for (const chunk of cutAnywhere(output, cuts)) parse(chunk);
      expect(met).toEqual([
        '/dev/fd/3',
        { kind: 'match', number: 1, text: 'grün: 2-x' },
        '/dev/fd/3',
        { kind: 'context', number: 2, text: 'context' },
        'gap',
        '/dev/fd/3',
        { kind: 'match', number: 10, text: '' },
        'binary /dev/fd/4',
        '/dev/fd/5',
        { kind: 'match', number: 7, text: 'last' },
      ]);
    }),
  );
});

it('a record without an end is not waited for', () => {
  let overflows = 0;
  const ignore = (): void => {};
  const parse = createResultParser('lines', {
    ...{ file: ignore, line: ignore, gap: ignore, binary: ignore },
    overflow: () => {
      overflows++;
    },
  });
  for (let chunk = 0; chunk < 5; chunk++) parse(Buffer.alloc(1024 * 1024, 'x'));
  expect(overflows).toBeGreaterThan(0);
});
