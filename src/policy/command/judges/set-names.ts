import { exactText, type Field, knownText } from '../field.js';
import { readOptions } from '../read-options.js';
import { UNKNOWN_VALUE } from '../scope.js';
import type { Invocation, Judge } from '../shell.js';
import { NOTHING } from '../stream.js';
import { printfText } from './printf-text.js';
import { runCodeWord, runSubstitutions } from './run-payload.js';

/** Names that are set from elsewhere. An index in a name is run. */
export const judgeRead: Judge = (call) => {
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

export const judgeMapfile: Judge = (call) => {
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

export const judgePrintf: Judge = (call) => {
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

export const judgeGetopts: Judge = (call) => {
  const name = call.words[1] === undefined ? undefined : setName(call, call.words[1]);
  if (name !== undefined) call.scope.set(name, UNKNOWN_VALUE);
  call.scope.set('OPTARG', UNKNOWN_VALUE);
  return NOTHING;
};
