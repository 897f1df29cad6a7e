import { exactText, type Field, literalField, sourceOf, startsUnknown } from '../field.js';
import { judgeTarget, judgeTree } from '../judge-place.js';
import { readOptions } from '../read-options.js';
import { deleteEffect } from '../report-effects.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { NOTHING } from '../stream.js';

const judgeRm: Judge = (call) => {
  const { findings, words } = call;
  const options = readOptions(words);
  const { operands } = options;
  const recursive = options.has('r', 'R', 'recursive');
  if (options.options.some(({ name }) => name.startsWith('no-pre'))) {
    findings.block('rm --no-preserve-root is there to remove the root directory.');
  }
  for (const operand of operands) {
    deleteEffect(findings, operand, call.scope);
    judgeListed(call, operand);
    if (recursive || options.isUnclear) judgeRemoval(call, operand, recursive);
    if (!recursive) judgeSingleRemoval(call, operand);
  }
  if (operands.some((operand) => isManyUnknown(operand)) && recursive) {
    findings.ask('What rm removes with all below it is computed.');
  }
  return NOTHING;
};

/** Removing a directory with all below it. */
export function judgeRemoval({ findings, name, scope }: Invocation, operand: Field, isCertain = true): void {
  const judgement = judgeTree(operand, scope.directory);
  if (judgement === 'vital' && isCertain)
    findings.block(`${name} would remove ${operand.shown} with all below it.`);
  else if (judgement !== 'ordinary')
    findings.ask(`What ${name} would remove cannot be told: ${operand.shown}`);
}

/** `ls / | while read x; do rm "$x"; done`: the names come from a directory that must not be emptied. */
function judgeListed({ findings, name, scope }: Invocation, operand: Field): void {
  const source = sourceOf(operand);
  if (source?.kind !== 'listing' || !isVitalText(source.root, scope.directory)) return;
  findings.block(`${name} would remove what ${source.root} holds.`);
}

export function isVitalText(path: string, directory?: string): boolean {
  return judgeTree(literalField(path), directory ?? '.') === 'vital';
}

/** Without `-r` only files go; some of them are enough. */
function judgeSingleRemoval({ findings, name, scope }: Invocation, operand: Field): void {
  const judgement = judgeTarget(operand, scope.directory);
  if (judgement.kind === 'vital') findings.block(`${name} would remove ${judgement.what}, ${operand.shown}.`);
  const isPattern = operand.pieces.some(({ kind }) => kind === 'glob');
  if (isPattern && judgeTree(operand, scope.directory) === 'vital') {
    findings.block(`${name} would remove what ${operand.shown} matches.`);
  }
}

function isManyUnknown(operand: Field): boolean {
  return startsUnknown(operand) && operand.pieces.length === 1 && exactText(operand) === undefined;
}

const judgeUnlink: Judge = (call) => {
  for (const operand of readOptions(call.words, { short: 'ns', long: ['iterations', 'size'] }).operands) {
    deleteEffect(call.findings, operand, call.scope);
    judgeSingleRemoval(call, operand);
  }
  return NOTHING;
};

/** `shred`, `srm`, `wipe`: overwrites first. */
const judgeShred: Judge = (call) => {
  const { operands, has } = readOptions(call.words, {
    short: 'ns',
    long: ['iterations', 'size', 'random-source'],
  });
  for (const operand of operands) {
    deleteEffect(call.findings, operand, call.scope);
    judgeSingleRemoval(call, operand);
    if (has('r', 'recursive')) judgeRemoval(call, operand);
  }
  return NOTHING;
};

export const REMOVAL_JUDGES: Judges = {
  rm: judgeRm,
  grm: judgeRm,
  rimraf: (call) => {
    for (const operand of readOptions(call.words).operands) judgeRemoval(call, operand);
    return NOTHING;
  },
  'trash-put': (call) => {
    for (const operand of readOptions(call.words).operands) judgeRemoval(call, operand);
    return NOTHING;
  },
  rmdir: judgeUnlink,
  unlink: judgeUnlink,
  shred: judgeShred,
  srm: judgeShred,
  wipe: judgeShred,
};
