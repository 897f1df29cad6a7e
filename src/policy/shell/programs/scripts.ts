import { type Call, runAskedCode } from '../words/call.js';
import { exactText, type Field, knownText, literalField, type Stream, UNKNOWN } from '../words/field.js';
import { Options } from '../words/options.js';
import { isDescriptor } from '../words/place.js';
import { overwrite } from './uses.js';

/** `sed`: its scripts can run commands (`e`), write files (`w`), and `-i` writes those it reads. */
export function evaluateSed(call: Call): Stream {
  const { findings, scope } = call;
  const options = new Options(call.words, { short: 'efl', long: ['expression', 'file', 'line-length'] });
  const inPlace = options.given.find(({ name }) => name === 'i' || /^in-p/.test(name));
  for (const file of options.values('f', 'file')) readsScript(call, file);
  const given = options.values('e', 'expression');
  const isFirst = given.length === 0 && !options.has('f', 'file');
  for (const script of isFirst ? options.operands.slice(0, 1) : given) evaluateScript(call, script);
  const files = options.operands.slice(isFirst ? 1 : 0);
  for (const file of files) {
    findings.touches('read', file, scope);
    if (inPlace !== undefined) findings.byOption(inPlace.word.shown, () => overwrite(call, file));
  }
  return files.length === 0 && call.input.kind !== 'text' ? call.input : UNKNOWN;
}

/** A script in a file is not read: what it does is not told, and what was written here is asked about. */
function readsScript({ findings, name, scope }: Call, file: Field): void {
  findings.touches('read', file, scope);
  findings.runsUnseen();
  if (scope.contentOf(file) !== undefined || isDescriptor(file.shown))
    findings.ask(`${name} runs a script that was written here: ${file.shown}`);
}

/** Numbers, steps, `$` and what stands between addresses; patterns are skipped by their delimiters. */
const ADDRESS = /[\s;{}\d$,~+!]*/y;

/** Commands without words, with a number, with a label, with text or a file to read up to the end of the line. */
const PLAIN = /[={}dDgGhHlnNpPqQxzF][ \d]*|[btT:][^\n;}]*|[aic](?:\\\n|[^\n])*|[rRv#][^\n]*/y;

/** Walks the commands of a script; `s` and `y` carry their own delimiters. */
function evaluateScript(call: Call, word: Field): void {
  const script = knownText(word);
  // A value within a script can end it and start a command of its own.
  if (exactText(word) === undefined) call.findings.ask(`The script of sed is computed: ${word.shown}`);
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const text = pattern.exec(script)?.[0] ?? '';
    at += text.length;
    return text;
  };
  const writes = (file: Field): void => call.findings.byOption(word.shown, () => overwrite(call, file));
  const restOfLine = (): Field =>
    literalField(
      take(/[^\n]*/y)
        .slice(1)
        .trim(),
    );
  let isUnderstood = true;
  while (at < script.length && isUnderstood) {
    take(ADDRESS);
    const name = script.charAt(at);
    if (name === '') break;
    if (name === '/' || name === '\\') {
      at = closing(script, name === '/' ? at : at + 1, true) + 1;
      take(/[IM]*/y);
    } else if (name === 's' || name === 'y') {
      const middle = closing(script, at + 1, name === 's');
      const end = closing(script, middle, false, script[at + 1]);
      isUnderstood = end < script.length && /[^\n\\]/.test(script[at + 1] ?? '');
      at = end + 1;
      if (take(/[gpiImMe\d]*/y).includes('e') && name === 's')
        runAskedCode(call, literalField(script.slice(middle + 1, end)));
      if (script[at] === 'w') writes(restOfLine());
    } else if (name === 'e') runAskedCode(call, restOfLine());
    else if (name === 'w' || name === 'W') writes(restOfLine());
    else isUnderstood = take(PLAIN) !== '';
  }
  if (!isUnderstood) call.findings.ask('The script of sed is not understood.');
}

/** Where the delimiter stands again; within `[…]` of a pattern it stands for itself. */
function closing(script: string, open: number, isPattern: boolean, delimiter = script[open]): number {
  let isClass = false;
  for (let at = open + 1; at < script.length; at++) {
    const character = script[at];
    if (character === '\\') at++;
    else if (isClass) isClass = character !== ']' || script[at - 1] === '[';
    else if (isPattern && character === '[' && delimiter !== '[') isClass = script.includes(']', at + 2);
    else if (character === delimiter) return at;
  }
  return script.length;
}

/** `awk`: programs that run commands (`system`, pipes) or write files. */
export function evaluateAwk(call: Call): void {
  const { findings, scope } = call;
  const options = new Options(call.words, {
    short: 'FvfEilWe',
    long: ['field-separator', 'assign', 'file', 'source', 'include', 'load', 'exec'],
    leads: true,
  });
  const isFile = options.has('f', 'file', 'E', 'exec');
  for (const file of options.values('f', 'file', 'E', 'exec')) readsScript(call, file);
  const program = options.value('e', 'source') ?? (isFile ? undefined : options.operands[0]);
  if (options.has('l', 'load')) findings.ask('awk loads an extension.');
  for (const file of options.operands.slice(isFile ? 0 : 1))
    if (!/^\w+=/.test(file.shown)) findings.touches('read', file, scope);
  if (program === undefined) return;
  if (exactText(program) === undefined) findings.ask(`The program of awk is computed: ${program.shown}`);
  const text = knownText(program);
  // Strings and patterns emptied, so that what is in them is not read as code.
  const code = text
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/(^|[\s(,{;!~&|])\/(?:[^/\\\n]|\\.)+\//g, '$1//')
    .replaceAll('||', ' ');
  if (/\bsystem\s*\(|\|&?|\bgetline\b|@(?:load|include)|@\w+\s*\(/.test(code)) {
    findings.ask('awk runs commands or reads more files.');
    for (const [, command = ''] of text.matchAll(/"((?:[^"\\]|\\.)*)"/g))
      if (/\s|^\w+$/.test(command)) runAskedCode(call, literalField(command.replaceAll('\\"', '"')));
  }
  if (!/\bprintf?\b[^;}\n]*>/.test(code)) return;
  const targets = [...text.matchAll(/>\s*"([^"]*)"/g)];
  if (targets.length === 0) findings.runsUnseen();
  for (const [, path = ''] of targets)
    findings.byOption(program.shown, () => overwrite(call, literalField(path)));
}
