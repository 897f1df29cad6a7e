import { exactText, type Field, sourceOf, startsUnknown } from '../field.js';
import { readEffect, runsUnseen } from '../report-effects.js';
import type { Scope } from '../scope.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { type Stream, UNKNOWN } from '../stream.js';
import { writtenContent } from '../written-files.js';
import { runCodeStream, runCodeWord } from './run-payload.js';

/** `sh -c CODE`, `sh FILE`, `… | sh`. */
const judgeShell: Judge = (call) => {
  const { words, findings, name, scope } = call;
  let reads = false;
  let isCode = false;
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) break;
    const text = exactText(word);
    if (text === undefined && startsUnknown(word) && sourceOf(word) === undefined)
      findings.ask(`What ${name} runs is computed.`);
    if (text === '--' || text === '-') {
      at++;
      break;
    }
    if (text === undefined || !/^[-+]./.test(text)) break;
    if (text.startsWith('--')) {
      if (/^--(?:rcfile|init-file)$/.test(text)) at++;
      if (/^--(?:version|help)$/.test(text)) return UNKNOWN;
      continue;
    }
    if (text.includes('c')) isCode = true;
    if (text.includes('s')) reads = true;
    if (/[oO]/.test(text)) at++;
  }
  const inner = childScope(scope);
  const rest = words.slice(at);
  if (isCode) return runOption(call, rest, inner);
  if (reads || rest.length === 0 || isStandardInput(rest[0])) {
    inner.positional = texts(isStandardInput(rest[0]) ? rest.slice(1) : rest);
    return runCodeStream(call, call.input, inner);
  }
  return runFile(call, rest, inner);
};

function runOption(call: Invocation, [code, zero, ...positional]: readonly Field[], scope: Scope): Stream {
  if (code === undefined) return UNKNOWN;
  const name = zero === undefined ? undefined : exactText(zero);
  if (name !== undefined) scope.set('0', { kind: 'text', text: name, assumed: true });
  scope.positional = texts(positional);
  return runCodeWord(call, code, scope, call.input);
}

function runFile(call: Invocation, [file, ...positional]: readonly Field[], scope: Scope): Stream {
  if (file === undefined) return UNKNOWN;
  const source = writtenContent(file, scope) ?? sourceOf(file);
  scope.positional = texts(positional);
  if (source !== undefined) return runCodeStream(call, source, scope);
  if (exactText(file) === undefined)
    call.findings.ask(`The file that ${call.name} runs is computed: ${file.shown}`);
  readEffect(call.findings, file, scope);
  runsUnseen(call.findings);
  return UNKNOWN;
}

function isStandardInput(word: Field | undefined): boolean {
  return word !== undefined && /^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(word.shown);
}

function texts(words: readonly Field[]): string[] | undefined {
  const known = words.map(exactText);
  return known.every((text) => text !== undefined) ? known : undefined;
}

/** Another process: it has the variables at most, and neither functions nor arguments. */
function childScope(scope: Scope): Scope {
  const child = scope.copy();
  child.functions.clear();
  child.positional = [];
  return child;
}

/** `eval`: the words, joined, in this very shell. */
const judgeEval: Judge = (call) => {
  const words = call.words[0]?.shown === '--' ? call.words.slice(1) : call.words;
  if (words.length === 0) return UNKNOWN;
  const pieces = words.flatMap((word, index) => [
    ...(index === 0 ? [] : [{ kind: 'text', text: ' ', assumed: false } as const]),
    ...word.pieces,
  ]);
  const literal = words.every((word) => word.literal);
  const joined = { pieces, shown: words.map(({ shown }) => shown).join(' '), literal };
  return runCodeWord(call, joined, call.scope, call.input);
};

/** `source FILE`: a file's text is not known here; what it sets is not known after it. */
const judgeSource: Judge = (call) => {
  const words = call.words[0]?.shown === '--' ? call.words.slice(1) : call.words;
  const [file] = words;
  if (file === undefined) return UNKNOWN;
  const source = writtenContent(file, call.scope) ?? sourceOf(file);
  if (source !== undefined) return runCodeStream(call, source, call.scope);
  if (isStandardInput(file)) return runCodeStream(call, call.input, call.scope);
  if (exactText(file) === undefined)
    call.findings.ask(`The file that ${call.name} runs is computed: ${file.shown}`);
  readEffect(call.findings, file, call.scope);
  runsUnseen(call.findings);
  return UNKNOWN;
};

/** `busybox rm …`: the first word is the command. */
const judgeBox: Judge = (call) => {
  const [first] = call.words;
  if (first === undefined || /^--?/.test(first.shown)) return UNKNOWN;
  call.findings.record(
    first,
    call.words.map(({ shown }) => shown),
  );
  return call.shell.runWords(call.words, call.scope.copy(), call.input);
};

const SHELL_NAMES = [
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'ksh93',
  'mksh',
  'ash',
  'rbash',
  'rksh',
  'yash',
  'posh',
  'fish',
  'csh',
  'tcsh',
];

export const SHELL_JUDGES: Judges = {
  ...Object.fromEntries(SHELL_NAMES.map((name) => [name, judgeShell])),
  eval: judgeEval,
  source: judgeSource,
  '.': judgeSource,
  busybox: judgeBox,
  toybox: judgeBox,
};
