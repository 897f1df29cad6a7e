import type { Call } from '../words/call.js';
import { secretIn } from '../words/danger.js';
import {
  COMPUTED,
  exactTexts,
  Field,
  isLiteral,
  joinStreams,
  NOTHING,
  type Stream,
  streamFrom,
  textStream,
  UNKNOWN,
} from '../words/field.js';
import { pathText } from '../words/place.js';
import { type Program, type Programs, through } from './program.js';
import { evaluateAwk, evaluateSed } from './scripts.js';

const FILTER: Program = { operands: ['read'], prints: 'input' };

/** The first operand is a pattern, unless an option carries it. */
const SEARCH: Program = {
  operands: ['skip', 'read'],
  options: { 'e regexp f file from-file': 'pattern' },
  prints: 'input',
};

const asksSpecial = (word: RegExp): Program => ({
  readsCode: true,
  when: [['ask', word, 'runs a command of its own']],
});

/**
 * Programs that print. What `echo` and `cat` print is known where their words are written out; of every other program it
 * is not known: nothing is formatted, decoded, turned round or translated here.
 */
export const TEXT_PROGRAMS: Programs = {
  'grep zgrep ag ack egrep fgrep': {
    ...SEARCH,
    short: 'mABCdD',
    long: 'max-count context',
    codeBehind: /^--(?:pager|ackrc)(?:=(.*))?$/s,
  },
  rg: {
    ...SEARCH,
    short: 'gtTmABCjMrE',
    long: 'glob type max-count context',
    codeBehind: /^--(?:pre|hostname-bin)(?:=(.*))?$/s,
  },
  jq: { ...SEARCH, short: 'L', long: 'arg argjson indent' },
  'head tail': { ...FILTER, short: 'nc', long: 'lines bytes pid' },
  sort: {
    ...FILTER,
    short: 'kStT',
    long: 'key field-separator buffer-size',
    options: { 'o output': 'overwrite' },
    when: [['ask', /^--compress-prog/m, 'runs a command of its own']],
  },
  uniq: { operands: ['read', 'overwrite'], short: 'fsw', prints: 'input' },
  shuf: { ...FILTER, short: 'in', long: 'input-range head-count', options: { 'o output': 'overwrite' } },
  cut: { ...FILTER, short: 'bcdf', long: 'delimiter fields' },
  'fold base64 base32': { ...FILTER, short: 'wi', options: { o: 'overwrite' } },
  xxd: { operands: ['read', 'overwrite'], short: 'csloR', prints: 'input' },
  nl: { ...FILTER, short: 'bdfhilnsvw' },
  'od hexdump': { ...FILTER, short: 'AjNStwenf' },
  strings: { ...FILTER, short: 'nt' },
  'paste comm diff cmp wdiff column expand unexpand stat md5sum sha1sum sha256sum sha512sum cksum sum':
    FILTER,
  file: {
    ...FILTER,
    short: 'fFmP',
    long: 'magic-file files-from separator parameter',
    also(call, { given }) {
      const compiles = given.find(({ name }) => name === 'C' || name.startsWith('compile'));
      if (compiles === undefined) return;
      call.findings.byOption(compiles.word.shown, () => call.touches('write', Field.of('.')));
    },
  },
  iconv: { ...FILTER, short: 'ft', long: 'from-code to-code', options: { 'o output': 'overwrite' } },
  tree: { ...FILTER, short: 'LPI', options: { o: 'overwrite' } },
  'zcat bzcat xzcat dir du realpath readlink rev tac': FILTER,
  'gunzip gzip bzip2 bunzip2 xz unxz zstd unzstd': {
    ...FILTER,
    options: { o: 'overwrite' },
    also(call, { operands }) {
      if (/^-(?:[a-z0-9]*[clt]|-stdout|-to-stdout|-list|-test)/m.test(call.shown)) return;
      for (const file of operands) call.touches('write', file);
    },
  },
  'less more most': {
    ...FILTER,
    options: { 'o O log-file LOG-FILE': 'overwrite' },
    // A file of keys can set what runs.
    codeBehind: /^(?:\+\+?[!|#](.+)|-k(.*)|--lesskey[\w-]*(?:=(.*))?)$/s,
  },
  tr: { prints: 'input' },
  wc: { operands: ['read'], prints: 'number' },
  'nproc seq expr': { prints: 'number' },
  pwd: { also: ({ scope }) => (scope.directory === '.' ? { kind: 'directory', isNew: false } : UNKNOWN) },
  mktemp: {
    also: ({ words, scope }) =>
      words.every(({ shown }) => /^-[dq]+$/.test(shown)) && !scope.variables.has('TMPDIR')
        ? { kind: 'directory', isNew: true }
        : UNKNOWN,
  },
  ls: { short: 'wIT', operands: ['read'], also: (call, { operands }) => listing(call, operands) },
  'cat bat': {
    codeBehind: /^--pager(?:=(.*))?$/s,
    also: (call, { operands }) => contents(call, operands),
  },
  echo: { also: ({ words }) => echoed(words) },
  printf: {
    leads: true,
    options: { v: 'computed' },
    also: ({ words }) => printedBy(words),
  },
  'which type': { also: ({ words }) => printedBy(words) },
  'sed gsed': { also: evaluateSed },
  'awk gawk mawk nawk': { also: evaluateAwk },
  psql: {
    ...asksSpecial(/\\!|\bPROGRAM\b|\\(?:g|o|copy|w)\b/i),
    options: { 'o output L log-file': 'overwrite' },
  },
  dc: asksSpecial(/!/),
  'mysql mariadb': asksSpecial(/\\!|\bsystem\b|\\P/i),
  sqlite3: asksSpecial(/\.(?:shell|system|load|import|output|once)\b|load_extension|writefile|\bedit\(/i),
};

/** `ls -d /*` lists what `ls /` does. */
function listing(call: Call, [first]: readonly Field[]): Stream {
  const { directory } = call.scope;
  if (first === undefined)
    return directory?.startsWith('/') === true ? { kind: 'listing', root: directory } : UNKNOWN;
  const path = pathText(first, directory);
  const isAll = call.dangerOfTree(first) === 'vital' && path.includes('*');
  return { kind: 'listing', root: isAll ? '/' : path };
}

/** Files one after the other, or what stands on the input. */
function contents(call: Call, files: readonly Field[]): Stream {
  if (files.length === 0) return call.words.length === 0 ? call.input : through(call.input);
  return files.reduce<Stream>((output, file) => {
    if (file.shown === '-') return joinStreams(output, call.input);
    call.touches('read', file);
    return joinStreams(output, secretIn(file, call.scope.directory) ?? streamFrom([file]));
  }, NOTHING);
}

/** Some shells take backslashes for escapes here, others do not. */
function echoed(words: readonly Field[]): Stream {
  const rest = /^-[nE]+$/.test(words[0]?.shown ?? '') ? words.slice(1) : words;
  const text = exactTexts(rest)?.join(' ');
  if (text === undefined) return streamFrom(words);
  if (/\\|^-[neE]/.test(text)) return COMPUTED;
  return textStream(`${text}\n`, isLiteral(words));
}

/** What is printed is not computed, also where it could be. */
function printedBy(words: readonly Field[]): Stream {
  return exactTexts(words) === undefined ? streamFrom(words) : COMPUTED;
}
