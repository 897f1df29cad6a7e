import { exactText, type Field, knownText } from '../field.js';
import { readOptions } from '../read-options.js';
import { readEffect } from '../report-effects.js';
import type { Invocation, Judge } from '../shell.js';
import { INHERITED, UNKNOWN } from '../stream.js';
import { judgeOverwrite } from './disks.js';

/** `sed`: its scripts can run commands (`e`), write files (`w`), and `-i` writes those it reads. */
export const judgeSed: Judge = (call) => {
  const { findings, scope } = call;
  const options = readOptions(call.words, { short: 'efl', long: ['expression', 'file', 'line-length'] });
  const given = options.options.flatMap(({ name, value }) =>
    (name === 'e' || isExpression(name)) && value !== undefined ? [value] : [],
  );
  const hasFile = options.options.some(({ name }) => name === 'f' || name === 'file');
  const scripts = given.length > 0 || hasFile ? given : options.operands.slice(0, 1);
  const files = given.length > 0 || hasFile ? options.operands : options.operands.slice(1);
  for (const script of scripts) judgeScript(call, script);
  const isInPlace =
    options.has('i', 'in-place') || options.options.some(({ name }) => name.startsWith('in-'));
  for (const file of files) {
    readEffect(findings, file, scope);
    if (isInPlace) judgeOverwrite(call, file);
  }
  return files.length === 0 && call.input.kind !== 'text' ? call.input : UNKNOWN;
};

function isExpression(name: string): boolean {
  return name.length > 1 && 'expression'.startsWith(name);
}

function judgeScript(call: Invocation, script: Field): void {
  const text = exactText(script);
  if (text === undefined) {
    // A value within a script can end it and start a command of its own.
    call.findings.ask(`The script of sed is computed: ${script.shown}`);
  }
  const scanned = scanScript(text ?? knownText(script));
  for (const file of scanned.writes)
    judgeOverwrite(call, {
      pieces: [{ kind: 'text', text: file, assumed: false }],
      shown: file,
      literal: true,
    });
  for (const code of scanned.codes) {
    call.findings.ask(`sed runs a command: ${code}`);
    if (code !== '') call.shell.runText(code, call.scope.copy(), INHERITED);
  }
  if (!scanned.isUnderstood) call.findings.ask('The script of sed is not understood.');
}

interface Scanned {
  readonly codes: string[];
  readonly writes: string[];
  isUnderstood: boolean;
}

/** Walks the commands of a script; `s` and `y` carry their own delimiters. */
function scanScript(script: string): Scanned {
  const found: Scanned = { codes: [], writes: [], isUnderstood: true };
  let at = 0;
  while (at < script.length) {
    const start = /[\s;{}]*/y;
    start.lastIndex = at;
    at += start.exec(script)?.[0].length ?? 0;
    if (at >= script.length) break;
    at = skipAddress(script, at);
    const next = scanCommand(script, at, found);
    if (next === undefined) {
      found.isUnderstood = false;
      break;
    }
    at = next;
  }
  return found;
}

function skipAddress(script: string, from: number): number {
  let at = from;
  for (;;) {
    const simple = /[\s\d$,~+!]+/y;
    simple.lastIndex = at;
    at += simple.exec(script)?.[0].length ?? 0;
    const isPattern = script[at] === '/' || (script[at] === '\\' && at + 1 < script.length);
    if (!isPattern) return at;
    const open = script[at] === '/' ? at : at + 1;
    at = closing(script, open, script[open] ?? '/') + 1;
    while (/[IM]/.test(script[at] ?? '')) at++;
  }
}

function closing(script: string, open: number, delimiter: string): number {
  let isClass = false;
  for (let at = open + 1; at < script.length; at++) {
    const character = script[at];
    if (character === '\\') at++;
    else if (isClass) isClass = character !== ']' || script[at - 1] === '[';
    else if (character === '[' && delimiter !== '[') isClass = script.includes(']', at + 2);
    else if (character === delimiter) return at;
  }
  return script.length;
}

function scanCommand(script: string, at: number, found: Scanned): number | undefined {
  const name = script[at] ?? '';
  const lineEnd = script.indexOf('\n', at) === -1 ? script.length : script.indexOf('\n', at);
  if (name === 's' || name === 'y') return scanSubstitution(script, at, found);
  const rest = script.slice(at + 1, lineEnd);
  if (name === 'e') found.codes.push(rest.trim());
  else if (name === 'w' || name === 'W') found.writes.push(rest.trim());
  else if (/[aicrRbtT:#v]/.test(name)) return textEnd(script, at, name, lineEnd);
  else if (!/[={}dDgGhHlnNpPqQxzF]/.test(name)) return name === '' ? script.length : undefined;
  else return at + 1 + (/^[ \d]*/.exec(rest)?.[0].length ?? 0);
  return lineEnd;
}

function textEnd(script: string, at: number, name: string, lineEnd: number): number {
  if (/[btT:]/.test(name)) {
    const end = script.slice(at, lineEnd).search(/[;}]/);
    return end === -1 ? lineEnd : at + end;
  }
  let end = lineEnd;
  while (/[aic]/.test(name) && script[end - 1] === '\\' && end < script.length) {
    const next = script.indexOf('\n', end + 1);
    end = next === -1 ? script.length : next;
  }
  return end;
}

function scanSubstitution(script: string, at: number, found: Scanned): number | undefined {
  const delimiter = script[at + 1];
  if (delimiter === undefined || delimiter === '\n' || delimiter === '\\') return undefined;
  const middle = closing(script, at + 1, delimiter);
  const end = plainClosing(script, middle, delimiter);
  if (end >= script.length) return undefined;
  const flags = /[gpiIMme\d]*/y;
  flags.lastIndex = end + 1;
  const given = flags.exec(script)?.[0] ?? '';
  if (script[at] === 's' && given.includes('e')) found.codes.push(script.slice(middle + 1, end));
  let next = end + 1 + given.length;
  if (script[next] !== 'w') return next;
  const lineEnd = script.indexOf('\n', next) === -1 ? script.length : script.indexOf('\n', next);
  found.writes.push(script.slice(next + 1, lineEnd).trim());
  next = lineEnd;
  return next;
}

function plainClosing(script: string, open: number, delimiter: string): number {
  for (let at = open + 1; at < script.length; at++) {
    if (script[at] === '\\') at++;
    else if (script[at] === delimiter) return at;
  }
  return script.length;
}
