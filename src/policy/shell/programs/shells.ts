import type { Call } from '../words/call.js';
import { exactTexts, Field, type Stream, textValue, UNKNOWN } from '../words/field.js';
import type { Options } from '../words/options.js';
import { isDescriptor } from '../words/place.js';
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
    const { positional } = call.scope;
    const output = runFile(call, file, [], call.scope);
    call.scope.positional = positional;
    return output;
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
  if (!has('s') && !isInput) return runFile(call, first, rest, inner);
  inner.positional = exactTexts(isInput ? rest : operands);
  return call.runStream(call.input, inner);
}

function runFile(call: Call, file: Field, args: readonly Field[], scope: Call['scope']): Stream {
  scope.positional = exactTexts(args);
  const source = call.scope.contentOf(file) ?? file.source;
  if (source !== undefined) return call.runStream(source, scope);
  if (isDescriptor(file.shown)) call.ask(`${call.name} runs what it reads from ${file.shown}.`);
  if (file.exact === undefined) call.ask(`The file that ${call.name} runs is computed: ${file.shown}`);
  call.touches('read', file);
  call.findings.runsUnseen();
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
    findings.runsUnseen();
    const written = call.scope.contentOf(file);
    if (written !== undefined) call.ask(`${name} runs ${file.shown}, which was written here.`);
    if (written?.kind === 'text') findCertain(call, written.text);
    if (written?.kind === 'fetched') call.blockFetched(written.from);
    if (isDescriptor(file.shown)) call.ask(`${name} runs what it reads from ${file.shown}.`);
    return;
  }
  const onlyAsks = /^--?(?:v|V|version|h|help|test|check|watch)$/;
  if (words.length > 0 && words.every(({ shown }) => onlyAsks.test(shown))) return;
  if (words.some(({ shown }) => shown === '-m')) return;
  call.ask(`${name} runs code from its input.`);
  if (input.kind === 'fetched') call.blockFetched(input.from);
  if (input.kind === 'text') findCertain(call, input.text);
}

const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?:\bqx|%x)[{(][^)}]*[)}]/g;

const STARTS_COMMANDS =
  /\b(?:system|popen\w*|exec[lvpe]*|execSync|execFileSync|execFile|spawn\w*|getoutput|Popen|check_call|check_output|shell_exec|passthru|proc_open)\b\s*(?:\(|["'@$\w])|\b(?:subprocess|child_process|Open3|Deno\.Command|os\.execute|Start-Process)\b|(?:qx|%x)[{(]/;

const REMOVES =
  /\b(?:rmtree|rm_rf|rm_r|remove_dir_all|rimraf|rmSync|rmdirSync|rm|remove_tree|RemoveAll|rmdir|removeSync|Remove-Item)\s*\(?\s*\[?\s*(?:-\w+\s+)*["']?([^"',)\s;]*)/g;

/** The home directory itself, and nothing in it. */
const HOME_DIRECTORY =
  /^(?:~|\$HOME|os\.homedir\(|process\.env\.HOME|Dir\.home|Path\.home\(|os\.path\.expanduser\()$/;

/**
 * Looks into code of other languages for what is certain: a shell command that breaks things, a tree that is removed. A
 * text that is only printed breaks nothing, so that calls are looked for outside of strings.
 */
function findCertain(call: Call, code: string): void {
  const { name } = call;
  const text = code.slice(0, MAX_CODE);
  const strings: string[] = [];
  const bare = text.replaceAll(STRING, (whole) => {
    const mark = /^(?:qx|%x)?./.exec(whole)?.[0] ?? '';
    strings.push(whole.slice(mark.length, -1).replaceAll(/\\(["'`\\])/g, '$1'));
    return mark.padEnd(whole.length);
  });
  const runsBackquotes = bare.includes('`') && /^(?:perl|ruby|php)/.test(name);
  if (STARTS_COMMANDS.test(bare) || runsBackquotes)
    for (const command of [...strings.slice(0, 16), strings.join(' ')]) call.runText(command);
  if (/^(?:n?vim?|ex|ed|gdb)$/.test(name))
    for (const [, command = ''] of text.matchAll(/!(.+)/g)) call.runText(command);
  for (const { 0: whole, 1: shown = '', index } of bare.matchAll(REMOVES)) {
    const path = /^[^"',)\s;]*/.exec(text.slice(index + whole.length - shown.length))?.[0] ?? '';
    if (call.isVital(path, '.') || HOME_DIRECTORY.test(path))
      call.block(`${name} would remove ${path} with all below it.`);
  }
}

const MAX_CODE = 16_384;
