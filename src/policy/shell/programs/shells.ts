import { type Call, runCode, runStream } from '../words/call.js';
import {
  exactText,
  exactTexts,
  type Field,
  joinFields,
  type Stream,
  sourceOf,
  startsUnknown,
  UNKNOWN,
} from '../words/field.js';
import { isDescriptor } from '../words/place.js';
import { type Scope, textValue } from '../words/scope.js';
import type { Programs } from './program.js';

/** Programs that read shell code. */
export const SHELL_PROGRAMS: Programs = {
  'sh bash dash zsh ksh ksh93 mksh ash rbash rksh yash posh fish csh tcsh': { also: evaluateShell },
  eval: { also: (call) => evaluateEval(call, withoutMark(call.words)) },
  'source .': { also: (call) => evaluateSource(call, withoutMark(call.words)) },
};

function withoutMark(words: readonly Field[]): readonly Field[] {
  return words[0]?.shown === '--' ? words.slice(1) : words;
}

/** `sh -c CODE`, `sh FILE`, `… | sh`. */
function evaluateShell(call: Call): Stream {
  const { words, findings, name } = call;
  let letters = '';
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    const text = word === undefined ? '' : exactText(word);
    if (word !== undefined && text === undefined && startsUnknown(word) && sourceOf(word) === undefined)
      findings.ask(`What ${name} runs is computed.`);
    if (text === undefined || !/^[-+]/.test(text)) break;
    if (/^--?$/.test(text)) {
      at++;
      break;
    }
    if (/^--(?:version|help)$/.test(text)) return UNKNOWN;
    if (!text.startsWith('--')) letters += text;
    if (/^--(?:rcfile|init-file)$|^[-+][^-]*[oO]/.test(text)) at++;
  }
  const inner = call.scope.copy({ functions: new Map(), positional: [] });
  const [first, ...rest] = words.slice(at);
  if (letters.includes('c')) return runOption(call, first, rest, inner);
  const isInput = first === undefined || isStandardInput(first);
  if (!letters.includes('s') && !isInput) return runFile(call, first, rest, inner);
  inner.positional = exactTexts(isInput ? rest : [first, ...rest]);
  return runStream(call, call.input, inner);
}

function runOption(
  call: Call,
  code: Field | undefined,
  [zero, ...args]: readonly Field[],
  scope: Scope,
): Stream {
  if (code === undefined) return UNKNOWN;
  const name = zero === undefined ? undefined : exactText(zero);
  if (name !== undefined) scope.set('0', textValue(name, true));
  scope.positional = exactTexts(args);
  return runCode(call, code, scope, call.input);
}

function runFile(call: Call, file: Field, args: readonly Field[], scope: Scope): Stream {
  scope.positional = exactTexts(args);
  const source = call.scope.contentOf(file) ?? sourceOf(file);
  if (source !== undefined) return runStream(call, source, scope);
  if (isDescriptor(file.shown)) call.findings.ask(`${call.name} runs what it reads from ${file.shown}.`);
  if (exactText(file) === undefined)
    call.findings.ask(`The file that ${call.name} runs is computed: ${file.shown}`);
  call.findings.touches('read', file, call.scope);
  call.findings.runsUnseen();
  return UNKNOWN;
}

function isStandardInput({ shown }: Field): boolean {
  return /^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(shown);
}

/** `eval`: the words, joined, in this very shell. */
function evaluateEval(call: Call, words: readonly Field[]): Stream {
  return words.length === 0 ? UNKNOWN : runCode(call, joinFields(words), call.scope, call.input);
}

/** `source FILE`: a file's text is not known here; what it sets is not known after it. */
function evaluateSource(call: Call, [file]: readonly Field[]): Stream {
  if (file === undefined) return UNKNOWN;
  if (isStandardInput(file)) return runStream(call, call.input, call.scope);
  const { positional } = call.scope;
  const output = runFile(call, file, [], call.scope);
  call.scope.positional = positional;
  return output;
}
