import type { Call } from '../words/call.js';
import { exactTexts, Field, type Stream, textValue, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { codesBehind, type Evaluators, type Program } from './program.js';

/** Programs that read shell code. */
export const SHELL_PROGRAMS: Evaluators = {
  'sh bash dash zsh ksh ksh93 mksh ash rbash rksh yash posh fish csh tcsh': evaluateShell,
  // The words, joined, in this very shell.
  eval(call) {
    const words = withoutMark(call);
    return words.length === 0 ? UNKNOWN : call.runCode(Field.join(words), call.scope, call.input);
  },
  // A file's text is not known here; what it sets is not known after it.
  'source .'(call) {
    const [file] = withoutMark(call);
    if (file === undefined) return UNKNOWN;
    if (isStandardInput(file)) return call.runStream(call.input, call.scope);
    return runFile(call, file, call.scope);
  },
};

function withoutMark({ words }: Call): readonly Field[] {
  return words[0]?.shown === '--' ? words.slice(1) : words;
}

/** `sh -c CODE`, `sh FILE`, `… | sh`. */
function evaluateShell(call: Call, { given, operands: all }: Options): Stream {
  const has = (letter: string): boolean => given.some(({ name }) => name === letter);
  const operands = all[0]?.exact === '-' ? all.slice(1) : all;
  const [first, ...rest] = operands;
  const isUnclear = first?.exact === undefined && first?.startsUnknown && first.source === undefined;
  if (isUnclear || given.some(({ word }) => word.exact === undefined))
    call.ask(`What ${call.name} runs is computed.`);
  const inner = call.scope.copy({ functions: new Map(), positional: [] });
  if (has('c')) {
    if (first === undefined) return UNKNOWN;
    const [zero, ...args] = rest;
    if (zero?.exact !== undefined) inner.set('0', textValue(zero.exact, true));
    inner.positional = exactTexts(args);
    return call.runCode(first, inner, call.input);
  }
  const isInput = first === undefined || isStandardInput(first);
  inner.positional = exactTexts(has('s') && !isInput ? operands : rest);
  return has('s') || isInput ? call.runStream(call.input, inner) : runFile(call, first, inner);
}

function runFile(call: Call, file: Field, scope: Call['scope']): Stream {
  if (file.source !== undefined) return call.runStream(file.source, scope);
  if (file.exact === undefined) call.ask(`The file that ${call.name} runs is computed: ${file.shown}`);
  call.touches('read', file);
  call.runsFile(file);
  return UNKNOWN;
}

function isStandardInput({ shown }: Field): boolean {
  return /^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(shown);
}

/** Interpreters of other languages. Their code is asked about, and read only for what is certain. */
export function interpret(call: Call, _options: Options, program: Program): void {
  const { words, findings, name, input } = call;
  const codes = codesBehind(words, program.pattern('language') ?? /^-$/);
  for (const { shown, known } of codes) {
    call.ask(`${name} runs code that is not read: ${shown.length > 80 ? `${shown.slice(0, 77)}…` : shown}`);
    findings.runsUnseen();
    findCertain(call, known);
  }
  if (codes.length > 0) return;
  const file = words.find(({ shown }) => !/^-./.test(shown));
  const isPlain = words.some((word) => word.literal && !word.shown.startsWith('-'));
  if (!isPlain && !words.every(({ literal }) => literal)) call.ask(`What ${name} runs is computed.`);
  if (file !== undefined && !/^(?:-|\/dev\/(?:stdin|fd\/0))$/.test(file.shown)) {
    // `deno` and `bun` have subcommands.
    if (name !== 'deno' && name !== 'bun') call.touches('read', file);
    if (program.has('edits')) return;
    call.runsFile(file);
    return;
  }
  const onlyAsks = /^--?(?:v|V|version|h|help|test|check|watch)$/;
  if (words.length > 0 && words.every(({ shown }) => onlyAsks.test(shown))) return;
  if (words.some(({ shown }) => shown === '-m')) return;
  call.ask(`${name} runs code from its input.`);
  if (input.kind === 'fetched') call.blockFetched(input.from);
  if (input.kind === 'text') findCertain(call, input.text);
}

/** Of code in other languages: a command that is written out in a plain call, and a tree that one removes. */
const CERTAIN =
  /\b(?:(system|popen\w*|exec\w*|spawn\w*|run|call|check_\w+|getoutput|shell_exec|passthru)|rmtree|rm_rf|rm_r|remove_dir_all|rimraf\w*|rmSync|rmdirSync|remove_tree|RemoveAll|rmdir|removeSync)\b[\s(,[]*(?:["']-\w+["'],\s*)?(["'`])((?:\\.|(?!\2).)*)\2/g;

export function findCertain(call: Call, code: string): void {
  for (const [, runs, , text = ''] of code.slice(0, MAX_CODE).matchAll(CERTAIN)) {
    if (runs !== undefined) call.runText(text.replaceAll('\\', ''));
    else if (call.isVital(text, '.')) call.block(`${call.name} would remove ${text} with all below it.`);
  }
}

const MAX_CODE = 16_384;
