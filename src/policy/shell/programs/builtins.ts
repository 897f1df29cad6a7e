import type { Call } from '../words/call.js';
import { COMPUTED, exactTexts, Field, textValue, type Value } from '../words/field.js';
import type { Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import { HOME, isSame, type Scope } from '../words/scope.js';
import { evaluateVariable, runSubstitutions } from '../words/variables.js';
import type { Evaluators } from './program.js';

/** What shells have built in, and programs that end processes. */
export const BUILTINS: Evaluators = {
  'cd chdir pushd popd': evaluateCd,
  'declare typeset local export readonly': evaluateDeclaration,
  set: evaluateSet,
  unset: evaluateUnset,
  shift({ scope, words }) {
    // How many are taken is not worth knowing: without words, and with arguments, it is one.
    const isOne = words.length === 0 && (scope.positional?.length ?? 0) > 0;
    scope.positional = isOne ? scope.positional?.slice(1) : undefined;
  },
  // `trap CODE SIGNAL…`: the code runs later, in this shell.
  trap(call) {
    const [code, signal] = call.words[0]?.shown === '--' ? call.words.slice(1) : call.words;
    if (code !== undefined && signal !== undefined && !/^(?:-[lpP]*|)$/.test(code.shown)) call.runCode(code);
  },
  kill(call) {
    const first = call.words[0]?.shown ?? '';
    const signal = /^-(?:s|n|-signal)$/.test(first) ? 2 : /^-(?!-$)./.test(first) ? 1 : 0;
    for (const word of call.words.slice(signal)) {
      // `-1` is every process there is, and process 1 is all of them too.
      if (/^-?0*1$/.test(word.shown)) call.block('kill would end every process.');
      if (word.exact === undefined && (word.pieces[0]?.kind === 'text' || word.isComputed))
        call.ask('Which processes kill ends is computed.');
    }
  },
};

function evaluateCd(call: Call): void {
  const { words, scope, name } = call;
  const [target] = words.filter(({ shown }) => !/^(?:-[LPe@n]+|--)$/.test(shown));
  if (target?.isComputed) call.ask(`The directory is computed: ${target.shown}`);
  const isPopped = name === 'popd' || (name === 'pushd' && target === undefined);
  const to = isPopped ? undefined : target === undefined ? HOME : directoryOf(target, scope);
  // One that fails leaves the shell where it was; that matters where nothing may be removed.
  const mayStay = scope.directory !== undefined && call.dangerOfTree(Field.of('.')) !== 'ordinary';
  scope.directory = mayStay && ![HOME, '/', '/tmp'].includes(to ?? '') ? undefined : to;
}

/** Where `cd` leads; undefined where that is not known. */
function directoryOf(target: Field, scope: Scope): string | undefined {
  const text = target.exact;
  const isAbsolute = text?.startsWith('/') === true;
  if (text === undefined || text === '-' || (!isAbsolute && scope.directory === undefined)) return undefined;
  const path = pathText(target, scope.directory);
  return path === '.' || /^(?:\/|\.\.)/.test(path) ? path : `./${path}`;
}

/** `set -e a b`: what stands behind the options are the arguments, as it is behind `--` and `-`. */
function evaluateSet({ words, scope }: Call, { operands }: Options): void {
  const rest = operands[0]?.shown === '-' ? operands.slice(1) : operands;
  const isMarked = words.some(({ shown }) => shown === '--');
  if (rest.length > 0 || isMarked) scope.positional = exactTexts(rest);
}

function evaluateUnset(call: Call): void {
  const { scope } = call;
  for (const word of call.words) {
    const text = word.exact;
    if (text?.startsWith('-') === true) continue;
    if (text === undefined || /[[$`]/.test(text)) {
      call.ask(`The name that unset takes is computed: ${word.shown}`);
      runSubstitutions(call, word.known);
    } else {
      evaluateVariable(call, text, textValue('', true));
      scope.variables.set(text, textValue('', true));
      scope.functions.delete(text);
    }
  }
}

/** `declare`, `export`, `local`, `readonly`: assignments are words here. */
function evaluateDeclaration(call: Call): void {
  const { words, name, scope } = call;
  const flags = words.flatMap(({ shown }) => (/^-\w/.test(shown) ? [shown] : [])).join('');
  const isFixed = name === 'readonly' || flags.includes('r');
  if (flags.includes('i')) call.ask(`${name} -i makes a variable that evaluates what it is given.`);
  if (flags.includes('f') && (name === 'export' || flags.includes('x')))
    call.ask(`${name} hands functions on to other shells.`);
  if (flags.includes('n') && name !== 'export') call.ask('A variable stands for another one (a nameref).');
  for (const word of words) {
    const text = word.known;
    const [whole = '', variable, assigns] = /^([A-Za-z_]\w*)(\+?=)?/.exec(text) ?? [];
    const isNamed = assigns !== undefined || word.exact !== undefined;
    if (!isNamed || word.startsUnknown) call.ask(`The names that ${name} sets are computed: ${word.shown}`);
    if (!isNamed || /^[-+]/.test(text)) continue;
    if (variable === undefined || /^\w+\[/.test(text)) {
      call.ask(`${name} evaluates ${word.shown}`);
      runSubstitutions(call, text);
    }
    if (variable === undefined) continue;
    if (assigns !== undefined) declare(call, variable, word.dropPrefix(whole.length).value, word.shown);
    if (isFixed) scope.fixed.add(variable);
  }
}

function declare(call: Call, variable: string, given: Value, shown: string): void {
  const { scope, name, findings } = call;
  const before = scope.variables.get(variable);
  const isArray = given.kind === 'text' && given.text.startsWith('(');
  // `local` is for functions, and `declare` for bash; elsewhere they fail, and what was set before stays.
  const mayFail = name === 'local' ? scope.calls.size === 0 : /^(?:declare|typeset)$/.test(name);
  const isOld = mayFail && before !== undefined && !isSame(before, given);
  evaluateVariable(call, variable, given);
  findings.setting(shown);
  scope.set(variable, isArray || isOld ? COMPUTED : given);
}
