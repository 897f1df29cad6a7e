import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eachOf } from '../../testing/fixtures/each-of.js';
import { createCallStream } from '../create-call-stream.js';
import { parseToolBlocks } from './parse-tool-blocks.js';

const LS = '{"name": "bash", "args": {"command": "ls"}}';
const ls = { id: 'call_0', name: 'bash', args: { command: 'ls' }, madeUp: true };

/** The result of a stream for a text cut at some places. */
function streamed(pieces: readonly string[]) {
  const stream = createCallStream('fenced');
  const perPiece = pieces.map((piece) => stream.push(piece));
  const end = stream.end();
  expect(end.calls.slice(0, perPiece.flat().length)).toEqual(perPiece.flat());
  return { perPiece, calls: end.calls, errors: end.errors };
}

describe('parseToolBlocks()', () => {
  it.each([
    ['a block after prose', `I will list:\n\`\`\`tool\n${LS}\n\`\`\``],
    ['a block that is all', `\`\`\`tool\n${LS}\n\`\`\`\n`],
    ['CRLF', `Hi\r\n\`\`\`tool\r\n${LS}\r\n\`\`\`\r\n`],
    ['blank lines around the JSON', `\`\`\`tool\n\n  ${LS}\t\n\n\`\`\``],
    ['pretty-printed JSON', `\`\`\`tool\n${JSON.stringify(JSON.parse(LS), null, 2)}\n\`\`\``],
    ['text right after the closing fence', `\`\`\`tool\n${LS}\n\`\`\` and so on`],
    ['a closing fence of more backticks', `\`\`\`tool\n${LS}\n\`\`\`\`\n`],
    [
      'other blocks before it',
      `a \` b \`\` c \`\`\`x d\n\`\`\`python\nprint(1)\n\`\`\`\n\`\`\`tool\n${LS}\n\`\`\``,
    ],
    ['the lines of an unclosed other block', `\`\`\`python\nprint(1)\n\`\`\`tool\n${LS}\n\`\`\``],
  ])('finds the call in %s', (_, text) => {
    expect(parseToolBlocks(text)).toEqual({ calls: [ls], errors: [] });
  });

  it('finds several blocks in order (A023, A072)', () => {
    const second = '{"id":"mine","name":"read_file","args":{"path":"/tmp/t"},"reason":"to read"}';
    const text = `First:\n\`\`\`tool\n${LS}\n\`\`\`\nThen:\n\`\`\`tool\n${second}\n\`\`\`\ndone`;
    expect(parseToolBlocks(text).calls).toEqual([
      ls,
      { id: 'mine', name: 'read_file', args: { path: '/tmp/t' }, reason: 'to read' },
    ]);
    expect(parseToolBlocks(`\`\`\`tool\n${LS}\n\`\`\`tool\n${second}\n\`\`\``).calls).toHaveLength(2);
  });

  it.each([
    ['no block', 'Just text'],
    ['nothing', ''],
    ['JSON on the fence line', `\`\`\`tool ${LS}\n\`\`\``],
    ['another label', `\`\`\`json\n${LS}\n\`\`\``],
    ['no label', `\`\`\`\n${LS}\n\`\`\``],
    ['another case', `\`\`\`Tool\n${LS}\n\`\`\``],
    ['a longer label', `\`\`\`toolbox\n${LS}\n\`\`\``],
    ['four backticks', `\`\`\`\`tool\n${LS}\n\`\`\`\``],
    ['two backticks', `\`\`tool\n${LS}\n\`\``],
    ['tildes', `~~~tool\n${LS}\n~~~`],
    ['an opener inside a line', `go: \`\`\`tool\n${LS}\n\`\`\``],
    ['an indented opener', `  \`\`\`tool\n${LS}\n  \`\`\``],
    ['a lone CR after the opener', `\`\`\`tool\r${LS}\r\`\`\``],
  ])('takes %s for prose', (_, text) => {
    expect(parseToolBlocks(text)).toEqual({ calls: [], errors: [] });
  });

  it('is not misled by fences inside JSON strings (A028)', () => {
    const content = '```tool\n{}\n```\n```';
    const call = { name: 'write_file', args: { path: 'd.md', content, command: 'echo `date` ``x`` ```' } };
    expect(parseToolBlocks(`\`\`\`tool\n${JSON.stringify(call)}\n\`\`\``)).toEqual({
      calls: [{ id: 'call_0', ...call, madeUp: true }],
      errors: [],
    });
  });

  it.each([
    [
      'a trailing comma',
      '{"name":"bash","args":{"command":"ls"},}',
      'line 1, column 40: a key in double quotes',
    ],
    ['NaN', '{"name":"a","args":{"n":NaN}}', 'column 25: a value was expected, not "NaN"'],
    ['text after the object', `${LS} // run it`, 'text after the value'],
    ['two objects', `${LS}\n${LS}`, 'line 2, column 1: there is text after the value'],
    ['single quotes', "{'name':'bash'}", 'Use double quotes'],
    ['a key given twice', '{"name":"a","args":{},"name":"b"}', '"name" is given twice'],
    ['__proto__', '{"name":"a","args":{"__proto__":{"x":1}}}', '"__proto__" is not allowed'],
    ['no args', '{"name": "bash"}', '"args" is missing, a JSON object'],
    ['args as an array', '{"name": "bash", "args": ["ls"]}', '"args" is an array'],
    ['args as text', '{"name": "bash", "args": "{}"}', '"args" is the string "{}"'],
    ['no name', '{"args": {}}', '"name" is missing'],
    ['a number as name', '{"name": 1, "args": {}}', '"name" is the number 1'],
    ['an array of calls', `[${LS}]`, 'it is an array, one object'],
    ['a number as reason', '{"name":"a","args":{},"reason":1}', '"reason" is the number 1'],
    ['a raw line end in a string', '{"name":"a","args":{"c":"x\ny"}}', 'a raw line end inside a string'],
    ['nothing', '', 'the text ends where a value was expected'],
  ])('reports %s, and continues with the next block (A025, A073)', (_, body, words) => {
    const text = `\`\`\`tool\n${body}\n\`\`\`\n\`\`\`tool\n${LS}\n\`\`\``;
    const { calls, errors } = parseToolBlocks(text);
    expect(calls).toEqual([{ ...ls, id: 'call_1' }]);
    expect(errors).toMatchObject([{ index: 0, id: 'call_0' }]);
    expect(errors[0]?.message).toContain(words);
  });

  it('closes a block at the first fence, be it inside a string with a raw line end', () => {
    const text = '```tool\n{"name":"w","args":{"c":"a\n```\nb"}}\n```\n';
    expect(parseToolBlocks(text)).toMatchObject({ calls: [], errors: [{ index: 0 }] });
  });

  it.each([
    ['without any fence', `\`\`\`tool\n${LS}\n`],
    ['without a line end before the fence', `\`\`\`tool\n${LS}\`\`\``],
    ['with an indented fence', `\`\`\`tool\n${LS}\n \`\`\``],
    ['with two backticks', `\`\`\`tool\n${LS}\n\`\``],
    ['right after its opener', '```tool\n'],
  ])('reports a block that ends %s, and gives no call', (_, text) => {
    expect(parseToolBlocks(text)).toEqual({
      calls: [],
      errors: [
        {
          index: 0,
          id: 'call_0',
          message: 'Cannot read call 1: the text ends inside its block. Close it with a line ```.',
          unfinished: true,
        },
      ],
    });
  });
});

describe('parseToolBlocks() with labels', () => {
  const labels = ['tool', 'json', ''];

  it.each([
    ['json', `\`\`\`json\n${LS}\n\`\`\``],
    ['JSON', `\`\`\`JSON\n${LS}\n\`\`\``],
    ['Tool and blanks', `\`\`\`Tool \t\n${LS}\n\`\`\``],
    ['no label', `\`\`\`\n${LS}\n\`\`\``],
    ['no label, CRLF', `\`\`\`\r\n${LS}\r\n\`\`\`\r\n`],
    ['no label, after another block', `\`\`\`python x=1\nprint(1)\n\`\`\`\n\`\`\`\n${LS}\n\`\`\``],
    ['tool, after an unclosed block', `\`\`\`python\nprint(1)\n\`\`\`tool\n${LS}\n\`\`\``],
  ])('finds the call under %s', (_, text) => {
    expect(parseToolBlocks(text, { labels })).toEqual({ calls: [ls], errors: [] });
  });

  it('leaves blocks alone that hold something else, except under tool', () => {
    const others = '```json\n{"port": 80}\n```\n```\n$ ls\n```\n```json\n[1]\n```\n```bash\nls\n```\n';
    expect(parseToolBlocks(others, { labels })).toEqual({ calls: [], errors: [] });
    expect(parseToolBlocks(`${others}\`\`\`\n${LS}\n\`\`\``, { labels }).calls).toEqual([ls]);
    expect(parseToolBlocks('```tool\n$ ls\n```', { labels }).errors).toHaveLength(1);
    expect(parseToolBlocks('```json\n{"name":"bash"}\n```', { labels }).errors).toHaveLength(1);
    expect(parseToolBlocks('```json\n{"name":"bash",}\n```', { labels }).errors).toHaveLength(1);
  });

  it('takes the named labels and no others', () => {
    expect(parseToolBlocks(`\`\`\`tool\n${LS}\n\`\`\``, { labels: ['call'] })).toEqual({
      calls: [],
      errors: [],
    });
    expect(parseToolBlocks(`\`\`\`call\n${LS}\n\`\`\``, { labels: ['call'] }).calls).toEqual([ls]);
  });
});

describe('createCallStream("fenced")', () => {
  const text = [
    'a ` b `` c ```x d',
    '```python\nprint(1)\n```',
    `\`\`\`tool\n${LS}\n\`\`\``,
    'prose 😀 with ```tool in it',
    '```tool\r\n{"name":"w","args":{"content":"```tool\\n{}\\n```"}}\r\n```',
    '```tool\n{broken\n```',
    `\`\`\`tool\n${LS}\n\`\`\`tool\n${LS}\n\`\`\``,
    '```tool\n{"unfinished":',
  ].join('\n');
  const whole = parseToolBlocks(text);

  it('finds in the sample what the cutting tests rely on', () => {
    expect(whole.calls.map(({ id }) => id)).toEqual(['call_0', 'call_1', 'call_3', 'call_4']);
    expect(whole.errors.map(({ index }) => index)).toEqual([2, 5]);
  });

  it('gives the same, each call once, however the text is cut in two, and character by character (A026)', () => {
    for (let at = 0; at <= text.length; at++) {
      expect(streamed([text.slice(0, at), text.slice(at)])).toMatchObject(whole);
    }
    expect(streamed([...text])).toMatchObject(whole);
    expect(streamed(text.split(''))).toMatchObject(whole);
  });

  it('gives the same for any text of fences and any cuts', () => {
    const piece = fc.constantFrom(
      '```',
      '`',
      'tool',
      '\n',
      '\r\n',
      LS,
      '{',
      '"',
      'json',
      ' ',
      'x',
      '```tool\n',
      '\n```',
    );
    const labels = fc.constantFrom(undefined, ['tool', ''], ['json']);
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 25 }),
        fc.array(fc.nat(60), { maxLength: 6 }),
        labels,
        (pieces, cuts, l) => {
          const joined = pieces.join('');
          const places = [...cuts, 0, joined.length].sort((a, b) => a - b);
          const parts = places.slice(1).map((end, index) => joined.slice(places[index], end));
          expect(parts.join('')).toBe(joined);
          const { calls, errors } = streamed(parts);
          expect({ calls, errors }).toEqual(parseToolBlocks(joined));
          const options = l === undefined ? {} : { labels: l };
          expect(() => parseToolBlocks(joined, options)).not.toThrow();
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('gives nothing before the third backtick of the closing fence, and the call with it', () => {
    const { perPiece, errors } = streamed(['```tool\n', LS, '\n', '`', '`', '`']);
    expect(perPiece).toEqual([[], [], [], [], [], [ls]]);
    expect(errors).toEqual([]);
    expect(streamed(['```tool\r', `\n${LS}\r`, '\n```']).perPiece).toEqual([[], [], [ls]]);
  });

  it('reports what is unfinished at the end', () => {
    expect(streamed(['```tool\n', LS, '\n'])).toMatchObject({ calls: [], errors: [{ index: 0 }] });
  });

  it('reports an event that is not a string and continues', () => {
    const stream = createCallStream('fenced');
    expect(stream.push({ text: 'x' })).toEqual([]);
    expect(stream.push(`\`\`\`tool\n${LS}\n\`\`\``)).toHaveLength(1);
    expect(stream.end().errors).toMatchObject([{ index: 0, message: expect.stringContaining('a string') }]);
  });

  eachOf(
    [
      ['backticks', '`'.repeat(1_000_000)],
      ['quotes', `\`\`\`tool\n${'"'.repeat(1_000_000)}\n\`\`\``],
      ['nesting', `\`\`\`tool\n${'{"a":'.repeat(200_000)}\n\`\`\``],
      ['lines of backticks', '```\n'.repeat(250_000)],
      ['short lines', '\n'.repeat(1_000_000)],
      ['openers', '```tool\n'.repeat(10_000)],
      ['opened openers', '```tool\n{"name":"\n'.repeat(10_000)],
      ['almost closed blocks', `\`\`\`tool\n${'``x\n'.repeat(250_000)}`],
      ['a body without an end', `\`\`\`tool\n${'x'.repeat(1_000_000)}`],
      ['a label without an end', `\`\`\`${'t'.repeat(1_000_000)}`],
      ['a string without an end', `\`\`\`tool\n{"name":"${'\\\\"'.repeat(333_333)}`],
      ['carriage returns', '```tool\r'.repeat(125_000)],
    ],
    3,
  )(
    'takes a megabyte of %s within seconds, in one piece, in small ones and character by character',
    (_, hostile) => {
      const before = process.cpuUsage().user;
      const { calls, errors } = parseToolBlocks(hostile, { labels: ['tool', 'json', ''] });
      expect(calls).toEqual([]);
      expect(errors.length).toBeLessThanOrEqual(20_000);
      streamed(hostile.match(/[\s\S]{1,7}/g) ?? []);
      const single = createCallStream('fenced');
      for (let at = 0; at < hostile.length; at++) single.push(hostile.charAt(at));
      single.end();
      expect((process.cpuUsage().user - before) / 1000).toBeLessThan(10_000);
    },
  );
});
