import type { Call } from '../words/call.js';
import { secretIn } from '../words/danger.js';
import {
  COMPUTED,
  exactTexts,
  type Field,
  isLiteral,
  joinStreams,
  NOTHING,
  type Stream,
  streamFrom,
  textStream,
  UNKNOWN,
} from '../words/field.js';
import { pathText } from '../words/place.js';
import { type Evaluators, through } from './program.js';
import { evaluateAwk, evaluateSed } from './scripts.js';

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
  ls: (call, { operands }) => listing(call, operands),
  'cat bat': (call, { operands }) => contents(call, operands),
  echo: ({ words }) => echoed(words),
  'sed gsed': evaluateSed,
  'awk gawk mawk nawk': evaluateAwk,
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
