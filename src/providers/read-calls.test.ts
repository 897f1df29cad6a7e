import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCalls } from './read-calls.js';
import type { ReadCalls } from './response-calls.js';

const FENCED = '```tool\n{"name":"bash","args":{"command":"ls"}}\n```';

/** The invariants of every answer, whatever the input. */
function expectSound(read: ReadCalls): void {
  const ids = new Set(read.errors.map((error) => error.index));
  expect(ids.size).toBe(read.errors.length);
  if (read.shape === 'unknown') {
    expect(read).toMatchObject({ format: 'native', calls: [], errors: [{ index: 0 }] });
    return;
  }
  for (const { index, id } of read.errors) {
    expect(index).toBeLessThan(read.calls.length + read.errors.length);
    expect(id).toBeTypeOf('string');
  }
  for (const call of read.calls) {
    expect(call.id).not.toBe('');
    expect(call.name).not.toBe('');
    expect(call.args).toBeTypeOf('object');
    expect(Array.isArray(call.args)).toBe(false);
  }
}

describe('readCalls() of text', () => {
  it.each([
    ['prose', 'I am done.'],
    ['prose that begins with a bracket', '[Note] I am done.'],
    ['prose that begins with a lower-case word in brackets', '[thinking] done'],
    ['prose that begins with a quote', '"Sure", she said.'],
    ['prose that was printed as a JSON string', '"I am done.\\nBye."'],
    ['prose that is a number and more', '42 is the answer'],
  ])('takes %s for a response without a call', (_, text) => {
    expect(readCalls(text)).toEqual({
      format: 'fenced',
      calls: [],
      errors: [],
      shape: 'known',
      answer: expect.any(Function),
    });
    expect(readCalls(`${text}\n${FENCED}`)).toMatchObject({ format: 'fenced', calls: [{ id: 'call_0' }] });
  });

  it('answers a block that is not a call in its place', () => {
    const read = readCalls(`${FENCED}\n\`\`\`tool\n{}\n\`\`\`\n${FENCED}\n\`\`\`tool\n{`);
    expect(read.calls.map(({ id }) => id)).toEqual(['call_0', 'call_2']);
    expect(read.errors.map(({ index, id }) => [index, id])).toEqual([
      [1, 'call_1'],
      [3, 'call_3'],
    ]);
  });

  it.each([
    ['{"name":"bash","args":{},}', 'line 1, column 26'],
    ['{\n  "name": "bash",\n  "args": {"a" 1}\n}', 'line 3, column 16'],
    ['[{"name":"bash","args":{}}', 'line 1, column 27'],
    ['{name: "bash"}', 'line 1, column 2'],
    ['[\n', 'line 2, column 1'],
    ['{"id":"a","id":"b","name":"bash","args":{}}', 'line 1, column 11: the key "id" is given twice'],
    ['{"name":"bash","args":{"__proto__":{}}}', 'the key "__proto__" is not allowed'],
    ['\ufeff{"name":"bash","args":{}}', 'byte order mark'],
    [`{"name":"w","args":{"c":"\n${FENCED}\n"}}`, 'a raw line end inside a string'],
    [`[{"name":"w","args":{"c":"\n${FENCED}\n"}}]`, 'a raw line end inside a string'],
  ])('refuses the broken JSON %j and says where it breaks', (text, place) => {
    const read = readCalls(text);
    expect(read).toMatchObject({ format: 'native', calls: [], shape: 'unknown', errors: [{ index: 0 }] });
    expect(read.errors[0]?.message).toMatch(
      /^Cannot read the input: it begins like JSON but is not JSON: line \d+/,
    );
    expect(read.errors[0]?.message).toContain(place);
  });

  it.each([
    ['nothing', ''],
    ['blanks', ' \n\t'],
    ['binary', 'ab\0cd'],
    ['a literal', 'null'],
    ['an error page', '<html>502</html>'],
    ['a whole error page', '\n<!DOCTYPE html>\n<html><body>Bad gateway</body></html>'],
    ['a number', '42'],
    ['a call that was encoded twice', '"{\\"name\\":\\"bash\\",\\"args\\":{}}"'],
    ['an object of another kind', '{"foo":1}'],
    ['an empty object', '{}'],
    ['numbers', '[1,2]'],
    ['a message list', '[{"role":"user","content":"hi"}]'],
    ['a request', '{"model":"m","messages":[{"role":"user","content":"hi"}]}'],
  ])('says of %s that it has no known shape', (_, text) => {
    const read = readCalls(text);
    expect(read).toMatchObject({ format: 'native', calls: [], shape: 'unknown', errors: [{ index: 0 }] });
    expect(read.errors[0]?.id).toBeUndefined();
    expect(read.errors[0]?.message).toContain('was expected');
  });
});

describe('readCalls() of anything', () => {
  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['a bigint', 5n],
    ['a symbol', Symbol('x')],
    ['a function', () => 1],
    ['bytes', new Uint8Array([1])],
    ['a date', new Date(0)],
  ])('says of %s that it has no known shape', (_, input) => {
    expect(readCalls(input)).toMatchObject({
      format: 'native',
      calls: [],
      shape: 'unknown',
      errors: [{ index: 0 }],
    });
  });

  it('copies the arguments: later changes by the caller do not reach the call', () => {
    const args = { deep: { list: [1] } };
    const { calls } = readCalls({ name: 'x', args });
    args.deep.list.push(2);
    expect(calls[0]?.args).toEqual({ deep: { list: [1] } });
  });

  it('does not let arguments pollute a prototype', () => {
    const polluted = JSON.parse('{"name":"x","args":{"a":{"__proto__":{"polluted":true}}}}');
    expect(readCalls(polluted)).toMatchObject({
      calls: [],
      errors: [{ message: expect.stringContaining('__proto__') }],
    });
    const own = readCalls(JSON.parse('{"name":"x","args":{"constructor":{"prototype":{"polluted":true}}}}'));
    expect(own.calls).toHaveLength(1);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    [
      'a cycle',
      () => {
        const args: { self?: unknown } = {};
        args.self = args;
        return args;
      },
      'nested deeper than 64',
    ],
    [
      'too many values',
      () => ({ list: Array.from({ length: 100_001 }, () => 0) }),
      'more than 100000 values',
    ],
    [
      'a shared object, doubled forty times',
      () => {
        let value: unknown = 1;
        for (let depth = 0; depth < 40; depth++) value = [value, value];
        return { value };
      },
      'more than 100000 values',
    ],
    ['a huge sparse array', () => ({ list: Object.assign([], { length: 4_000_000_000 }) }), 'missing'],
    ['NaN', () => ({ n: Number.NaN }), 'the number NaN'],
    ['Infinity', () => ({ n: Number.POSITIVE_INFINITY }), 'the number Infinity'],
    ['a bigint', () => ({ n: 1n }), 'a bigint'],
    ['a function', () => ({ toJSON: () => 1 }), 'a function'],
    ['a date', () => ({ at: new Date(0) }), 'not plain JSON'],
    ['a map', () => new Map(), 'not plain JSON'],
    ['half a character', () => ({ text: 'x\ud800' }), 'half of a surrogate pair'],
    [
      'a getter that throws',
      () => ({
        get a() {
          throw new Error('boo');
        },
      }),
      'boo',
    ],
  ])('refuses arguments with %s', (_, make, words) => {
    const start = performance.now();
    const read = readCalls({ id: 'a', name: 'x', args: make() });
    expect(read).toMatchObject({ calls: [], shape: 'known', errors: [{ index: 0, id: 'a', name: 'x' }] });
    expect(read.errors[0]?.message).toContain(words);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('leaves out members that are undefined, as JSON does', () => {
    expect(readCalls({ name: 'x', args: { a: undefined, b: 1 } }).calls).toEqual([
      { id: 'call_0', name: 'x', args: { b: 1 }, madeUp: true },
    ]);
  });

  it('answers for input that throws when it is looked at', () => {
    const trap = () => {
      throw new Error('do not touch');
    };
    const hostile = new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap });
    expect(readCalls(hostile)).toMatchObject({
      shape: 'unknown',
      errors: [{ message: expect.stringContaining('do not touch') }],
    });
    expect(() => readCalls([{ name: 'x', args: hostile }])).not.toThrow();
    expect(() => readCalls({ role: 'assistant', content: [hostile] })).not.toThrow();
  });

  const words =
    'id name args reason type role content input tool_calls function arguments choices message output object call_id candidates parts functionCall stop_reason';
  const key = fc.constantFrom(...words.split(' '));
  const leaf = fc.oneof(
    fc.constantFrom(
      'assistant',
      'tool_use',
      'function_call',
      'message',
      'text',
      'model',
      'bash',
      'max_tokens',
      '{}',
      '{"a":',
    ),
    fc.constantFrom('', null, undefined, 0, true),
    fc.string(),
  );
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      leaf,
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(key, tie('node'), { maxKeys: 6 }),
    ),
  }));

  it('never throws, and keeps every position, for anything in the words of the formats', () => {
    fc.assert(
      fc.property(node, (input) => {
        expectSound(readCalls(input));
        const text = JSON.stringify(input);
        if (text !== undefined) expectSound(readCalls(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws for any value or any text', () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withSparseArray: true,
          withTypedArray: true,
          withObjectString: true,
        }),
        (input) => expectSound(readCalls(input)),
      ),
    );
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expectSound(readCalls(text))));
    const start = fc.constantFrom(
      '{',
      '[',
      '[{"',
      '"',
      '-',
      '```tool\n',
      '{"name":"x","args":',
      '[true',
      '\ufeff',
    );
    fc.assert(fc.property(start, fc.string(), (head, rest) => expectSound(readCalls(head + rest))));
  });

  it.each([
    ['deep arrays', '['.repeat(1_000_000)],
    ['a quote without an end', `"${'\\"'.repeat(500_000)}`],
    ['blanks after a bracket', `[${' '.repeat(1_000_000)}x`],
    ['many calls', `[${'{"name":"x","args":{}},'.repeat(40_000)}{}]`],
    ['digits', '9'.repeat(1_000_000)],
    ['dashes and blanks', '- '.repeat(500_000)],
  ])('reads a megabyte of %s within seconds', (_, text) => {
    const start = performance.now();
    expectSound(readCalls(text));
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
