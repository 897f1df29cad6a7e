import { describe, expect, test } from 'vitest';
import { isToolError, type ToolError } from '../../errors/tool-error.js';
import { Draft } from './draft.js';
import { readPatch } from './read-patch.js';

/** Applies a patch of one file to its content; undefined means that there is no file, before and after. */
function taken(text: string, content: string | undefined): string | undefined {
  const draft = new Draft(content === undefined ? undefined : Buffer.from(content));
  for (const step of readPatch(text).steps) for (const _ of step.run(draft));
  const bytes = draft.bytes();
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
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

const begin = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const update = (...lines: readonly string[]): string => begin('*** Update File: f', ...lines);
const unified = (...lines: readonly string[]): string => ['--- a/f', '+++ b/f', ...lines, ''].join('\n');

describe('readPatch()', () => {
  test.each<[string, string]>([
    ['LP1\nEND\n', 'lp1'],
    ['\n# c\n  LP1\r\nEND', 'lp1'],
    [begin('*** Delete File: f'), 'begin_patch'],
    [`\n  ${begin('*** Delete File: f')}  \n\n`, 'begin_patch'],
    [`<<'EOF'\n${begin('*** Delete File: f')}\nEOF\n`, 'begin_patch'],
    [unified('@@ -1 +1 @@', '-a', '+b'), 'unified'],
    ['diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n', 'unified'],
    ['Index: f\n=====\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n', 'unified'],
    [
      'From 0123456789abcdef Mon Sep 17 00:00:00 2001\nSubject: x\n\n- a list\n---\n f | 2 +-\n\ndiff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n-- \n2.50.1\n\n',
      'unified',
    ],
  ])('tells formats apart by their first line: %j', (text, format) => {
    expect(readPatch(text).format).toBe(format);
  });

  test.each(['hello', '```diff\n--- a\n', 'apply_patch <<EOF\n', '@@ -1 +1 @@\n', 'lp1\n', '\0\0\0'])(
    'refuses %j, and names the formats',
    (text) => {
      expect(failure(() => readPatch(text)).message).toMatch(/line 1: .*"LP1".*Begin Patch.*diff/);
    },
  );

  test('names the files that a patch touches, and the lines that it adds', () => {
    const text = begin(
      ...['*** Add File: a b.txt', '+one', '*** Delete File: d', '*** Update File: m', '*** Move to: n/m'],
      ...['@@', ' x', '-y', '+z', '*** Update File: u', '+end', '*** End of File'],
    );
    const steps = readPatch(text).steps.map(({ line, path, effect, to, added }) =>
      to === undefined ? { line, path, effect, added } : { line, path, effect, to, added },
    );
    expect(steps).toEqual([
      { line: 2, path: 'a b.txt', effect: 'write', added: ['one'] },
      { line: 4, path: 'd', effect: 'delete', added: [] },
      { line: 5, path: 'm', effect: 'move', to: 'n/m', added: ['z'] },
      { line: 11, path: 'u', effect: 'write', added: ['end'] },
    ]);
  });
});

describe('*** Begin Patch', () => {
  test.each<[string, string, readonly string[], string]>([
    ['replaces', 'a\nb\nc\n', ['@@', ' a', '-b', '+B', ' c'], 'a\nB\nc\n'],
    ['needs no @@ in front of the first hunk', 'a\nb\n', [' a', '+x'], 'a\nx\nb\n'],
    ['goes to the line that @@ names', 'k1\n v\nk2\n v\n', ['@@ k2', '- v', '+ w'], 'k1\n v\nk2\n w\n'],
    [
      'goes on from one @@ to the next',
      'A\n f\n v\nB\n f\n v\n',
      ['@@ B', '@@  f', '- v', '+ w'],
      'A\n f\n v\nB\n f\n w\n',
    ],
    ['takes hunks in order', 'a\nx\nb\nx\n', ['@@ a', '-x', '+1', '@@', ' b', '-x', '+2'], 'a\n1\nb\n2\n'],
    [
      'is sure of a repeated hunk behind an earlier one',
      'x\nm\nx\n',
      ['@@', ' x', '-m', '+n', '@@', '-x', '+y'],
      'x\nn\ny\n',
    ],
    ['takes an empty line for one', 'a\n\nb\n', ['@@', ' a', '', '-b', '+c'], 'a\n\nc\n'],
    [
      'takes empty lines between hunks for nothing',
      'a\nb\n',
      ['@@', '-a', '+A', '', '@@', '-b', '+B', '', ''],
      'A\nB\n',
    ],
    ['adds at the end what has no place', 'a\n', ['@@', '+b'], 'a\nb\n'],
    ['finds the end of the file', 'x\ny\nx\n', ['@@', '-x', '+z', '*** End of File'], 'x\ny\nz\n'],
    ['ends a last line that it writes', 'a\nb', ['@@', '-b', '+c'], 'a\nc\n'],
    ['leaves a last line as it is that it does not write', 'a\nb', ['@@', '-a', '+A', ' b'], 'A\nb'],
    ['keeps CRLF', 'a\r\nb\r\n', ['@@', '-a', '+x', '+y', ' b'], 'x\r\ny\r\nb\r\n'],
    [
      'leaves a file with mixed line ends as it is elsewhere',
      'a\r\nb\nc\r\n',
      ['@@', '-b', '+B'],
      'a\r\nB\nc\r\n',
    ],
    ['may leave nothing', 'a\n', ['@@', '-a'], ''],
    ['takes marks in text for text', '*** x\n@@ y\n', ['@@', '-*** x', '+*** z', ' @@ y'], '*** z\n@@ y\n'],
  ])('%s', (_what, before, lines, after) => {
    expect(taken(update(...lines), before)).toBe(after);
    expect(taken(update(...lines).replaceAll('\n', '\r\n'), before)).toBe(after);
  });

  test('adds, deletes and moves files', () => {
    expect(taken(begin('*** Add File: f', '+a', '+', '++b'), undefined)).toBe('a\n\n+b\n');
    expect(taken(begin('*** Add File: f'), undefined)).toBe('');
    expect(taken(begin('*** Delete File: f', '*** Add File: f', '+new'), 'old')).toBe('new\n');
    expect(taken(begin('*** Update File: f', '*** Move to: g'), 'same')).toBe('same');
  });

  test.each<[string, string | undefined, string, number, string]>([
    ['no end', 'a\n', '*** Begin Patch\n*** Delete File: f\n', 2, "must be '*** End Patch'"],
    ['text behind the end', 'a\n', `${begin('*** Delete File: f')}\nmore`, 4, "must be '*** End Patch'"],
    ['another header', 'a\n', begin('*** Change File: f'), 2, 'begins no file'],
    ['a path that is missing', 'a\n', begin('*** Delete File:  '), 2, 'Missing file path'],
    ['text without +', undefined, begin('*** Add File: f', '+a', 'b'), 4, 'begins no file'],
    ['an update of nothing', 'a\n', update(), 2, 'is empty'],
    ['a hunk of nothing', 'a\n', update('@@'), 4, 'a hunk has lines, got the end of the patch'],
    ['a line without a mark', 'a\n', update('@@', '-a', 'b'), 5, 'is not a line of a hunk'],
    ['line numbers', 'a\n', update('@@ -1,2 +1,2 @@', '-a'), 3, 'no line numbers'],
    ['an @@ that is glued to its line', 'a\n', update('@@a', '-a'), 3, 'a space is required between'],
    ['a file that exists already', 'a\n', begin('*** Add File: f', '+a'), 2, 'exists already'],
    ['an update of no file', undefined, update('@@', '-a'), 2, 'does not exist'],
    ['a deletion of no file', undefined, begin('*** Delete File: f'), 2, 'no such file'],
    ['white space that differs', '\ta\n', update('@@', '-  a', '+b'), 3, 'differs in indentation'],
    ['blanks at the end', 'a  \n', update('@@', '-a', '+b'), 3, 'differs in trailing white space'],
    ['quotes that differ', '“a”\n', update('@@', '-"a"', '+b'), 3, 'look-alike characters'],
    ['an @@ line that differs', 'class A:\n x\n', update('@@ class  A:', '- x'), 3, 'differs in spacing'],
    ['an @@ line that is not there', 'a\n', update('@@ zzzz', '-a'), 3, 'that @@ names was not found'],
    ['several places', 'a\nb\na\n', update('@@', '-a', '+c'), 3, 'not unique, it fits at lines 1 and 3'],
    [
      'several places behind an @@ line that stands twice',
      'k\na\nk\na\n',
      update('@@ k', '-a'),
      3,
      'not unique',
    ],
    [
      'a place before the hunk that comes first',
      'a\nb\n',
      update('@@', '-b', '@@', '-a'),
      5,
      "in the file's order",
    ],
    [
      'another place than the end',
      'a\nb\n',
      update('@@', '-a', '*** End of File'),
      3,
      'not at the end of the file',
    ],
    ['lines without a place behind an @@ line', 'a\nb\n', update('@@ a', '+x'), 3, 'only adds lines'],
    ['two hunks of which one has no @@', 'a\n', update('-a', '*** End of File', '+b'), 5, 'begins with @@'],
  ])('refuses %s', (_what, before, text, line, message) => {
    const error = failure(() => taken(text, before));
    expect(error.message).toContain(message);
    expect(error.details.patch_line).toBe(line);
  });
});

describe('a unified diff', () => {
  const numbered = Array.from({ length: 30 }, (_, index) => `l${index + 1}\n`).join('');

  test.each<[string, string, readonly string[], string]>([
    ['replaces', 'a\nb\nc\n', ['@@ -1,3 +1,3 @@ x', ' a', '-b', '+B', ' c'], 'a\nB\nc\n'],
    ['takes the stated one of several places', 'x\nm\nx\n', ['@@ -3 +3 @@', '-x', '+y'], 'x\nm\ny\n'],
    [
      'takes the only place where the number is wrong',
      'a\nb\n',
      ['@@ -9,2 +9,2 @@', ' a', '-b', '+c'],
      'a\nc\n',
    ],
    [
      'takes a blank context line without its blank',
      'a\n\nb\n',
      ['@@ -1,3 +1,2 @@', '-a', '', ' b'],
      '\nb\n',
    ],
    [
      'follows the lines that earlier hunks bring',
      'x\na\nx\na\n',
      ['@@ -1 +1,3 @@', '+1', '+2', ' x', '@@ -3,2 +5 @@', '-x', ' a'],
      '1\n2\nx\na\na\n',
    ],
    ['fills an empty file', '', ['@@ -0,0 +1 @@', '+a'], 'a\n'],
    ['empties a file', 'a\n', ['@@ -1 +0,0 @@', '-a'], ''],
    ['adds a newline at the end', 'a', ['@@ -1 +1 @@', '-a', '\\ No newline at end of file', '+a'], 'a\n'],
    ['takes the newline at the end', 'a\n', ['@@ -1 +1 @@', '-a', '+a', '\\ No newline at end of file'], 'a'],
    [
      'leaves a missing newline',
      'a\nb',
      ['@@ -1,2 +1,2 @@', '-a', '+A', ' b', '\\ No newline at end of file'],
      'A\nb',
    ],
    ['keeps CRLF', 'a\r\nb\r\n', ['@@ -1,2 +1,2 @@', '-a', '+A', ' b'], 'A\r\nb\r\n'],
    [
      'takes lines that look like headers',
      '-- a/f\nx\n',
      ['@@ -1,2 +1,2 @@', '--- a/f', '+++ b/f', ' x'],
      '++ b/f\nx\n',
    ],
  ])('%s', (_what, before, lines, after) => {
    expect(taken(unified(...lines), before)).toBe(after);
    expect(taken(unified(...lines).replaceAll('\n', '\r\n'), before)).toBe(after);
  });

  test('keeps CRLF if git has it only in the lines', () => {
    expect(taken('--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\r\n+A\r\n b\r\n', 'a\r\nb\r\n')).toBe('A\r\nb\r\n');
  });

  test('reads the headers of git', () => {
    const text =
      'diff --git a/new b/new\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+n\n' +
      'diff --git a/empty file b/empty file\nnew file mode 100644\nindex 0..0\n' +
      'diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n' +
      'diff --git a/from b/to\nsimilarity index 90%\nrename from from\nrename to to\n' +
      'diff --git "a/\\303\\244 \\"x\\"" "b/\\303\\244 \\"x\\""\nindex 1..2 100644\n--- "a/\\303\\244 \\"x\\""\n' +
      '+++ "b/\\303\\244 \\"x\\""\n@@ -1 +1 @@\n-a\n+b\n' +
      'diff --git x/plain x/plain\n--- x/plain\t2026-01-01\n+++ x/plain\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n';
    expect(readPatch(text).steps.map(({ path, effect, to }) => [effect, path, to])).toEqual([
      ['write', 'new', undefined],
      ['write', 'empty file', undefined],
      ['delete', 'gone', undefined],
      ['move', 'from', 'to'],
      ['write', 'ä "x"', undefined],
      ['write', 'x/plain', undefined],
    ]);
  });

  test('creates and deletes files', () => {
    expect(
      taken('--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n', undefined),
    ).toBe('a\nb');
    expect(taken('--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', 'a\n')).toBe(undefined);
  });

  test.each<[string, string | undefined, string, number, string]>([
    [
      'fewer lines than announced',
      'a\n',
      unified('@@ -1,2 +1,2 @@', ' a', '-b'),
      3,
      'announces 2 old and 2 new',
    ],
    ['more lines than announced', 'a\n', unified('@@ -1 +1 @@', '-a', '+b', '+c'), 6, 'beyond the lines'],
    ['more of one kind', 'a\nb\n', unified('@@ -1 +1 @@', '-a', '-b', '+c'), 3, 'more of one kind'],
    ['a header that is none', 'a\n', unified('@@ -1 @@', '-a'), 3, 'is not a hunk header'],
    ['a hunk without a file', 'a\n', '--- a/f\n@@ -1 +1 @@\n-a\n+b\n', 2, 'a hunk without a file'],
    ['text between hunks', 'a\n', unified('@@ -1 +1 @@', '-a', '+b', 'oops'), 6, 'belongs to no file'],
    ['no hunk', 'a\n', '--- a/f\n+++ b/f\n', 1, 'no hunk follows'],
    ['two names', 'a\n', '--- f.orig\n+++ f\n@@ -1 +1 @@\n-a\n+b\n', 1, 'Name the same file twice'],
    ['no file at all', 'a\n', 'diff -r x y\n', 1, 'no file in it'],
    ['neither an old nor a new file', 'a\n', '--- /dev/null\n+++ /dev/null\n', 1, 'neither'],
    ['a change of mode', 'a\n', 'diff --git a/f b/f\nold mode 100644\nnew mode 100755\n', 2, 'file mode'],
    ['a new program', undefined, 'diff --git a/f b/f\nnew file mode 100755\n', 2, 'executable'],
    ['a new link', undefined, 'diff --git a/f b/f\nnew file mode 120000\n', 2, 'only files of mode'],
    ['a copy', 'a\n', 'diff --git a/f b/g\ncopy from f\ncopy to g\n', 2, 'copies are not supported'],
    ['a binary patch', 'a\n', 'diff --git a/f b/f\nindex 1..2\nGIT binary patch\n', 3, 'binary'],
    ['a new file that exists', 'a\n', '--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n', 1, 'exists already'],
    ['a file that does not exist', undefined, unified('@@ -1 +1 @@', '-a', '+b'), 1, 'does not exist'],
    [
      'a deletion that leaves something',
      'a\nb\n',
      '--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
      1,
      'leave some',
    ],
    ['lines that are not there', numbered, unified('@@ -1 +1 @@', '-l 9', '+x'), 3, 'differs in spacing'],
    [
      'several other places',
      'a\nb\na\n',
      unified('@@ -2 +2 @@', '-a', '+c'),
      3,
      'fits at several others (lines 1 and 3)',
    ],
    [
      'an earlier place',
      'a\nb\n',
      unified('@@ -2 +2 @@', '-b', '+c', '@@ -1 +1 @@', '-a', '+d'),
      6,
      'before the hunk',
    ],
    ['lines without a place', 'a\n', unified('@@ -1,0 +2 @@', '+b'), 3, 'only adds lines'],
    ['a newline that is not there', 'a', unified('@@ -1 +1 @@', '-a', '+b'), 3, 'does not end in a newline'],
    [
      'no newline where there is one',
      'a\n',
      unified('@@ -1 +1 @@', '-a', '\\ No newline', '+b'),
      3,
      'has a newline there',
    ],
    [
      'an end in the middle',
      'a\nb\n',
      unified('@@ -1 +1 @@', '-a', '+b', '\\ No newline'),
      3,
      'lines of the file follow',
    ],
  ])('refuses %s', (_what, before, text, line, message) => {
    const error = failure(() => taken(text, before));
    expect(error.message).toContain(message);
    expect(error.details.patch_line).toBe(line);
  });
});
