import { type Call, runCode, runSubstitutions } from '../words/call.js';
import {
  dropPrefix,
  exactText,
  exactTexts,
  type Field,
  INHERITED,
  isComputed,
  knownText,
  literalField,
} from '../words/field.js';
import type { Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import { HOME, type Scope, textValue } from '../words/scope.js';
import { evaluateVariable, setVariable } from '../words/variables.js';
import type { Program, Programs } from './program.js';
import { USES } from './uses.js';

const SILENT: Program = { prints: 'nothing' };

const DECLARES: Program = { prints: 'nothing', also: evaluateDeclaration };

/** What shells have built in, but for what prints. */
export const BUILTIN_PROGRAMS: Programs = {
  ': true false exit return break continue umask ulimit wait': SILENT,
  'cd chdir pushd popd': { prints: 'nothing', also: evaluateCd },
  'declare typeset local export readonly': DECLARES,
  read: { short: 'dinNptu', options: { a: 'name' }, operands: ['name'], prints: 'nothing', also: setReply },
  'mapfile readarray': {
    short: 'dnOsuc',
    options: { C: 'code' },
    operands: ['name'],
    when: [['ask', /^-\w*C/m, 'runs a command for the lines it reads']],
    prints: 'nothing',
  },
  getopts: {
    prints: 'nothing',
    also(call) {
      if (call.words[1] !== undefined) USES.name(call, call.words[1]);
      call.scope.set('OPTARG', { kind: 'unknown', numeric: false });
    },
  },
  set: { prints: 'nothing', also: evaluateSet },
  shift: {
    prints: 'nothing',
    also({ scope, words }) {
      // How many are taken is not worth knowing: without words, and with arguments, it is one.
      const isOne = words.length === 0 && (scope.positional?.length ?? 0) > 0;
      scope.positional = isOne ? scope.positional?.slice(1) : undefined;
    },
  },
  unset: { prints: 'nothing', also: evaluateUnset },
  let: { operands: ['evaluated'], prints: 'nothing', also: setNumbers },
  'test [': { prints: 'nothing', also: evaluateTest },
  trap: { prints: 'nothing', also: evaluateTrap },
  alias: { prints: 'nothing', also: evaluateAlias },
  'complete compgen': {
    short: 'AGPSXo',
    options: { 'C F': 'code', W: 'skip' },
    when: [['ask', /^-\w*[CFW]/m, 'runs what completes words']],
  },
  fc: { when: [['ask', /^/, 'runs commands of the history']] },
  hash: asksAbout(/^-\w*p/m, 'can put one program in the place of another'),
  enable: asksAbout(/^-\w*[fn]/m, 'changes which commands there are'),
  bind: asksAbout(/^-\w*x/m, 'gives keys commands'),
  history: asksAbout(/^-\w*[cdps]/m, 'changes the history'),
  shopt: asksAbout(/^(?:expand_aliases|extdebug|nullglob)$/m, 'changes how code is read'),
};

function asksAbout(word: RegExp, reason: string): Program {
  return {
    when: [['ask', word, reason]],
    prints: 'nothing',
    also({ findings, words, name }) {
      if (exactTexts(words) === undefined) findings.ask(`${name} ${reason}.`);
    },
  };
}

function evaluateCd({ words, scope, name, findings }: Call): void {
  const [target] = words.filter(({ shown }) => !/^(?:-[LPe@n]+|--)$/.test(shown));
  if (target !== undefined && isComputed(target)) findings.ask(`The directory is computed: ${target.shown}`);
  scope.cameFrom = scope.directory;
  if (name === 'popd' || (name === 'pushd' && target === undefined)) scope.directory = undefined;
  else scope.directory = target === undefined ? HOME : directoryOf(target, scope);
}

/** Where `cd` leads; undefined where that is not known. */
export function directoryOf(target: Field, scope: Scope): string | undefined {
  const text = exactText(target);
  const isAbsolute = text?.startsWith('/') === true;
  if (text === undefined || text === '-' || (!isAbsolute && scope.directory === undefined)) return undefined;
  const path = pathText(target, scope.directory);
  return path === '.' || /^(?:\/|\.\.)/.test(path) ? path : `./${path}`;
}

/** `trap CODE SIGNAL…`: the code runs later, in this shell. */
function evaluateTrap(call: Call): void {
  const [code, signal] = call.words[0]?.shown === '--' ? call.words.slice(1) : call.words;
  if (code !== undefined && signal !== undefined && !/^(?:-[lpP]*|)$/.test(code.shown)) runCode(call, code);
}

/** An alias changes what the words behind it mean. */
function evaluateAlias({ words, findings, shell, scope }: Call): void {
  if (words.some(isComputed)) findings.ask('An alias is computed.');
  for (const { shown } of words) {
    const equals = shown.indexOf('=');
    if (equals < 1) continue;
    findings.ask(`An alias changes what commands mean: ${shown}`);
    shell.runText(shown.slice(equals + 1), scope.copy(), INHERITED);
  }
}

/** `set -e a b`: what stands behind the options are the arguments, as it is behind `--` and `-`. */
function evaluateSet({ words, scope }: Call): void {
  let at = 0;
  for (; at < words.length; at++) {
    const text = words[at]?.shown ?? '';
    if (/^--?$/.test(text) || !/^[-+]/.test(text)) break;
    if (text.endsWith('o')) at++;
  }
  const mark = words[at]?.shown ?? '';
  const rest = words.slice(/^--?$/.test(mark) ? at + 1 : at);
  if (rest.length > 0 || mark === '--') scope.positional = exactTexts(rest);
}

function evaluateUnset(call: Call): void {
  const { findings, scope, shell, words } = call;
  for (const word of words) {
    const text = exactText(word);
    if (text?.startsWith('-') === true) continue;
    if (text === undefined || /[[$`]/.test(text)) {
      findings.ask(`The name that unset takes is computed: ${word.shown}`);
      runSubstitutions(call, knownText(word));
    } else {
      evaluateVariable(shell, text, textValue('', true), scope);
      scope.variables.set(text, textValue('', true));
      scope.functions.delete(text);
    }
  }
}

function setReply(call: Call, options: Options): void {
  if (options.operands.length === 0 && !options.has('a')) USES.name(call, literalField('REPLY'));
}

/** `let x=…` sets a number. */
function setNumbers({ words, scope, shell }: Call): void {
  for (const word of words) {
    const name = /^([A-Za-z_]\w*)(?:[-+*/%]?=|\+\+|--)/.exec(knownText(word))?.[1];
    if (name !== undefined) setVariable({ shell, scope }, name, { kind: 'unknown', numeric: true });
  }
}

/** `test -v NAME` evaluates the name; `[ $x … ]` may itself come to `-v a[$(…)]`. */
function evaluateTest(call: Call): void {
  call.words.forEach((word, index) => {
    const option = call.words[index - 1]?.shown ?? '';
    if (/^-[vR]$/.test(option)) USES.evaluated(call, word);
  });
}

/** `declare`, `export`, `local`, `readonly`: assignments are words here. */
function evaluateDeclaration(call: Call): void {
  const { words, findings, name, scope } = call;
  const flags = words.flatMap(({ shown }) => (/^-\w/.test(shown) ? [shown] : [])).join('');
  const isFixed = name === 'readonly' || flags.includes('r');
  if (flags.includes('i')) findings.ask(`${name} -i makes a variable that evaluates what it is given.`);
  if (flags.includes('f') && (name === 'export' || flags.includes('x')))
    findings.ask(`${name} hands functions on to other shells.`);
  if (flags.includes('n') && name !== 'export')
    findings.ask('A variable stands for another one (a nameref).');
  for (const word of words) {
    const text = exactText(word);
    if (text === undefined) findings.ask(`The names that ${name} sets are computed: ${word.shown}`);
    if (text === undefined || /^[-+]/.test(text)) continue;
    const [whole = '', variable, assigns] = /^([A-Za-z_]\w*)(\+?=)?/.exec(text) ?? [];
    if (variable === undefined || /^\w+\[/.test(text)) {
      findings.ask(`${name} evaluates ${word.shown}`);
      runSubstitutions(call, text);
    }
    if (variable === undefined) continue;
    if (assigns !== undefined) declare(call, variable, dropPrefix(word, whole.length));
    if (isFixed) scope.fixed.add(variable);
  }
}

function declare({ scope, shell, name: command }: Call, name: string, value: Field): void {
  const text = exactText(value) ?? '';
  // Outside of a function `local` fails, and what was set stays. An array written out was assigned already.
  if (text.startsWith('(') || (command === 'local' && scope.calls.size === 0 && scope.variables.has(name)))
    return;
  const before = scope.variables.get(name);
  // So was whatever is not known.
  const isDone = before !== undefined && (before.kind !== 'text' || before.assumed || before.text === text);
  if (!isDone) scope.set(name, textValue(text));
  evaluateVariable(shell, name, scope.get(name) ?? textValue(text), scope);
}
