import type { Call } from '../words/call.js';
import { Field, NUMBER, type Stream, streamOf, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import type { Program, Programs } from './program.js';
import { findCertain } from './shells.js';

const OUTPUT = { o: 'overwrite', output: 'overwrite' } as const;
/** A program that prints its input, or part of it. */
const READER: Program = { values: OUTPUT, operands: ['read'], prints: 'input' };
const search = (options: string): Program => ({
  ...READER,
  options,
  values: { e: 'pattern', f: 'pattern', regexp: 'pattern', file: 'pattern', 'from-file': 'pattern' },
  operands: ['pattern', 'read'],
  evaluate: searchBelow,
});

/**
 * Programs that print. The output of `echo` and `cat` is known if their words are literal. The output of all
 * other programs is not known: nothing is formatted, decoded, reversed or translated here.
 */
export const TEXT_PROGRAMS: Programs = {
  echo: { evaluate: ({ words }) => echoed(words) },
  'ls cat zcat bzcat xzcat dir du realpath readlink rev tac head tail sort shuf cut fold base64 base32 nl od hexdump strings':
    READER,
  'paste comm diff cmp wdiff column expand unexpand stat md5sum sha1sum sha256sum sha512sum cksum sum file iconv tree':
    READER,
  'uniq xxd': { ...READER, operands: ['read', 'overwrite'] },
  'less more most': { ...READER, code: /^\+\+?[!|#](.+)$/s },
  'gunzip gzip bzip2 bunzip2 xz unxz zstd unzstd': {
    ...READER,
    evaluate(call, { operands }) {
      if (/^-(?:[a-z0-9]*[clt]|-stdout|-to-stdout|-list|-test)/m.test(call.shown)) return;
      for (const file of operands) call.touches('write', file);
    },
  },
  'grep zgrep ag ack egrep fgrep': search('mABCdD max-count context'),
  rg: search('gtTmABCjMrE glob type max-count context'),
  jq: search('L arg argjson indent'),
  tr: { prints: 'input' },
  'pwd which type expr': {},
  printf: { values: { v: 'name' }, leads: true },
  wc: { operands: ['read'], evaluate: (_, { operands }) => (operands.length === 0 ? NUMBER : UNKNOWN) },
  'nproc seq': { prints: 'number' },
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

/** Without files and input, these read the directory with everything below it. */
function searchBelow(call: Call, options: Options): void {
  const hasPattern = options.has('e', 'regexp', 'f', 'file');
  const isDeep =
    /^(?:rg|ag|ack)$/.test(call.name) || options.has('r', 'R', 'recursive', 'dereference-recursive');
  if (isDeep && options.operands.length < (hasPattern ? 1 : 2) && call.input === UNKNOWN)
    call.touches('read', Field.of('.'));
}

/** Some shells interpret backslashes here, others do not. */
function echoed(words: readonly Field[]): Stream {
  const rest = /^-[nE]+$/.test(words[0]?.shown ?? '') ? words.slice(1) : words;
  const stream = streamOf(rest, '\n');
  return stream.kind === 'text' && /\\|^-[neE]/.test(stream.text) ? UNKNOWN : stream;
}

/** `sed`: its scripts can run commands (`e`) and write files (`w`); `-i` writes the files that it reads. */
function evaluateSed(call: Call, options: Options): Stream {
  // `-i.e` may have been meant as a script.
  if (/^-[a-zA-Z]*i.*(?:e.|f|l$)/m.test(call.shown)) call.ask('An option of sed is not plain.');
  const isFirst = !options.has('e', 'expression', 'f', 'file');
  const scripts = isFirst ? options.operands.slice(0, 1) : options.values('e', 'expression');
  // An unknown value in a script can end it and start another command.
  if (scripts.some(({ exact }) => exact === undefined || !isPlainScript(exact)))
    call.ask('The script of sed is not plain: it may run or write more.');
  const files = options.operands.slice(isFirst ? 1 : 0);
  const inPlace = options.given.some(({ name }) => name === 'i' || /^in-p/.test(name));
  if (inPlace) for (const file of files) call.overwrite(file, UNKNOWN);
  return files.length === 0 && call.input.kind !== 'text' ? call.input : UNKNOWN;
}

/** Inside `[…]` of a pattern the delimiter is literal. */
const CLASS = String.raw`\[\^?\]?(?:\[:\w+:\]|(?!\[:\w+:\])[^\]])*\]`;

/**
 * A plain command with its addresses: numbers, steps, `$`, patterns. Unambiguous, so that matching is linear.
 */
const COMMAND = new RegExp(
  String.raw`[\s;{}\d$,~+!]*(?:${[
    String.raw`/(?:\\.|${CLASS}|[^/\\[])*/[IM]*`,
    String.raw`[sy]([^\n\\])(?:\\[^]|${CLASS}|(?!\1)[^\\[])*\1(?:\\[^]|(?!\1)[^\\])*\1[gpiImM\d]*(?![ew])`,
    // Commands without words, with a number, with a label, or with text or a file name up to the end of the
    // line.
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

/** `awk`: programs that run commands (`system`, pipes), load libraries, or write files. */
function evaluateAwk(call: Call, options: Options): void {
  const isFile = options.has('f', 'file', 'E', 'exec');
  const given = options.values('e', 'source');
  const program = given.length > 0 ? Field.join(given) : isFile ? undefined : options.operands[0];
  if (options.has('i', 'include', 'l', 'load')) {
    call.ask('awk loads a library.');
    for (const file of options.operands.slice(isFile ? 0 : 1)) call.overwrite(file, UNKNOWN);
  }
  if (program === undefined) return;
  // Strings and patterns are emptied, so that their contents are not read as code; inside parentheses `>` is
  // a comparison.
  const code = program.known
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/(^|[\s(,{;!~&|])\/(?:[^/\\\n]|\\.)+\//g, '$1//')
    .replaceAll('||', ' ');
  const isPlain = !/\bsystem\s*\(|\||\bgetline\b|@(?:load|include)|@\w+\s*\(/.test(code);
  const writes = /\bprintf?\b[^;}\n]*>/.test(code.replaceAll(/\([^()]*\)/g, ''));
  if (program.exact === undefined || !isPlain || writes)
    call.ask('awk runs commands, or reads or writes more files, or its program is computed.');
  findCertain(call, program.known);
}
