import { toValue } from '../expand/expand-parameter.js';
import { isSafeValue } from '../expand/is-safe-arithmetic.js';
import { exactText, type Field, knownText } from '../field.js';
import { judgeVariable } from '../judge-variable.js';
import { showPlace, toPlace } from '../place.js';
import { readOptions } from '../read-options.js';
import { HOME, type Scope, UNKNOWN_VALUE } from '../scope.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { INHERITED, NOTHING, UNKNOWN } from '../stream.js';
import { printfText } from './printf-text.js';
import { runCodeWord, runSubstitutions } from './run-payload.js';

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

/** `declare`, `export`, `local`, `readonly`: assignments are words here. */
const judgeDeclare: Judge = (call) => {
  const { words, findings } = call;
  const isInteger = words.some(({ shown }) => /^-\w*i/.test(shown));
  const isFixed = call.name === 'readonly' || words.some(({ shown }) => /^-\w*r/.test(shown));
  for (const word of words) {
    const text = exactText(word);
    if (text === undefined) {
      findings.ask(`The names that ${call.name} sets are computed: ${word.shown}`);
      continue;
    }
    if (text.startsWith('-') || text.startsWith('+')) {
      if (/^-\w*n/.test(text) && call.name !== 'export')
        findings.ask('A variable stands for another one (a nameref).');
      continue;
    }
    const match = /^([A-Za-z_]\w*)(\+?=)?/.exec(text);
    if (match === null || /^\w+\[/.test(text)) {
      findings.ask(`${call.name} evaluates ${word.shown}`);
      runSubstitutions(call, text);
    }
    if (match?.[1] === undefined) continue;
    declareOne(call, match[1], match[2] === undefined ? undefined : text.slice(match[0].length), isInteger);
    if (isFixed) call.scope.fixed.add(match[1]);
  }
  return NOTHING;
};

function declareOne(
  { scope, findings, shell, name: command }: Invocation,
  name: string,
  text: string | undefined,
  isInteger: boolean,
): void {
  // Outside of a function it fails, and what was set stays.
  const fails = command === 'local' && scope.calls.size === 0 && scope.variables.has(name);
  // An array written out was assigned already, as was whatever is not known.
  if (text !== undefined && !text.startsWith('(') && !fails) {
    const value = { kind: 'text', text, assumed: false } as const;
    if (!isDone(scope, name, text)) scope.set(name, value);
    judgeVariable(shell, name, scope.get(name) ?? value, scope);
  }
  if (isInteger) scope.integers.add(name);
  const value = scope.get(name);
  if (scope.integers.has(name) && value !== undefined && !isSafeValue(value, scope)) {
    findings.ask(`${command} evaluates the value of ${name}.`);
  }
}

function isDone(scope: Scope, name: string, text: string): boolean {
  const value = scope.variables.get(name);
  return value !== undefined && (value.kind !== 'text' || value.assumed || value.text === text);
}

/** Names that are set from elsewhere. An index in a name is run. */
const judgeRead: Judge = (call) => {
  const { operands, options } = readOptions(call.words, { short: 'adinNptu' });
  const array = options.find(({ name }) => name === 'a')?.value;
  const names = array === undefined ? operands : [array];
  const line = call.input.kind === 'text' ? call.input.text.split('\n')[0] : undefined;
  const fields = line?.trim().split(/[ \t]+/) ?? [];
  const isList = array !== undefined && line !== undefined;
  names.forEach((word, index) => {
    const name = setName(call, word);
    if (name === undefined) return;
    const isLast = index === names.length - 1;
    const text =
      line === undefined ? undefined : isLast ? fields.slice(index).join(' ') : (fields[index] ?? '');
    if (isList) call.scope.set(name, { kind: 'list', items: fields });
    else call.scope.set(name, text === undefined ? fromInput(call) : { kind: 'text', text, assumed: false });
  });
  if (names.length === 0)
    call.scope.set(
      'REPLY',
      line === undefined ? fromInput(call) : { kind: 'text', text: line, assumed: false },
    );
  return NOTHING;
};

function fromInput({ input }: Invocation) {
  return { kind: 'unknown', numeric: false, from: input } as const;
}

function setName(call: Invocation, word: Field): string | undefined {
  const text = exactText(word);
  if (text !== undefined && /^[A-Za-z_]\w*$/.test(text)) return text;
  call.findings.ask(`The name that ${call.name} sets is computed: ${word.shown}`);
  runSubstitutions(call, knownText(word));
  return undefined;
}

const judgeMapfile: Judge = (call) => {
  const { operands, has, value } = readOptions(call.words, { short: 'dnOsuCc' });
  const callback = value('C');
  if (callback !== undefined) runCodeWord(call, callback, call.scope.copy());
  if (has('C')) call.findings.ask(`${call.name} runs a command for the lines it reads.`);
  for (const word of operands) {
    const name = setName(call, word);
    const lines = call.input.kind === 'text' ? call.input.text.replace(/\n$/, '').split('\n') : undefined;
    if (name !== undefined)
      call.scope.set(name, lines === undefined ? UNKNOWN_VALUE : { kind: 'list', items: lines });
  }
  return NOTHING;
};

const judgePrintf: Judge = (call) => {
  const { words } = call;
  const isSet = words[0]?.shown.startsWith('-v') === true;
  const attached = isSet && words[0] !== undefined && words[0].shown.length > 2;
  const rest = isSet ? words.slice(attached ? 1 : 2) : words[0]?.shown === '--' ? words.slice(1) : words;
  const output = printfText(rest);
  // What is not bash has no `-v`.
  if (!isSet || call.shell.dialect === 'sh') return output;
  const target = attached
    ? words[0]?.shown.slice(2)
    : words[1] === undefined
      ? undefined
      : exactText(words[1]);
  if (target === undefined || !/^[A-Za-z_]\w*$/.test(target)) {
    call.findings.ask('The name that printf sets is computed.');
    return NOTHING;
  }
  call.scope.set(
    target,
    output.kind === 'text' ? { kind: 'text', text: output.text, assumed: false } : UNKNOWN_VALUE,
  );
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

const judgeGetopts: Judge = (call) => {
  const name = call.words[1] === undefined ? undefined : setName(call, call.words[1]);
  if (name !== undefined) call.scope.set(name, UNKNOWN_VALUE);
  call.scope.set('OPTARG', UNKNOWN_VALUE);
  return NOTHING;
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
