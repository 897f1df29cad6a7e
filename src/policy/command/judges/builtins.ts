import { toValue } from '../expand/expand-parameter.js';
import { isSafeValue } from '../expand/is-safe-arithmetic.js';
import { exactText, type Field, knownText } from '../field.js';
import { showPlace, toPlace } from '../place.js';
import { readOptions } from '../read-options.js';
import { HOME, type Scope } from '../scope.js';
import type { Judge, Judges } from '../shell.js';
import { INHERITED, NOTHING, UNKNOWN } from '../stream.js';
import { judgeDeclare } from './declarations.js';
import { runCodeWord, runSubstitutions } from './run-payload.js';
import { judgeGetopts, judgeMapfile, judgePrintf, judgeRead } from './set-names.js';

const judgeCd: Judge = ({ words, scope, name }) => {
  const operands = words.filter(({ shown }) => !/^(?:-[LPe@n]+|--)$/.test(shown));
  const [target] = operands;
  scope.cameFrom = scope.directory;
  if (name === 'popd' || (name === 'pushd' && target === undefined)) scope.directory = undefined;
  else if (target === undefined) scope.directory = HOME;
  else scope.directory = resolve(target, scope);
  return NOTHING;
};

function resolve(target: Field, scope: Scope): string | undefined {
  const text = exactText(target);
  if (text === '-' || (text === undefined && !target.pieces.every(({ kind }) => kind !== 'unknown')))
    return undefined;
  if (text === undefined) return undefined;
  const place = toPlace(target, scope.directory);
  if (place.origin === 'unknown') return undefined;
  const shown = showPlace(place);
  return place.origin === 'root' || shown.startsWith('..') || shown === '.' ? shown : `./${shown}`;
}

/** `trap CODE SIGNAL…`: the code runs later, in this shell. */
const judgeTrap: Judge = (call) => {
  const words = call.words[0]?.shown === '--' ? call.words.slice(1) : call.words;
  const [code] = words;
  if (words.length < 2 || code === undefined || /^(?:-[lpP]*|)$/.test(code.shown)) return NOTHING;
  runCodeWord(call, code, call.scope.copy());
  return NOTHING;
};

/** An alias changes what the words behind it mean. */
const judgeAlias: Judge = (call) => {
  for (const word of call.words) {
    const equals = word.shown.indexOf('=');
    if (equals < 1) continue;
    call.findings.ask(`An alias changes what commands mean: ${word.shown}`);
    call.shell.runText(word.shown.slice(equals + 1), call.scope.copy(), INHERITED);
  }
  return NOTHING;
};

/** `set -e a b`: what stands behind the options are the arguments, as it is behind `--` and `-`. */
const judgeSet: Judge = ({ words, scope }) => {
  let at = 0;
  for (; at < words.length; at++) {
    const text = words[at]?.shown ?? '';
    if (text === '--' || text === '-' || !/^[-+]/.test(text)) break;
    if (/o$/.test(text)) at++;
  }
  const mark = words[at]?.shown;
  const isMarked = mark === '--' || mark === '-';
  const rest = words.slice(isMarked ? at + 1 : at);
  if (rest.length === 0 && mark !== '--') return NOTHING;
  const texts = rest.map(exactText);
  scope.positional = texts.every((text) => text !== undefined) ? texts : undefined;
  return NOTHING;
};

const judgeShift: Judge = ({ words, scope }) => {
  const count = Number(words[0]?.shown ?? '1');
  // One that takes more than there is fails, and takes nothing.
  const isDone = Number.isInteger(count) && count <= (scope.positional?.length ?? 0);
  scope.positional = isDone ? scope.positional?.slice(count) : undefined;
  return NOTHING;
};

const judgeUnset: Judge = (call) => {
  for (const word of call.words) {
    const text = exactText(word);
    if (text?.startsWith('-') === true) continue;
    if (text === undefined || /[[$`]/.test(text)) {
      call.findings.ask(`The name that unset takes is computed: ${word.shown}`);
      runSubstitutions(call, knownText(word));
    } else {
      call.scope.variables.set(text, { kind: 'text', text: '', assumed: true });
      call.scope.functions.delete(text);
    }
  }
  return NOTHING;
};

/** `let` and `test -v` evaluate their words. */
const judgeLet: Judge = (call) => {
  for (const word of call.words) {
    if (!isInert(word, call.scope)) {
      call.findings.ask(`let evaluates ${word.shown}`);
      runSubstitutions(call, knownText(word));
    }
    const name = /^([A-Za-z_]\w*)(?:[-+*/%]?=|\+\+|--)/.exec(knownText(word))?.[1];
    if (name !== undefined) call.scope.set(name, { kind: 'unknown', numeric: true });
  }
  return NOTHING;
};

/** It can be evaluated without running anything. */
function isInert(word: Field, scope: Scope): boolean {
  return isSafeValue(toValue(word.pieces), scope);
}

const judgeTest: Judge = (call) => {
  call.words.forEach((word, index) => {
    const option = call.words[index - 1]?.shown;
    if ((option === '-v' || option === '-R') && !isInert(word, call.scope)) {
      call.findings.ask(`test evaluates ${word.shown}`);
      runSubstitutions(call, knownText(word));
    }
    // `[ $x … ]` with an unquoted value may itself come to `-v a[$(…)]`.
    if (
      word.pieces.some(
        (piece) => piece.kind === 'unknown' && piece.splits && piece.from !== undefined && !piece.numeric,
      )
    ) {
      if (option === '-v') call.findings.ask(`test evaluates ${word.shown}`);
    }
  });
  return NOTHING;
};

const asksAbout =
  (reason: string, when: RegExp): Judge =>
  (call) => {
    if (call.words.some((word) => when.test(word.shown) || exactText(word) === undefined))
      call.findings.ask(`${call.name} ${reason}.`);
    return NOTHING;
  };

const judgeComplete: Judge = (call) => {
  const { value, has } = readOptions(call.words, { short: 'ACFGWPSXo' });
  const code = value('C') ?? value('F');
  if (has('C', 'F', 'W')) call.findings.ask(`${call.name} runs what completes words.`);
  if (code !== undefined) runCodeWord(call, code, call.scope.copy());
  return UNKNOWN;
};

const judgeFc: Judge = (call) => {
  call.findings.ask('fc runs commands of the history.');
  return UNKNOWN;
};

const silent: Judge = () => NOTHING;

export const BUILTIN_JUDGES: Judges = {
  cd: judgeCd,
  chdir: judgeCd,
  pushd: judgeCd,
  popd: judgeCd,
  trap: judgeTrap,
  alias: judgeAlias,
  declare: judgeDeclare,
  typeset: judgeDeclare,
  local: judgeDeclare,
  export: judgeDeclare,
  readonly: judgeDeclare,
  read: judgeRead,
  mapfile: judgeMapfile,
  readarray: judgeMapfile,
  printf: judgePrintf,
  set: judgeSet,
  shift: judgeShift,
  unset: judgeUnset,
  let: judgeLet,
  test: judgeTest,
  '[': judgeTest,
  complete: judgeComplete,
  compgen: judgeComplete,
  getopts: judgeGetopts,
  fc: judgeFc,
  hash: asksAbout('can put one program in the place of another', /^-\w*p/),
  enable: asksAbout('changes which commands there are', /^-\w*[fn]/),
  bind: asksAbout('gives keys commands', /^-\w*x/),
  history: asksAbout('changes the history', /^-\w*[cdps]/),
  shopt: asksAbout('changes how code is read', /^(?:expand_aliases|extdebug|nullglob)$/),
  wait: silent,
  ':': silent,
  true: silent,
  false: silent,
  exit: silent,
  return: silent,
  break: silent,
  continue: silent,
  umask: silent,
  ulimit: silent,
  jobs: () => UNKNOWN,
};
