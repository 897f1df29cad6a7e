import { type Call, evaluateVariable, runSubstitutions } from '../words/call.js';
import { Field, NUMBER, type Stream, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import { HOME, isSafeNumber, isSame, type Scope } from '../words/scope.js';
import { asksAboutCommands, type Program, type Programs } from './program.js';

/** A builtin that changes what later commands mean. */
const changesShell = (words: RegExp, reason: string): Program => ({
  prints: 'nothing',
  verdicts: [['ask', words, reason]],
});

/** Shells, their builtins, and interpreters of other languages. */
export const SHELL_PROGRAMS: Programs = {
  'true false : exit return break continue umask ulimit wait': { prints: 'nothing' },
  'sh bash dash zsh ksh ksh93 mksh ash rbash rksh yash posh fish csh tcsh': {
    options: 'oO rcfile init-file',
    leads: true,
    plus: true,
    harmless: /^--(?:version|help)/,
    evaluate: evaluateShell,
  },
  // The words, joined, run in this shell.
  eval: {
    evaluate(call) {
      const words = withoutMark(call);
      return words.length === 0 ? UNKNOWN : call.runCode(Field.join(words), call.scope, call.input);
    },
  },
  // The text of a file is not known here.
  'source .': {
    evaluate(call) {
      const [file] = withoutMark(call);
      return file === undefined ? UNKNOWN : runFile(call, file, call.scope);
    },
  },
  'cd chdir pushd popd': { prints: 'nothing', evaluate: evaluateCd },
  'declare typeset local export readonly': { prints: 'nothing', evaluate: evaluateDeclaration },
  // The words after the options are the arguments.
  'set shift': {
    options: 'o',
    leads: true,
    plus: true,
    prints: 'nothing',
    evaluate({ scope, name }, { operands }) {
      const words = operands[0]?.shown === '-' ? operands.slice(1) : operands;
      if (name === 'shift' || words.length > 0) scope.setArguments(name === 'set' ? words : []);
    },
  },
  'unset getopts': { operands: 'name', prints: 'nothing' },
  // `trap CODE SIGNAL…`: the code runs later, in this shell.
  trap: {
    prints: 'nothing',
    evaluate(call) {
      const [code, signal] = withoutMark(call);
      if (code !== undefined && signal !== undefined && !/^(?:-[lpP]*|)$/.test(code.shown))
        call.runCode(code);
    },
  },
  'test [': {
    options: 'vR',
    prints: 'nothing',
    evaluate(call, options) {
      for (const word of options.values('v', 'R')) evaluateArithmetic(call, word);
    },
  },
  read: {
    options: 'dinNptua',
    operands: 'name',
    prints: 'nothing',
    evaluate(call, options) {
      for (const word of options.values('a')) call.setName(word);
    },
  },
  'mapfile readarray': {
    options: 'dnOsucC',
    operands: 'name',
    ...changesShell(/^-\w*C/m, 'runs a command for the lines it reads'),
  },
  let: {
    ...changesShell(/[A-Z]\w*(?:\W*=|\+\+|--)|(?:\+\+|--)[A-Z]/m, 'changes a setting'),
    evaluate(call, { operands }) {
      for (const word of operands) evaluateArithmetic(call, word);
    },
  },
  jobs: changesShell(/^-\w*x/m, 'runs a command'),
  alias: changesShell(/=/, 'changes what commands mean'),
  'complete compgen': changesShell(/^-\w*[CFW]/m, 'runs what completes words'),
  fc: changesShell(/^/, 'runs commands of the history'),
  'hash enable bind history shopt': changesShell(
    /^-\w*[pfnxcds]|^(?:expand_aliases|extdebug|nullglob|dotglob|nocaseglob)$/m,
    'changes how commands are read',
  ),
  'python pypy perl ruby node nodejs bun deno php lua luajit Rscript R osascript groovy scala ghc elixir julia tclsh expect guile jshell erl':
    {
      evaluate: interpret,
    },
  'pwsh powershell emacs gdb vim nvim vi ex ed': { evaluate: interpret },
};

function evaluateCd(call: Call): void {
  const { words, scope, name } = call;
  const [target] = words.filter(({ shown }) => !/^(?:-[LPe@n]+|--)$/.test(shown));
  if (target?.isComputed) call.ask(`The directory is computed: ${target.shown}`);
  const isPopped = name === 'popd' || (name === 'pushd' && target === undefined);
  const to = isPopped ? undefined : target === undefined ? HOME : directoryOf(target, scope);
  // A `cd` that fails leaves the shell in its directory; that matters if nothing may be removed there.
  const mayStay = scope.directory !== undefined && call.dangerOfTree(Field.of('.')) !== 'ordinary';
  scope.directory = mayStay && ![HOME, '/', '/tmp'].includes(to ?? '') ? undefined : to;
}

/** The target directory of `cd`; undefined if not known. */
function directoryOf(target: Field, scope: Scope): string | undefined {
  const text = target.exact;
  const isAbsolute = text?.startsWith('/') === true;
  if (text === undefined || text === '-' || (!isAbsolute && scope.directory === undefined)) return undefined;
  const path = pathText(target, scope.directory);
  return path === '.' || /^(?:\/|\.\.)/.test(path) ? path : `./${path}`;
}

/** `declare`, `export`, `local`, `readonly`: the assignments are words. */
function evaluateDeclaration(call: Call): void {
  const { words, name, scope } = call;
  const flags = words.flatMap(({ shown }) => (/^-\w/.test(shown) ? [shown] : [])).join('');
  if (/[inr]/.test(name === 'export' ? '' : flags) || name === 'readonly' || /f/.test(flags))
    call.ask(`${name} ${flags} changes what later assignments or other shells do.`);
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
    if (variable === undefined || assigns === undefined) continue;
    const { value } = word.dropPrefix(whole.length);
    const before = scope.variables.get(variable);
    evaluateVariable(call, variable, value);
    call.findings.setting(word.shown);
    // Some shells do not know the builtin, or make the variable local to the function: then the old value
    // stays.
    const isSure = (before === undefined || isSame(before, value)) && assigns === '=';
    scope.variables.set(variable, isSure ? value : UNKNOWN);
  }
}

function withoutMark({ words }: Call): readonly Field[] {
  return words[0]?.shown === '--' ? words.slice(1) : words;
}

/** `sh -c CODE`, `sh FILE`, `… | sh`. */
function evaluateShell(call: Call, { given, operands: all }: Options): Stream {
  const has = (letter: string): boolean => given.some(({ name }) => name === letter);
  const [first, ...args] = all[0]?.exact === '-' ? all.slice(1) : all;
  const isUnclear = first?.startsUnknown === true && first.source === undefined;
  if (isUnclear || given.some(({ word }) => word.exact === undefined))
    call.ask(`What ${call.name} runs is computed.`);
  const inner = call.scope.copy();
  inner.functions.clear();
  inner.setArguments(args.slice(has('c') ? 1 : 0));
  if (has('c') && args[0] !== undefined) inner.variables.set('0', args[0].value);
  if (has('c')) return first === undefined ? UNKNOWN : call.runCode(first, inner, call.input);
  return first === undefined || has('s') ? call.runStream(call.input, inner) : runFile(call, first, inner);
}

function runFile(call: Call, file: Field, scope: Scope): Stream {
  if (/^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(file.shown))
    return call.runStream(call.input, scope);
  if (file.source !== undefined) return call.runStream(file.source, scope);
  if (file.exact === undefined) call.ask(`The file that ${call.name} runs is computed: ${file.shown}`);
  call.touches('read', file);
  call.runsFile(file);
  return UNKNOWN;
}

/** An interpreter of another language, or an editor: code among its words or in its input is `ask`, and not read. */
function interpret(call: Call): void {
  const { words, findings, name, input } = call;
  const [first, module] = words;
  if (/^(?:python|pypy)/.test(name) && first?.exact === '-m' && module?.literal === true) {
    findings.runsUnseen();
    asksAboutCommands(call, words.slice(2));
    return;
  }
  // The words after a script belong to the script.
  const script = words.find(({ shown, literal }) => !literal || !standsAlone(name, shown));
  const isScript =
    script?.literal === true && /^(?!-|inspect$|debug$)./.test(script.shown) && ENDS_AT_SCRIPT.test(name);
  const at = isScript
    ? -1
    : words.findIndex(({ shown }) => HAS_CODE.test(shown) && !standsAlone(name, shown));
  if (at !== -1) {
    const code = words.slice(at, at + 2).map(({ shown }) => shown);
    const shown = code.join(' ');
    call.ask(`${name} runs code that is not read: ${shown.length > 80 ? `${shown.slice(0, 77)}…` : shown}`);
    findings.runsUnseen();
    return;
  }
  const file = words.find(({ shown }) => !/^-./.test(shown));
  const isPlain = words.some((word) => isPlainName(word) && !word.shown.startsWith('-'));
  if (!isPlain && !words.every(({ literal }) => literal)) call.ask(`What ${name} runs is computed.`);
  if (file !== undefined && !/^(?:-|\/dev\/(?:stdin|fd\/0))$/.test(file.shown)) {
    // `deno` and `bun` have subcommands.
    if (name !== 'deno' && name !== 'bun') call.touches('read', file);
    call.runsFile(file);
    return;
  }
  const onlyAsks = /^--?(?:v|V|version|h|help|test|check|watch|m)$/;
  if (words.length > 0 && words.every(({ shown }) => onlyAsks.test(shown))) return;
  if (input.kind === 'text' && input.text === '') return;
  call.ask(`${name} runs code from its input.`);
  if (input.kind === 'fetched') call.blockFetched(input.from);
}

/** A word that is a name, or names of files whose beginning is known: no option. */
function isPlainName({ literal, pieces, isAssumed }: Field): boolean {
  return (
    literal || (!isAssumed && pieces[0]?.kind === 'text' && pieces.every(({ kind }) => kind !== 'unknown'))
  );
}

/** An option before a script that takes no word after it, and runs no code. */
function standsAlone(name: string, option: string): boolean {
  if (/^(?:python|pypy)/.test(name)) return /^-[BEOSbqsuv]+$/.test(option);
  if (/^(?:perl|ruby)/.test(name)) return /^-(?:I.+|[wW]*[cwW])$/.test(option);
  return /^--(?!(?:eval|print|cmd|command|ec|i?ex)\b)[\w-]+=/.test(option);
}

/** They take no options of their own after the script. `node inspect` is not a script. */
const ENDS_AT_SCRIPT = /^(?:python|pypy|perl|ruby|node|nodejs|php|lua|luajit|Rscript|tclsh)[\d.]*$/;

/** `-c CODE`, `-pe CODE`, `--eval=CODE`, `eval CODE`, `+CODE` of an editor. */
const HAS_CODE =
  /^(?:-[A-Za-z0-9]*[cCeErRB]|-[pi]\w*|--?(?:eval|print|cmd|command|encodedcommand|ec|i?ex)\b.*|eval|\+(?!\d*$|\/).+)$|^-[A-Za-z0-9]*[cer][^A-Za-z0-9-]/i;

/**
 * A word that is evaluated as arithmetic, and may assign. In shells other than bash `let` is not a builtin.
 */
function evaluateArithmetic(call: Call, word: Field): void {
  const { scope } = call;
  if (!isSafeNumber(word.value, scope)) {
    call.ask(`${call.name} evaluates ${word.shown}`);
    runSubstitutions(call, word.known);
  }
  const name = /^[A-Za-z_]\w*(?=\W*=|\+\+|--)/.exec(word.known)?.[0];
  if (name !== undefined) scope.variables.set(name, scope.variables.has(name) ? UNKNOWN : NUMBER);
}
