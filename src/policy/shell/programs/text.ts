import type { Call } from '../words/call.js';
import { Field, NUMBER, type Stream, streamOf, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import type { Program, Programs } from './program.js';

/** A program that prints its input, or part of it. */
const READER: Program = {
  options: 'o output',
  operands: 'read',
  prints: 'input',
  evaluate(call, options) {
    for (const file of options.values('o', 'output')) call.overwrite(file, UNKNOWN);
  },
};

/** Its first operand is a pattern or a script, unless an option has it. */
const SEARCH: Program = { options: 'ef regexp file', prints: 'input', evaluate: evaluateSearch };

/**
 * Programs that print. The output of `echo` and `cat` is known if their words are literal. The output of all
 * other programs is not known: nothing is formatted, decoded, reversed or translated here.
 */
export const TEXT_PROGRAMS: Programs = {
  echo: { evaluate: ({ words }) => echoed(words) },
  'ls cat zcat dir du realpath readlink rev tac head tail sort shuf cut fold base64 base32 nl od hexdump strings':
    READER,
  'paste comm diff cmp column expand unexpand stat md5sum sha1sum sha256sum sha512sum cksum file iconv tree':
    READER,
  'less more': { ...READER, verdicts: [['ask', /^\+\+?[!|#]/m, 'runs a command']] },
  'grep zgrep ag ack egrep fgrep rg jq': SEARCH,
  tr: { prints: 'input' },
  'pwd which type expr pgrep sleep uname arch whoami id groups logname uptime df free ps basename dirname printenv tty cal clear tput':
    {},
  printf: {
    options: 'v',
    leads: true,
    evaluate(call, options) {
      for (const name of options.values('v')) call.setName(name);
    },
  },
  wc: { operands: 'read', evaluate: (_, { operands }) => (operands.length === 0 ? NUMBER : UNKNOWN) },
  'nproc seq': { prints: 'number' },
  sed: { options: 'lef expression file', evaluate: evaluateSed },
  'awk gawk mawk nawk': {
    options: 'FvefE field-separator assign source file exec',
    leads: true,
    evaluate: evaluateAwk,
  },
};

function evaluateSearch(call: Call, options: Options): Stream | undefined {
  const { operands } = options;
  const files = operands.slice(options.has('e', 'regexp', 'f', 'file') ? 0 : 1);
  for (const file of [...files, ...options.values('f', 'file')]) call.touches('read', file);
  // Without files and input, these read the directory with everything below it.
  const isDeep =
    /^(?:rg|ag|ack)$/.test(call.name) || options.has('r', 'R', 'recursive', 'dereference-recursive');
  if (isDeep && files.length === 0 && call.input === UNKNOWN) call.touches('read', Field.of('.'));
  // The names of files below a directory that each name begins with, so that none looks like an option.
  const [root] = files;
  const lists = isDeep && files.length === 1 && options.has('l', 'files-with-matches');
  return lists && root?.literal === true && options.given.every(({ word }) => ONLY_FINDS.test(word.shown))
    ? { kind: 'listing', root: pathText(root, call.scope.directory) }
    : undefined;
}

/** Options of grep without values, or with one in the same word. */
const ONLY_FINDS =
  /^(?:-[rRlinwEFPsv]+|--(?:files-with-matches|recursive|(?:include|exclude|exclude-dir)=.+))$/;

/** Some shells interpret backslashes here, others do not. */
function echoed(words: readonly Field[]): Stream {
  const rest = /^-[nE]+$/.test(words[0]?.shown ?? '') ? words.slice(1) : words;
  const stream = streamOf(rest, '\n');
  return stream.kind === 'text' && /\\|^-[neE]/.test(stream.text) ? UNKNOWN : stream;
}

/** `sed`: its scripts can run commands (`e`), write files (`w`) and read them (`r`); `-i` writes the files that it reads. */
function evaluateSed(call: Call, options: Options): Stream {
  // `-i.e` may have been meant as a script.
  if (/^-[a-zA-Z]*i.*(?:e.|f|l$)/m.test(call.shown)) call.ask('An option of sed is not plain.');
  for (const file of options.values('f', 'file')) call.runsFile(file);
  const isFirst = !options.has('e', 'expression', 'f', 'file');
  const scripts = isFirst ? options.operands.slice(0, 1) : options.values('e', 'expression');
  // An unknown value in a script can end it and start another command.
  if (scripts.some(({ exact }) => exact === undefined || !isPlainScript(exact)))
    call.ask('The script of sed is not plain: it may run, read or write more.');
  const files = options.operands.slice(isFirst ? 1 : 0);
  const inPlace = options.given.some(({ name }) => name === 'i' || /^in-p/.test(name));
  for (const file of files) {
    call.touches('read', file);
    if (inPlace) call.overwrite(file, UNKNOWN);
  }
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
    String.raw`s([^\n\\])(?:\\[^]|${CLASS}|(?!\1)[^\\[])*\1(?:\\[^]|(?!\1)[^\\])*\1[gpiImM\d]*(?![ew])`,
    // Its words are characters, so that a bracket is only one of them.
    String.raw`y([^\n\\])(?:(?:\\[^]|(?!\2)[^\\])*\2){2}`,
    // Commands without words, with a number, with a label, or with text up to the end of the line.
    String.raw`[={}dDgGhHlnNpPqQxzF][ \d]*|[btTv:][^\n;}]*|[aic](?:\\\n|.)*|#.*`,
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

/** `awk`: programs can run commands (`system`, pipes), load libraries, and write files. */
function evaluateAwk(call: Call, options: Options): void {
  for (const file of options.values('f', 'file', 'E', 'exec')) call.runsFile(file);
  const isFile = options.has('f', 'file', 'E', 'exec');
  const given = options.values('e', 'source');
  const isFirst = given.length === 0 && !isFile;
  if (options.has('i', 'include', 'l', 'load')) call.ask('awk loads a library.');
  for (const file of options.operands.slice(isFirst ? 1 : 0)) call.touches('read', file);
  const program = isFirst ? options.operands[0] : Field.join(given);
  if (program === undefined) return;
  // After some signs a statement continues on the next line. Inside parentheses `>` is a comparison.
  const code = program.known
    .replaceAll(AWK_TOKEN, (token, slash?: string, unclear?: string) =>
      unclear === undefined
        ? (slash ?? (AWK_STRING.test(token) ? '""' : token.startsWith('"') ? '@' : ' '))
        : '@',
    )
    .replaceAll(/\\\n|(?=\n)(?<=(?:[,?:]|&&|\|\|)[ \t]*)\n/g, ' ')
    .replaceAll('||', ' ');
  const isPlain = !/\bsystem\s*\(|[|@]|\bgetline\b|\b(?:ARG[VC]|SYMTAB)\b/.test(code);
  const writes = /\bprintf?\b[^;}\n]*>/.test(code.replaceAll(/\([^()]*\)/g, ''));
  if (program.exact === undefined || !isPlain || writes)
    call.ask('awk runs commands, or reads or writes more files, or its program is computed.');
}

/**
 * The parts of an awk program that are not code: strings, comments, and patterns, which occur where a value may
 * begin. After a number, a
 * field or an index a slash divides. Elsewhere it may do both, which matters before a quote or a `#`.
 */
const AWK_TOKEN = new RegExp(
  [
    String.raw`"(?:[^"\\\n]|\\[^])*"?|#[^\n]*`,
    String.raw`(?=/)(?<=(?:^|(?<!\\)\n|[(,{};!~&|?:=<>*%^])[ \t]*)/(?:\\.|[^/\\\n[]|\[(?!\^?\])(?:[^\]/\n\\]|\\.)*\])+/`,
    String.raw`(?=/)(?<=(?:\$\w+|(?<![\w$])\d[\d.]*|\])[ \t]*)(/)`,
    String.raw`(/[^/"#\n]*["#][^/\n]*/)`,
  ].join('|'),
  'g',
);

const AWK_STRING = /^"[\s\S]*"$/;
