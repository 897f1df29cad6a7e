import type { Call } from '../words/call.js';
import { COMPUTED, exactTexts, Field, type Stream, streamFrom, textStream, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { isRisky } from '../words/place.js';
import type { Program, Programs } from './program.js';
import { findCertain } from './shells.js';

/** A program that prints what it reads, or part of it: its options that take a value, and what these are. */
const reader = (options = '', more: Program = {}): Program => ({
  options,
  operands: ['read'],
  prints: 'input',
  ...more,
});
const search = (options: string): Program =>
  reader(options, {
    values: { e: 'pattern', f: 'pattern', regexp: 'pattern', file: 'pattern', 'from-file': 'pattern' },
    operands: ['pattern', 'read'],
    evaluate: searchBelow,
  });
const OUTPUT = { o: 'overwrite', output: 'overwrite' } as const;

/**
 * Programs that print. What `echo` and `cat` print is known where their words are written out; of every other program it
 * is not known: nothing is formatted, decoded, turned round or translated here.
 */
export const TEXT_PROGRAMS: Programs = {
  pwd: { evaluate: ({ scope }) => (scope.directory === '.' ? { kind: 'directory', isNew: false } : UNKNOWN) },
  mktemp: {
    evaluate: ({ words, scope }) =>
      words.every(({ shown }) => /^-[dq]+$/.test(shown)) && !scope.variables.has('TMPDIR')
        ? { kind: 'directory', isNew: true }
        : UNKNOWN,
  },
  // Names of what nothing must be written to.
  ls: {
    options: 'wIT',
    operands: ['read'],
    evaluate: (call, { operands }) =>
      [Field.of('.'), ...operands].some((one) => isRisky(one, call.scope.directory)) ? COMPUTED : UNKNOWN,
  },
  echo: { evaluate: ({ words }) => echoed(words) },
  'which type': { prints: 'words' },
  'cat zcat bzcat xzcat dir du realpath readlink rev tac': reader(),
  'head tail': reader('nc lines bytes pid'),
  'grep zgrep ag ack egrep fgrep': search('mABCdD max-count context'),
  rg: search('gtTmABCjMrE glob type max-count context'),
  jq: search('L arg argjson indent'),
  sort: reader('kStT key field-separator buffer-size', { values: OUTPUT }),
  uniq: reader('fsw', { operands: ['read', 'overwrite'] }),
  shuf: reader('in input-range head-count', { values: OUTPUT }),
  'cut fold base64 base32 nl od hexdump strings': reader('bcdfwhilnsvAjNSte delimiter fields'),
  xxd: reader('csloR', { operands: ['read', 'overwrite'] }),
  'paste comm diff cmp wdiff column expand unexpand stat md5sum sha1sum sha256sum sha512sum cksum sum file':
    reader('fFU'),
  'gunzip gzip bzip2 bunzip2 xz unxz zstd unzstd': reader('', {
    values: OUTPUT,
    evaluate(call, { operands }) {
      if (/^-(?:[a-z0-9]*[clt]|-stdout|-to-stdout|-list|-test)/m.test(call.shown)) return;
      for (const file of operands) call.touches('write', file);
    },
  }),
  'iconv tree': reader('ftLPI', { values: OUTPUT }),
  'less more most': reader('', { values: OUTPUT, code: /^\+\+?[!|#](.+)$/s }),
  tr: { prints: 'input' },
  wc: { operands: ['read'], prints: 'number' },
  'nproc seq expr': { prints: 'number' },
  'sed gsed': {
    options: 'l line-length',
    values: { e: 'pattern', expression: 'pattern', f: 'script', file: 'script' },
    operands: ['pattern', 'read'],
    evaluate: evaluateSed,
  },
  'awk gawk mawk nawk': {
    options: 'FvlWi field-separator assign include load',
    values: { e: 'pattern', source: 'pattern', f: 'script', file: 'script', E: 'script', exec: 'script' },
    leads: true,
    operands: ['pattern', 'read'],
    evaluate: evaluateAwk,
  },
};

/** Without files and without input these read the directory with all below it. */
function searchBelow(call: Call, options: Options): void {
  const hasPattern = options.has('e', 'regexp', 'f', 'file');
  const isDeep =
    /^(?:rg|ag|ack)$/.test(call.name) || options.has('r', 'R', 'recursive', 'dereference-recursive');
  if (isDeep && options.operands.length < (hasPattern ? 1 : 2) && call.input === UNKNOWN)
    call.touches('read', Field.of('.'));
}

/** Some shells take backslashes for escapes here, others do not. */
function echoed(words: readonly Field[]): Stream {
  const rest = /^-[nE]+$/.test(words[0]?.shown ?? '') ? words.slice(1) : words;
  const text = exactTexts(rest)?.join(' ');
  if (text === undefined) return streamFrom(words);
  if (/\\|^-[neE]/.test(text)) return COMPUTED;
  return textStream(
    `${text}\n`,
    words.every(({ literal }) => literal),
  );
}

/** `sed`: its scripts can run commands (`e`) and write files (`w`); `-i` writes those it reads. */
function evaluateSed(call: Call, options: Options): Stream {
  // `-i.e` may have been meant for a script.
  if (/^-[a-zA-Z]*i.*(?:e.|f|l$)/m.test(call.shown)) call.ask('An option of sed is not plain.');
  const isFirst = !options.has('e', 'expression', 'f', 'file');
  const scripts = isFirst ? options.operands.slice(0, 1) : options.values('e', 'expression');
  for (const script of scripts) {
    // A value within a script can end it and start a command of its own.
    if (script.exact === undefined) call.ask(`The script of sed is computed: ${script.shown}`);
    if (!isPlainScript(script.known)) call.ask('The script of sed is not plain: it may run or write more.');
  }
  const files = options.operands.slice(isFirst ? 1 : 0);
  const inPlace = options.given.find(({ name }) => name === 'i' || /^in-p/.test(name))?.word.shown;
  if (inPlace !== undefined) for (const file of files) call.overwrite(file, UNKNOWN);
  return files.length === 0 && call.input.kind !== 'text' ? call.input : UNKNOWN;
}

/** Within `[…]` of a pattern the delimiter stands for itself. */
const CLASS = String.raw`\[\^?\]?(?:\[:\w+:\]|(?!\[:\w+:\])[^\]])*\]`;

/** A plain command, and the addresses before it: numbers, steps, `$`, patterns. No text matches in two ways. */
const COMMAND = new RegExp(
  String.raw`[\s;{}\d$,~+!]*(?:${[
    String.raw`/(?:\\.|${CLASS}|[^/\\[])*/[IM]*`,
    String.raw`[sy]([^\n\\])(?:\\[^]|${CLASS}|(?!\1)[^\\[])*\1(?:\\[^]|(?!\1)[^\\])*\1[gpiImM\d]*(?![ew])`,
    // Without words, with a number, with a label, with text or a file to read up to the end of the line.
    String.raw`[={}dDgGhHlnNpPqQxzF][ \d]*|[btT:][^\n;}]*|[aic](?:\\\n|.)*|[rRv#].*`,
  ].join('|')})?`,
  'y',
);

function isPlainScript(script: string): boolean {
  for (let at = 0; at < script.length; at = COMMAND.lastIndex) {
    COMMAND.lastIndex = at;
    if (!COMMAND.test(script) || COMMAND.lastIndex === at) return false;
  }
  return true;
}

/** `awk`: programs that run commands (`system`, pipes) or write files. */
function evaluateAwk(call: Call, options: Options): void {
  const isFile = options.has('f', 'file', 'E', 'exec');
  const given = options.values('e', 'source');
  const [first] = isFile ? [] : options.operands;
  const program = given.length > 0 ? Field.join(given) : first;
  const library = options.given.find(({ name }) => /^(?:[il]|include|load)$/.test(name));
  if (library?.value?.shown === 'inplace')
    for (const file of options.operands.slice(isFile ? 0 : 1)) call.overwrite(file, UNKNOWN);
  else if (library !== undefined) call.ask('awk loads a library.');
  if (program === undefined) return;
  if (program.exact === undefined) call.ask(`The program of awk is computed: ${program.shown}`);
  // Strings and patterns emptied, so that what is in them is not read as code.
  const code = program.known
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/(^|[\s(,{;!~&|])\/(?:[^/\\\n]|\\.)+\//g, '$1//')
    .replaceAll('||', ' ');
  // In parentheses `>` compares.
  const bare = code.replaceAll(/\([^()]*\)/g, '');
  const isPlain = !/\bsystem\s*\(|\||\bgetline\b|@(?:load|include)|@\w+\s*\(/.test(code);
  if (!isPlain || /\bprintf?\b[^;}\n]*>/.test(bare))
    call.ask('awk runs commands, or reads or writes more files.');
  findCertain(call, program.known);
}
