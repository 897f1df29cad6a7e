import { exactText, knownText, literalField } from '../field.js';
import { readOptions } from '../read-options.js';
import { readEffect } from '../report-effects.js';
import type { Judge } from '../shell.js';
import { INHERITED, UNKNOWN } from '../stream.js';
import { judgeOverwrite } from './disks.js';

/** `awk`: programs that run commands (`system`, pipes) or write files. */
export const judgeAwk: Judge = (call) => {
  const { findings, scope, shell } = call;
  const options = readOptions(call.words, {
    short: 'FvfEilWe',
    long: ['field-separator', 'assign', 'file', 'source', 'include', 'load', 'exec'],
    stopsAtOperand: true,
  });
  const isFile = options.has('f', 'file', 'E', 'exec');
  const source = options.value('e', 'source');
  const program = source ?? (isFile ? undefined : options.operands[0]);
  if (options.has('l', 'load')) findings.ask('awk loads an extension.');
  for (const file of isFile ? options.operands : options.operands.slice(1))
    if (!/^\w+=/.test(file.shown)) readEffect(findings, file, scope);
  if (program === undefined) return UNKNOWN;
  if (exactText(program) === undefined) findings.ask(`The program of awk is computed: ${program.shown}`);
  const text = knownText(program);
  const code = stripStrings(text);
  if (/\bsystem\s*\(|\|&?|\bgetline\b|@(?:load|include)|@\w+\s*\(/.test(code.replaceAll('||', ' '))) {
    findings.ask('awk runs commands or reads more files.');
    for (const command of strings(text))
      if (/\s|^\w+$/.test(command)) shell.runText(command, scope.copy(), INHERITED);
  }
  if (/\bprintf?\b[^;}\n]*>/.test(code)) {
    const targets = [...text.matchAll(/>\s*"([^"]*)"/g)].map(([, path = '']) => path);
    if (targets.length === 0) findings.effect({ kind: 'unknown' });
    for (const path of targets) judgeOverwrite(call, literalField(path));
  }
  return UNKNOWN;
};

/** Strings and patterns emptied, so that what is in them is not read as code. */
function stripStrings(program: string): string {
  return program
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
    .replaceAll(/(^|[\s(,{;!~&|])\/(?:[^/\\\n]|\\.)+\//g, '$1//');
}

function strings(program: string): string[] {
  return [...program.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
    .slice(0, 32)
    .map(([, text = '']) => text.replaceAll('\\"', '"'));
}
