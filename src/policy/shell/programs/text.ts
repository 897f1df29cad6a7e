import type { Call } from '../words/call.js';
import { COMPUTED, exactTexts, Field, type Stream, streamFrom, textStream, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { isRisky } from '../words/place.js';
import type { Evaluators } from './program.js';
import { findCertain } from './shells.js';

/**
 * Programs that print. What `echo` and `cat` print is known where their words are written out; of every other program it
 * is not known: nothing is formatted, decoded, turned round or translated here.
 */
export const TEXT_PROGRAMS: Evaluators = {
  pwd: ({ scope }) => (scope.directory === '.' ? { kind: 'directory', isNew: false } : UNKNOWN),
  mktemp: ({ words, scope }) =>
    words.every(({ shown }) => /^-[dq]+$/.test(shown)) && !scope.variables.has('TMPDIR')
      ? { kind: 'directory', isNew: true }
      : UNKNOWN,
  // Names of what nothing must be written to.
  ls: (call, { operands }) =>
    [Field.of('.'), ...operands].some((one) => isRisky(one, call.scope.directory)) ? COMPUTED : UNKNOWN,
  echo: ({ words }) => echoed(words),
  'sed gsed': evaluateSed,
  'awk gawk mawk nawk': evaluateAwk,
};

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
