import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isToolError, type ToolError } from '../../../errors/tool-error.js';
import { applyPatch } from './apply-patch.js';
import { parsePatch } from './parse-patch.js';

type Files = Readonly<Record<string, string | Uint8Array>>;

function applied(patch: string, files: Files): Record<string, string> {
  const read = (path: string): Uint8Array | undefined => {
    const file = files[path];
    return typeof file === 'string' ? Buffer.from(file) : file;
  };
  const entries = [...applyPatch(parsePatch(patch), read)];
  return Object.fromEntries(entries.map(([path, bytes]) => [path, Buffer.from(bytes).toString()]));
}

function failure(action: () => unknown): ToolError {
  try {
    action();
  } catch (error) {
    if (isToolError(error, 'patch_failed')) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

/** A patch of one section, from its lines. */
const patchOf = (...lines: readonly string[]): string => ['LP1', 'F f', ...lines, 'END', ''].join('\n');
const onF = (content: string, ...lines: readonly string[]): string | undefined =>
  applied(patchOf(...lines), { f: content }).f;

describe('parsePatch()', () => {
  test.each<[string, string, number, string]>([
    ['nothing', '', 1, 'Missing LP1 header'],
    ['only comments', '# a\n\n', 1, 'Missing LP1 header'],
    ['another header', 'LP2\nEND\n', 1, 'Invalid LP1 header'],
    ['a byte order mark', '\ufeffLP1\nEND\n', 1, 'Invalid LP1 header'],
    ['a no-break space around the header', '\u00a0LP1\nEND\n', 1, 'Invalid LP1 header'],
    ['no footer', 'LP1\nF f\nE\na\n.\n', 6, 'Missing END footer'],
    ['text after the footer', 'LP1\nEND\nmore\n', 3, 'text after END'],
    ['an operation before any file', 'LP1\nT\nx\n.\nEND\n', 2, 'Expected a file section'],
    ['no path', 'LP1\nF\nEND\n', 2, 'Missing file path'],
    ['a blank path', 'LP1\nF  \t\nEND\n', 2, 'Missing file path'],
    ['an empty quoted path', 'LP1\nF ""\nEND\n', 2, 'Missing file path'],
    ['two words', 'LP1\nF a b\nEND\n', 2, 'in quotes: F "a b"'],
    ['a quote inside a bare path', 'LP1\nF a"b\nEND\n', 2, 'in quotes'],
    ['text behind a quoted path', 'LP1\nF "a" b\nEND\n', 2, 'after the closing quote'],
    ['an open quote', 'LP1\nF "a\nEND\n', 2, 'Unterminated quoted path'],
    ['another escape', 'LP1\nF "a\\n"\nEND\n', 2, 'Invalid escape'],
    ['a path that is glued to F', 'LP1\nFa\nEND\n', 2, 'Expected a file section'],
    ['an unknown operation', patchOf('X', '.'), 3, 'Unknown LP1 operation'],
    ['a small letter', patchOf('r', 'a', '.', '.'), 3, 'Unknown LP1 operation'],
    ['a number glued to its letter', patchOf('E2', 'a', '.'), 3, 'Unknown LP1 operation'],
    ['occurrence 0', patchOf('E 0', 'a', '.'), 3, 'Occurrence must be >= 1'],
    ['occurrence +1', patchOf('E +1', 'a', '.'), 3, 'Invalid occurrence'],
    ['occurrence 01', patchOf('E 01', 'a', '.'), 3, 'Invalid occurrence'],
    ['occurrence -1', patchOf('E -1', 'a', '.'), 3, 'Invalid occurrence'],
    ['two occurrences', patchOf('E 1 2', 'a', '.'), 3, 'Invalid occurrence'],
    [
      'an occurrence beyond all numbers',
      patchOf('E 99999999999999999999', 'a', '.'),
      3,
      'Invalid occurrence',
    ],
    ['an argument of T', patchOf('T 1', 'a', '.'), 3, 'takes nothing'],
    ['N without a flag', patchOf('N'), 3, 'Invalid N flag'],
    ['N with another flag', patchOf('N x'), 3, 'Invalid N flag'],
    ['N glued to its flag', patchOf('N+'), 3, 'Unknown LP1 operation'],
    ['an empty find block', patchOf('I 2', '.', 'x', '.'), 3, 'find block is empty'],
    ['one block where two are needed', patchOf('R', 'a', '.'), 5, 'Unterminated LP1 block'],
    [
      'a single dot with text',
      patchOf('T', '.x', '.'),
      4,
      'Dot-stuffed line must start with \'..\': write "..x"',
    ],
    ['an indented end of a block', patchOf('T', 'x', ' .'), 3, 'Unterminated LP1 block'],
    ['a CR inside a line', patchOf('T', 'a\rb', '.'), 4, 'Bare CR'],
    ['half a character', patchOf('T', '\ud800', '.'), 1, 'well-formed'],
  ])('refuses %s', (_what, text, line, message) => {
    const error = failure(() => parsePatch(text));
    expect(error.message).toContain(message);
    expect(error.message).toContain(`line ${line}:`);
    expect(error.details).toEqual({ patch_line: line });
  });

  test('parses every operation, between blanks, comments and CRLF', () => {
    const text =
      '\n # made by hand\n \tLP1 \t\n\nF "a \\"b\\" \\\\c" \n# c\n  R 2 \na\n.\nb\n.\n\tI\na\n. \t\n.\nP\na\n.\nx\n.\n' +
      'E\na\n.\nT\n.\nB\nx\n.\nN +\nN -\nF \t b \nF c\n END\n#\n\n';
    const patch = parsePatch(text);
    expect(parsePatch(text.replaceAll('\n', '\r\n'))).toEqual(patch);
    expect(patch.files.map(({ path, line }) => [path, line])).toEqual([
      ['a "b" \\c', 5],
      ['b', 31],
      ['c', 32],
    ]);
    expect(patch.files[0]?.operations).toEqual([
      { kind: 'replace', line: 7, find: ['a'], occurrence: 2, lines: ['b'] },
      { kind: 'insert_after', line: 12, find: ['a'], lines: [] },
      { kind: 'insert_before', line: 16, find: ['a'], lines: ['x'] },
      { kind: 'erase', line: 21, find: ['a'] },
      { kind: 'append', line: 24, lines: [] },
      { kind: 'prepend', line: 26, lines: ['x'] },
      { kind: 'final_newline', line: 29, present: true },
      { kind: 'final_newline', line: 30, present: false },
    ]);
  });

  test('treats words, comments and blanks inside a block as content, and removes exactly one dot', () => {
    const content = ['END', 'F g', '# no', '', 'R 2', '..x', '...', '..  ', ' .', '\u00a0'];
    const [section] = parsePatch(patchOf('T', ...content, '.')).files;
    const lines = ['END', 'F g', '# no', '', 'R 2', '.x', '..', '.  ', ' .', '\u00a0'];
    expect(section?.operations).toEqual([{ kind: 'append', line: 3, lines }]);
  });

  test('needs time linear in the length of hostile lines', () => {
    const blanks = ' \t'.repeat(200_000);
    const started = performance.now();
    for (const line of [`R${blanks}x`, `R x${blanks}y`, `${blanks}END${blanks}x`, `F x${blanks}y`]) {
      failure(() => parsePatch(`LP1\n${line}\nEND\n`));
    }
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('applyPatch()', () => {
  test.each<[string, string, readonly string[], string]>([
    ['replaces lines', 'a\nb\nc\nd\n', ['R', 'b', 'c', '.', 'X', '.'], 'a\nX\nd\n'],
    ['replaces by nothing', 'a\nb\n', ['R', 'b', '.', '.'], 'a\n'],
    ['inserts after', 'a\nb\n', ['I', 'a', '.', 'x', '.'], 'a\nx\nb\n'],
    ['inserts after the last', 'a\nb', ['I', 'b', '.', 'x', '.'], 'a\nb\nx'],
    ['inserts before', 'a\nb\n', ['P', 'a', '.', 'x', '.'], 'x\na\nb\n'],
    ['erases', 'a\nb\na\n', ['E', 'b', '.'], 'a\na\n'],
    ['appends without a final newline', 'a', ['T', 'b', '.'], 'a\nb'],
    ['prepends', 'a\n', ['B', 'x', 'y', '.'], 'x\ny\na\n'],
    ['appends a blank line', 'a\n', ['T', '', '.'], 'a\n\n'],
    ['changes nothing with empty blocks', 'a', ['T', '.', 'B', '.', 'I', 'a', '.', '.'], 'a'],
    ['counts occurrences from 1', 'd\nm\nd\n', ['R 2', 'd', '.', 'r', '.'], 'd\nm\nr\n'],
    ['counts matches that overlap', 'a\na\na\n', ['R 2', 'a', 'a', '.', 'x', '.'], 'a\nx\n'],
    [
      'goes on from what an operation left',
      'd\nd\nd\n',
      ['E 1', 'd', '.', 'R 2', 'd', '.', 'X', '.'],
      'd\nX\n',
    ],
    ['finds what it has put there', 'a\n', ['T', 'b', '.', 'R', 'b', '.', 'c', '.'], 'a\nc\n'],
    ['keeps CRLF', 'a\r\nb\r\n', ['R', 'a', '.', 'x', 'y', '.'], 'x\r\ny\r\nb\r\n'],
    ['keeps CRLF without a final newline', 'a\r\nb', ['T', 'c', '.'], 'a\r\nb\r\nc'],
    ['N + ends the file', 'a', ['N +'], 'a\n'],
    ['N + on CRLF', 'a\r\nb', ['N +'], 'a\r\nb\r\n'],
    ['N - takes the end away', 'a\n', ['N -'], 'a'],
    ['the last N counts', 'a', ['N +', 'N -', 'N +'], 'a\n'],
    ['N + on the empty file is one empty line', '', ['N +'], '\n'],
    ['N - on exactly that is empty again', '\n', ['N -'], ''],
    ['N - on two empty lines takes the end only', '\n\n', ['N -'], '\n'],
    ['N + and then T on the empty file', '', ['N +', 'T', 'x', '.'], '\nx\n'],
    ['T and then N + on the empty file', '', ['T', 'x', '.', 'N +'], 'x\n'],
    ['T on the empty file has no end', '', ['T', 'x', '.'], 'x'],
    ['the end goes with the last line', 'a\n', ['E', 'a', '.'], ''],
    ['and does not come back with a line', 'a\n', ['E', 'a', '.', 'T', 'b', '.'], 'b'],
    ['finds an empty line', '\n', ['R', '', '.', 'x', '.'], 'x\n'],
    ['keeps a mark at the start of the file', '\ufeffa\n', ['T', 'b', '.'], '\ufeffa\nb\n'],
    ['matches text beyond ASCII', 'é\n😀\n', ['R', '😀', '.', 'ß', '.'], 'é\nß\n'],
  ])('%s', (_what, before, lines, after) => {
    expect(onF(before, ...lines)).toBe(after);
  });

  test.each<[string, string, readonly string[], number, string]>([
    ['no match', 'a\n', ['E', 'b', '.'], 3, 'Match not found'],
    ['no match for other case', 'A\n', ['E', 'a', '.'], 3, 'Match not found'],
    ['no match for half a line', 'ab\n', ['E', 'a', '.'], 3, 'Match not found'],
    ['no match for a line too many', 'a\n', ['E', 'a', '', '.'], 3, 'Match not found'],
    ['several matches', 'a\nb\na\n', ['E', 'a', '.'], 3, 'not unique: found 2 times, at lines 1 and 3'],
    ['overlapping matches', 'a\na\na\n', ['E', 'a', 'a', '.'], 3, 'found 2 times, at lines 1 and 2'],
    [
      'an occurrence too far',
      'a\na\n',
      ['E 3', 'a', '.'],
      3,
      'Occurrence out of range: 3 was asked for, found 2',
    ],
    ['a later operation', 'a\n', ['R', 'a', '.', 'b', '.', 'E', 'a', '.'], 8, 'Match not found'],
    ['LF and then CRLF', 'a\nb\r\n', ['N +'], 2, 'Mixed EOL in file: CRLF after LF (its line 2)'],
    [
      'CRLF and then LF',
      'a\r\nb\r\nc\n',
      ['T', 'x', '.'],
      2,
      'Mixed EOL in file: LF after CRLF (its line 3)',
    ],
    ['a CR on its own', 'a\rb\n', ['T', 'x', '.'], 2, 'Bare CR in file'],
    ['a CR at the end', 'a\r', ['T', 'x', '.'], 2, 'Bare CR in file'],
    ['two CRs before a LF', 'a\r\r\n', ['T', 'x', '.'], 2, 'Bare CR in file'],
  ])('refuses %s', (_what, before, lines, line, message) => {
    const error = failure(() => onF(before, ...lines));
    expect(error.message).toContain(`Cannot patch f (line ${line} of the patch)`);
    expect(error.message).toContain(message);
    expect(error.details).toEqual({ path: 'f', patch_line: line });
  });

  test('names the missing text, and similar text', () => {
    const { message } = failure(() =>
      onF('if (x) {\n\treturn 1;\n}\n', 'R', 'if (x) {', '  return 1;', '.', '.'),
    );
    expect(message).toContain(
      '> if (x) {\n>   return 1;\nIt stands at lines 1-2, but differs in indentation.',
    );
  });

  test('creates files only by T and B, and ends them with a newline', () => {
    const text = (...lines: readonly string[]): string | undefined => applied(patchOf(...lines), {}).f;
    expect(text('T', 'b', '.', 'B', 'a', '.')).toBe('a\nb\n');
    expect(text('T', '.')).toBe('');
    expect(applied('LP1\nF f\nEND\n', {})).toEqual({});
    for (const other of [['R', 'b', '.', 'c', '.'], ['E', 'b', '.'], ['N -'], ['N +']]) {
      const { message } = failure(() => text('T', 'b', '.', ...other));
      expect(message).toContain('line 6 of the patch): the file does not exist');
    }
  });

  test('applies the sections of one file in order, even under two spellings of its path, and each file separately', () => {
    const patch =
      'LP1\nF f\nR\na\n.\nb\n.\nF g\nT\nx\n.\nF ./f\nR\nb\n.\nc\n.\nF n\nT\n1\n.\nF n\nR\n1\n.\n2\n.\nEND\n';
    expect(applied(patch, { f: 'a\n', g: '' })).toEqual({ f: 'c\n', g: 'x', n: '2\n' });
    expect(applied('LP1\nEND\n', {})).toEqual({});
    expect(applied('LP1\nF f\nEND\n', { f: 'a\r\nb\n' })).toEqual({ f: 'a\r\nb\n' });
  });

  test('keeps bytes that are not UTF-8, in untouched lines and next to matches', () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x0a, 0x61, 0x0a, 0xc3, 0x0a, 0x00, 0x80, 0x0a]);
    const patch = parsePatch(patchOf('R', 'a', '.', 'é', '.'));
    const after = applyPatch(patch, () => bytes).get('f');
    expect([...(after ?? [])]).toEqual([0xff, 0xfe, 0x0a, 0xc3, 0xa9, 0x0a, 0xc3, 0x0a, 0x00, 0x80, 0x0a]);
    // A replacement character for a lost byte does not match the byte.
    const lost = parsePatch(patchOf('E', '\ufffd', '.'));
    expect(failure(() => applyPatch(lost, () => bytes)).message).toContain('Match not found');
  });

  test('gives the same result as editing lists of lines', () => {
    const line = fc.constantFrom('a', 'b', '', '.', '..x', 'é', ' a');
    const block = fc.array(line, { minLength: 1, maxLength: 3 });
    const found = { find: block, occurrence: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }) };
    const operation = fc.oneof(
      fc.record({
        letter: fc.constantFrom('R' as const, 'I' as const, 'P' as const),
        ...found,
        lines: fc.array(line),
      }),
      fc.record({ letter: fc.constant('E' as const), ...found, lines: fc.constant([]) }),
      fc.record({ letter: fc.constantFrom('T' as const, 'B' as const), lines: fc.array(line) }),
      fc.record({ letter: fc.constantFrom('N +' as const, 'N -' as const), lines: fc.constant([]) }),
    );
    const boundary = fc.constantFrom('\n', '\r\n');
    const property = fc.property(
      fc.array(line),
      fc.boolean(),
      boundary,
      fc.array(operation, { maxLength: 6 }),
      (lines, ended, eol, operations) => {
        const content = lines.join(eol) + (ended && lines.length > 0 ? eol : '');
        const expected = reference(content, eol, operations);
        const text = patchOf(...operations.flatMap(write));
        if (expected === undefined)
          expect(failure(() => applied(text, { f: content })).code).toBe('patch_failed');
        else expect(applied(text, { f: content })).toEqual({ f: expected });
      },
    );
    fc.assert(property, { numRuns: 700 });
  });

  test('applies 200 operations to a file of a megabyte, and to one of 500,000 equal lines, in a moment', {
    tags: ['soak'],
  }, () => {
    const lines = Array.from(
      { length: 20_000 },
      (_, index) => `line number ${index} of a file that is large`,
    );
    const large = Buffer.from(`${lines.join('\n')}\n`);
    const edits = Array.from({ length: 200 }, (_, index) => [
      'R',
      `${lines[index * 97]}`,
      '.',
      `new ${index}`,
      '.',
    ]);
    const started = process.cpuUsage();
    applyPatch(parsePatch(patchOf(...edits.flat())), () => large);
    const equal = Buffer.from('a\n'.repeat(500_000));
    const hostile = [...Array.from({ length: 300 }, () => 'a'), 'b'];
    const steps = Array.from({ length: 200 }, () => ['R', ...hostile, '.', ...hostile, '.']);
    applyPatch(parsePatch(patchOf('T', ...hostile, '.', ...steps.flat())), () => equal);
    // Time of the processor: a busy machine takes longer by the clock.
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(8);
  });
});

interface Written {
  readonly letter: string;
  readonly find?: readonly string[];
  readonly occurrence?: number | undefined;
  readonly lines: readonly string[];
}

function write({ letter, find, occurrence, lines }: Written): string[] {
  const stuffed = (block: readonly string[]): string[] => [
    ...block.map((line) => (line.startsWith('.') ? `.${line}` : line)),
    '.',
  ];
  if (letter.startsWith('N')) return [letter];
  const head = occurrence === undefined ? letter : `${letter} ${occurrence}`;
  return [head, ...(find === undefined ? [] : stuffed(find)), ...(letter === 'E' ? [] : stuffed(lines))];
}

/** LP1 exactly as its description says, without any optimization. */
function reference(content: string, eol: string, operations: readonly Written[]): string | undefined {
  let ended = content.endsWith(eol) && content !== '';
  let lines = content === '' ? [] : content.split(eol);
  // A file without any line end counts as LF.
  const boundary = content.includes('\n') ? eol : '\n';
  if (ended) lines.pop();
  for (const { letter, find = [], occurrence, lines: added } of operations) {
    const starts = lines.flatMap((_, at) =>
      at + find.length <= lines.length && find.every((line, offset) => lines[at + offset] === line)
        ? [at]
        : [],
    );
    const at =
      occurrence === undefined ? (starts.length === 1 ? starts[0] : undefined) : starts[occurrence - 1];
    if ('RIPE'.includes(letter)) {
      if (at === undefined) return undefined;
      const [from, to] =
        letter === 'I' ? [at + find.length, at + find.length] : [at, letter === 'P' ? at : at + find.length];
      lines = [...lines.slice(0, from), ...added, ...lines.slice(to)];
    } else if (letter === 'T') lines = [...lines, ...added];
    else if (letter === 'B') lines = [...added, ...lines];
    else if (letter === 'N +') {
      if (lines.length === 0) lines = [''];
      ended = true;
    } else {
      if (ended && lines.length === 1 && lines[0] === '') lines = [];
      ended = false;
    }
    if (lines.length === 0) ended = false;
  }
  return lines.join(boundary) + (ended ? boundary : '');
}
