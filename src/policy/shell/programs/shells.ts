import type { Call } from '../words/call.js';
import { exactTexts, Field, type Stream, textValue, UNKNOWN } from '../words/field.js';
import { isDescriptor } from '../words/place.js';
import type { Evaluators } from './program.js';

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
function evaluateShell(call: Call): Stream {
  const { words, name } = call;
  let letters = '';
  let at = 0;
  for (; at < words.length; at++) {
    const word = words[at];
    const text = word === undefined ? '' : word.exact;
    if (word !== undefined && text === undefined && word.startsUnknown && word.source === undefined)
      call.ask(`What ${name} runs is computed.`);
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
  if (letters.includes('c')) {
    if (first === undefined) return UNKNOWN;
    const [zero, ...args] = rest;
    if (zero?.exact !== undefined) inner.set('0', textValue(zero.exact, true));
    inner.positional = exactTexts(args);
    return call.runCode(first, inner, call.input);
  }
  const isInput = first === undefined || isStandardInput(first);
  if (!letters.includes('s') && !isInput) return runFile(call, first, rest, inner);
  inner.positional = exactTexts(isInput ? rest : [first, ...rest]);
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
