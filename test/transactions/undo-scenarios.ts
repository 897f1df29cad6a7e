/** The changes of a directory, in shell, and the expected result of the undo. */
export interface UndoScenario {
  readonly name: string;
  readonly before: string;
  readonly command: string;
  /** The person's changes before the undo. */
  readonly since?: string;
  /** The expected state after the undo, as a change of the original one; left out: the original one. */
  readonly expect?: string;
  /** Paths that are not restored, and the reasons; left out: none. */
  readonly skipped?: Readonly<Record<string, string>>;
  /** The person's changes after the undo, before it is undone. */
  readonly later?: string;
  /** The expected state after that, as a change of the original one. If absent: the undo is not undone. */
  readonly again?: string;
}

const CHANGED = 'it was changed since';
const REMOVED = 'it was removed since';
const TAKEN = 'something else is there';
const AS_BEFORE = 'it is as it was before';
const NOT_EMPTY = 'another program has put something into it';
const NO_WAY = 'the directory that it was in is gone';
const STAYS = 'what was in its place before cannot be put back';
const HOLDS = 'something in it stays';
const holds = (path: string): string => `it holds the old content of "${path}", which stays`;

type Row = readonly [name: string, before: string, command: string, more?: Partial<UndoScenario>];

/** The command's change is made again by the undo of the undo. */
const both = (command: string): Partial<UndoScenario> => ({ again: command });

const PLAIN: readonly Row[] = [
  ['a file that was made', ':', 'echo x >n', both('echo x >n')],
  ['a file that was changed', 'echo a >a', 'echo b >a', both('echo b >a')],
  ['a file that was removed', 'echo a >a', 'rm a', both('rm a')],
  ['a file that became empty', 'echo a >a', ': >a', both(': >a')],
  ['an empty file that was removed', ': >a', 'rm a'],
  ['a directory that was made', ':', 'mkdir d', both('mkdir d')],
  ['a directory that was removed', 'mkdir d', 'rmdir d', both('rmdir d')],
  ['a link that was made', ':', 'ln -s to l', both('ln -s to l')],
  ['a link that leads elsewhere', 'ln -s one l', 'ln -sfn two l', both('ln -sfn two l')],
  ['a link that was removed', 'ln -s one l', 'rm l'],
  ['a tree that was made', ':', 'mkdir -p d/e/f; echo x >d/e/f/g', both('mkdir -p d/e/f; echo x >d/e/f/g')],
  ['a tree that was removed', 'mkdir -p d/e/f; echo x >d/e/f/g; ln -s g d/l', 'rm -r d', both('rm -r d')],
  ['a file that was renamed', 'echo a >a', 'mv a b', both('mv a b')],
  ['a tree that was renamed', 'mkdir -p d/e; echo a >d/e/a', 'mv d f', both('mv d f')],
  ['a file that was moved into a new directory', 'echo a >a', 'mkdir d; mv a d'],
  ['a file that was removed, of a directory that stays', 'mkdir d; echo a >d/a; echo b >d/b', 'rm d/a'],
  [
    'names with every character',
    'mkdir "d \n"',
    `echo x >"d \n/a'b"; touch "$(printf 'x\\377y')"; rmdir "d \n" || :`,
  ],
  ['a file of two megabytes', 'head -c 2000000 /dev/zero >a', 'echo more >>a', both('echo more >>a')],
];

const MODES: readonly Row[] = [
  ['the mode of a file', 'echo a >a', 'chmod 755 a', both('chmod 755 a')],
  ['the mode of a directory', 'mkdir d; echo a >d/a', 'chmod 701 d', both('chmod 701 d')],
  ['mode and content', 'echo a >a; chmod 640 a', 'echo b >a; chmod 700 a'],
  ['the mode of a file that was removed', 'echo a >a; chmod 4711 a', 'rm a'],
  ['the mode of a directory that was removed', 'mkdir d; chmod 1770 d', 'rmdir d'],
  [
    'the modes in a tree that was removed',
    'mkdir -p d/e; echo a >d/e/a; chmod 600 d/e/a; chmod 711 d/e',
    'rm -r d',
  ],
  ['a read-only file that was removed', 'echo a >a; chmod 444 a', 'rm -f a'],
  [
    'a read-only directory whose file was removed',
    'mkdir d; echo a >d/a; chmod 555 d',
    'chmod 755 d; rm d/a; chmod 555 d',
  ],
];

const KINDS: readonly Row[] = [
  ['a file that became a directory', 'echo a >a', 'rm a; mkdir a', both('rm a; mkdir a')],
  [
    'a file that became a tree',
    'echo a >a',
    'rm a; mkdir -p a/b; echo c >a/b/c',
    both('rm a; mkdir -p a/b; echo c >a/b/c'),
  ],
  [
    'a tree that became a file',
    'mkdir -p d/e; echo a >d/e/a',
    'rm -r d; echo d >d',
    both('rm -r d; echo d >d'),
  ],
  ['a directory that became a link', 'mkdir d', 'rmdir d; ln -s x d', both('rmdir d; ln -s x d')],
  [
    'a tree that became a link',
    'mkdir -p d/e; echo a >d/e/a',
    'mv d f; ln -s f d',
    both('mv d f; ln -s f d'),
  ],
  ['a link that became a file', 'ln -s x l', 'rm l; echo l >l', both('rm l; echo l >l')],
  ['a file that became a link', 'echo a >a', 'ln -sf x a', both('ln -sf x a')],
  [
    'a link that became a directory',
    'mkdir d; ln -s d l',
    'rm l; mkdir l; echo a >l/a',
    both('rm l; mkdir l; echo a >l/a'),
  ],
  [
    'a tree that was made anew',
    'mkdir -p d/e; echo a >d/e/a; echo b >d/b',
    'rm -r d; mkdir d; echo c >d/c',
    both('rm -r d; mkdir d; echo c >d/c'),
  ],
  [
    'a file and a directory that changed names',
    'echo a >a; mkdir d; echo b >d/b',
    'mv a t; mv d a; mv t d',
    both('mv a t; mv d a; mv t d'),
  ],
  [
    'a directory inside that became a file, and a file a directory',
    'mkdir -p d/x; echo y >d/y; echo z >d/x/z',
    'rm -r d/x d/y; echo x >d/x; mkdir d/y',
  ],
];

const TOUCHED: readonly Row[] = [
  [
    'a new file that the person changed',
    ':',
    'echo x >n',
    { since: 'echo y >n', expect: 'echo y >n', skipped: { n: CHANGED } },
  ],
  ['a new file that the person removed', ':', 'echo x >n', { since: 'rm n', skipped: { n: AS_BEFORE } }],
  [
    'a changed file that the person changed',
    'echo a >a',
    'echo b >a',
    { since: 'echo c >a', expect: 'echo c >a', skipped: { a: CHANGED } },
  ],
  [
    'a changed file that the person removed',
    'echo a >a',
    'echo b >a',
    { since: 'rm a', expect: 'rm a', skipped: { a: REMOVED } },
  ],
  [
    'a changed file that the person put back',
    'echo a >a',
    'echo b >a',
    { since: 'echo a >a', skipped: { a: AS_BEFORE } },
  ],
  [
    'a changed file whose mode the person changed',
    'echo a >a',
    'echo b >a',
    { since: 'chmod 600 a', expect: 'echo b >a; chmod 600 a', skipped: { a: CHANGED } },
  ],
  ['a changed file that was only touched', 'echo a >a', 'echo b >a', { since: 'touch -d 2001-01-01 a' }],
  [
    'a changed file that was saved with the same bytes',
    'echo a >a',
    'echo b >a; echo n >n',
    { since: 'cp a t; mv t a; cp n t; mv t n' },
  ],
  ['a changed file that got another name, too', 'echo a >a', 'echo b >a', { since: 'ln a h; rm h' }],
  [
    'a large file that the person changed',
    'head -c 2000000 /dev/zero >a',
    'echo b >>a',
    { since: 'echo c >>a', expect: 'echo b >>a; echo c >>a', skipped: { a: CHANGED } },
  ],
  [
    'a removed file in whose place the person put another',
    'echo a >a',
    'rm a',
    { since: 'echo b >a', expect: 'echo b >a', skipped: { a: TAKEN } },
  ],
  [
    'a removed file that the person put back',
    'echo a >a',
    'rm a',
    { since: 'echo a >a', skipped: { a: AS_BEFORE } },
  ],
  [
    'a removed link in whose place the person put a file',
    'ln -s x l',
    'rm l',
    { since: 'echo b >l', expect: 'rm l; echo b >l', skipped: { l: TAKEN } },
  ],
  [
    'a new directory that the person put something into',
    ':',
    'mkdir -p d/e; echo x >d/e/x',
    { since: 'echo mine >d/mine', expect: 'mkdir d; echo mine >d/mine', skipped: { d: NOT_EMPTY } },
  ],
  [
    'a new directory whose mode the person changed',
    ':',
    'mkdir d',
    { since: 'chmod 700 d', expect: 'mkdir d; chmod 700 d', skipped: { d: CHANGED } },
  ],
  [
    'a removed tree in whose place the person made a directory',
    'mkdir -p d/e; echo a >d/e/a; echo b >d/b',
    'rm -r d',
    { since: 'mkdir d; echo mine >d/b', expect: 'echo mine >d/b', skipped: { 'd/b': TAKEN } },
  ],
  [
    'a removed tree in whose place the person put a file',
    'mkdir -p d/e; echo a >d/e/a',
    'rm -r d',
    {
      since: 'echo mine >d',
      expect: 'rm -r d; echo mine >d',
      skipped: { d: TAKEN, 'd/e': NO_WAY, 'd/e/a': NO_WAY },
    },
  ],
  [
    'a file that became a directory, which the person put something into',
    'echo a >a',
    'rm a; mkdir a; echo b >a/b',
    {
      since: 'echo mine >a/mine',
      expect: 'rm a; mkdir a; echo b >a/b; echo mine >a/mine',
      skipped: { a: NOT_EMPTY, 'a/b': STAYS },
    },
  ],
  [
    'a tree that became a file, which the person changed',
    'mkdir d; echo a >d/a',
    'rm -r d; echo b >d',
    { since: 'echo c >d', expect: 'rm -r d; echo c >d', skipped: { d: CHANGED, 'd/a': NO_WAY } },
  ],
  [
    'a file that became a link, which the person changed',
    'echo a >a',
    'ln -sf x a',
    { since: 'ln -sfn y a', expect: 'ln -sfn y a', skipped: { a: CHANGED } },
  ],
  [
    'a removed file whose directory the person removed',
    'mkdir d; echo a >d/a; echo b >d/b',
    'rm d/a',
    { since: 'rm -r d', expect: 'rm -r d', skipped: { 'd/a': NO_WAY } },
  ],
  [
    'a removed file whose directory became a link',
    'mkdir d o; echo a >d/a',
    'rm d/a',
    { since: 'rmdir d; ln -s o d', expect: 'rm -r d; ln -s o d', skipped: { 'd/a': NO_WAY } },
  ],
  [
    'a new tree whose directory became a link',
    'mkdir o',
    'mkdir d; echo x >d/x',
    {
      since: 'mv d/x o; rmdir d; ln -s o d',
      expect: 'ln -s o d; echo x >o/x',
      skipped: { d: CHANGED, 'd/x': AS_BEFORE },
    },
  ],
  [
    'a renamed file that the person changed',
    'echo a >a',
    'mv a b',
    { since: 'echo c >b', expect: 'echo c >b', skipped: { b: CHANGED } },
  ],
  [
    'some of many files',
    'for i in 1 2 3 4 5 6; do echo $i >$i; done',
    'for i in 1 2 3 4 5 6; do echo x >>$i; done; mkdir d; touch d/1 d/2',
    {
      since: 'echo c >3; rm 5; echo c >d/2',
      expect: 'echo c >3; rm 5; mkdir d; echo c >d/2',
      skipped: { 3: CHANGED, 5: REMOVED, d: NOT_EMPTY, 'd/2': CHANGED },
    },
  ],
];

const ONLY_COPIES: readonly Row[] = [
  [
    'a renamed file in whose place the person made another',
    'echo a >a',
    'mv a b',
    { since: 'echo c >a', expect: 'mv a b; echo c >a', skipped: { a: TAKEN, b: holds('a') } },
  ],
  [
    'a renamed file in whose place the person made a directory',
    'echo a >a',
    'mv a b',
    { since: 'mkdir a', expect: 'mv a b; mkdir a', skipped: { a: TAKEN, b: holds('a') } },
  ],
  [
    'a renamed file that the person has copied back',
    'echo a >a',
    'mv a b',
    { since: 'cp b a', skipped: { a: AS_BEFORE } },
  ],
  [
    'a renamed file, empty, in whose place the person made another',
    ': >a',
    'mv a b',
    { since: 'echo c >a', expect: 'echo c >a', skipped: { a: TAKEN } },
  ],
  [
    'a file that replaced another one, in whose place the person made a new one',
    'echo a >a; echo b >b',
    'mv a b',
    { since: 'echo c >a', expect: 'mv a b; echo c >a', skipped: { a: TAKEN, b: holds('a') } },
  ],
  [
    'a file that was moved out of a directory that the person removed',
    'mkdir d; echo a >d/a',
    'mv d/a b',
    { since: 'rmdir d', expect: 'mv d/a b; rmdir d', skipped: { 'd/a': NO_WAY, b: holds('d/a') } },
  ],
  [
    'a file that was moved into a new tree, and in whose place the person made another',
    'echo a >a',
    'mkdir -p d/e; mv a d/e; echo x >d/x',
    {
      since: 'echo c >a',
      expect: 'mkdir -p d/e; mv a d/e; echo c >a',
      skipped: { a: TAKEN, d: HOLDS, 'd/e': HOLDS, 'd/e/a': holds('a') },
    },
  ],
  [
    'a renamed tree in whose place the person put a file',
    'mkdir -p d/e; echo a >d/e/a; : >d/empty',
    'mv d f',
    {
      since: 'echo c >d',
      expect: 'mv d f; rm f/empty; echo c >d',
      skipped: {
        ...{ d: TAKEN, 'd/e': NO_WAY, 'd/e/a': NO_WAY, 'd/empty': NO_WAY },
        ...{ f: HOLDS, 'f/e': HOLDS, 'f/e/a': holds('d/e/a') },
      },
    },
  ],
  [
    'a renamed tree in whose place the person made a directory with a file of the same name',
    'mkdir d; echo a >d/a; echo b >d/b',
    'mv d f',
    {
      since: 'mkdir d; echo c >d/a',
      expect: 'mkdir f; mv d/a f; echo c >d/a',
      skipped: { 'd/a': TAKEN, f: HOLDS, 'f/a': holds('d/a') },
    },
  ],
  [
    'a changed file of which the command kept a copy, and that the person changed again',
    'echo a >a',
    'cp a a.orig; echo b >a',
    {
      since: 'echo c >a',
      expect: 'cp a a.orig; echo c >a',
      skipped: { a: CHANGED, 'a.orig': holds('a') },
    },
  ],
  [
    'two files that changed names, and one of which the person changed',
    'echo a >a; echo b >b',
    'mv a t; mv b a; mv t b',
    {
      since: 'echo c >a',
      expect: 'mv a b; echo c >a',
      skipped: { a: CHANGED, b: holds('a') },
    },
  ],
  [
    'a file of two megabytes that was renamed, and in whose place the person made another',
    'head -c 2000000 /dev/zero >a',
    'mv a b',
    { since: 'echo c >a', expect: 'mv a b; echo c >a', skipped: { a: TAKEN, b: holds('a') } },
  ],
];

const UNDONE: readonly Row[] = [
  [
    'an undone removal of a tree that the person put something into',
    'mkdir -p d/e; echo a >d/e/a',
    'rm -r d',
    { later: 'echo mine >d/mine', again: 'rm -r d; mkdir d; echo mine >d/mine' },
  ],
  [
    'an undone tree in whose place the person made another',
    ':',
    'mkdir d; echo a >d/a',
    { later: 'mkdir d; echo mine >d/mine', again: 'mkdir d; echo a >d/a; echo mine >d/mine' },
  ],
  [
    'an undone change that the person changed',
    'echo a >a; echo b >b',
    'echo x >a; rm b',
    { later: 'echo c >a', again: 'echo c >a; rm b' },
  ],
  [
    'an undone removal that the person changed',
    'mkdir -p d/e; echo a >d/e/a; echo b >d/b',
    'rm -r d',
    { later: 'echo mine >d/e/a', again: 'rm d/b; echo mine >d/e/a' },
  ],
  [
    'an undone kind that the person changed',
    'echo a >a',
    'rm a; mkdir a; echo b >a/b',
    { later: 'echo c >a', again: 'echo c >a' },
  ],
];

/** Each with its expectation. */
export const UNDO_SCENARIOS: readonly UndoScenario[] = [
  ...PLAIN,
  ...MODES,
  ...KINDS,
  ...TOUCHED,
  ...ONLY_COPIES,
  ...UNDONE,
].map(([name, before, command, more]) => ({ name, before, command, ...more }));
