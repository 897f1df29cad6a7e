import { type Field, isAssumed, literalField } from '../field.js';
import { judgeTree } from '../judge-place.js';
import { readOptions } from '../read-options.js';
import { deleteEffect, readEffect, writeEffect } from '../report-effects.js';
import { readsSecret } from '../secret-file.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { NOTHING, UNKNOWN } from '../stream.js';
import { noteWritten, writtenContent } from '../written-files.js';
import { judgeOverwrite } from './disks.js';

function sourcesAndTarget(
  call: Invocation,
  short: string,
): { sources: readonly Field[]; target: Field | undefined } {
  const options = readOptions(call.words, { short: `${short}t`, long: ['target-directory', 'suffix'] });
  const directory = options.value('t', 'target-directory');
  if (directory !== undefined) return { sources: options.operands, target: directory };
  return { sources: options.operands.slice(0, -1), target: options.operands.at(-1) };
}

/** A file copied into a directory keeps its name: that is what is overwritten. */
function judgeInto(call: Invocation, sources: readonly Field[], target: Field): void {
  judgeOverwrite(call, target);
  for (const { shown } of sources.slice(0, 32)) {
    const name = shown.slice(shown.lastIndexOf('/') + 1);
    if (name === '' || name.includes('*')) continue;
    const inside = {
      ...target,
      pieces: [...target.pieces, ...literalField(`/${name}`).pieces],
      shown: `${target.shown}/${name}`,
    };
    if (/^(?:~|\/(?:root|home|etc|boot|dev|usr|bin|sbin))/.test(target.shown) || isAssumed(target))
      judgeOverwrite(call, inside);
  }
}

const judgeCopy: Judge = (call) => {
  const { sources, target } = sourcesAndTarget(call, call.name === 'install' ? 'gmoSC' : 'S');
  for (const source of sources) readEffect(call.findings, source, call.scope);
  if (target !== undefined && call.words.length > 1) {
    judgeInto(call, sources, target);
    passOn(call, sources, target);
  }
  return sources.map((source) => readsSecret(source, call.scope)).find((one) => one !== undefined) ?? NOTHING;
};

/** A copy holds what the file held. */
function passOn({ scope }: Invocation, [source, other]: readonly Field[], target: Field): void {
  const content = source === undefined || other !== undefined ? undefined : writtenContent(source, scope);
  if (content !== undefined) noteWritten(target, scope, content);
}

const judgeMove: Judge = (call) => {
  const { findings, scope } = call;
  const { sources, target } = sourcesAndTarget(call, 'S');
  for (const source of sources) {
    deleteEffect(findings, source, scope);
    const judgement = judgeTree(source, scope.directory);
    if (judgement === 'vital') findings.block(`mv would take away ${source.shown}.`);
    if (judgement === 'unclear') findings.ask(`What mv would take away cannot be told: ${source.shown}`);
    if (call.scope.directory !== undefined) judgeTakenAway(call, source);
  }
  if (target === undefined) return NOTHING;
  if (/^\/dev\/null\/?$/.test(target.shown)) findings.ask('mv to /dev/null loses what is moved.');
  judgeInto(call, sources, target);
  passOn(call, sources, target);
  return NOTHING;
};

/** A file that must stay where it is. */
function judgeTakenAway(call: Invocation, source: Field): void {
  if (/^\/(?:etc|boot|dev)\//.test(source.shown)) judgeOverwrite(call, source);
}

const judgeLink: Judge = (call) => {
  const { sources, target } = sourcesAndTarget(call, 'S');
  if (target !== undefined && sources.length > 0) judgeInto(call, sources, target);
  return NOTHING;
};

const judgeTee: Judge = (call) => {
  for (const target of readOptions(call.words).operands) {
    judgeOverwrite(call, target);
    noteWritten(target, call.scope, call.input);
  }
  return call.input;
};

const judgeTruncate: Judge = (call) => {
  for (const target of readOptions(call.words, { short: 'sr', long: ['size', 'reference'] }).operands)
    judgeOverwrite(call, target);
  return NOTHING;
};

const judgeTouch: Judge = (call) => {
  for (const target of readOptions(call.words, { short: 'drtA', long: ['date', 'reference', 'time'] })
    .operands)
    writeEffect(call.findings, target, call.scope);
  return NOTHING;
};

const judgeMakeDirectory: Judge = (call) => {
  for (const target of readOptions(call.words, { short: 'mZ', long: ['mode'] }).operands)
    writeEffect(call.findings, target, call.scope);
  return NOTHING;
};

/** Archives: what is unpacked where, and the programs they can be told to run. */
const judgeTar: Judge = (call) => {
  const { findings, scope, words, shell } = call;
  for (const word of words) {
    const code =
      /^--(?:checkpoint-action=exec|to-command|use-compress-program|info-script|new-volume-script|rsh-command|rmt-command)=(.*)$/s.exec(
        word.shown,
      )?.[1];
    if (code === undefined) continue;
    findings.ask(`tar runs a command: ${code}`);
    shell.runText(code, scope.copy(), UNKNOWN);
  }
  const dashed =
    words[0] !== undefined && /^[A-Za-z]+$/.test(words[0].shown)
      ? [literalField(`-${words[0].shown}`), ...words.slice(1)]
      : words;
  const options = readOptions(dashed, {
    short: 'fCXTIFbgHKLNV',
    long: [
      'file',
      'directory',
      'exclude',
      'exclude-from',
      'files-from',
      'use-compress-program',
      'transform',
      'strip-components',
      'checkpoint-action',
      'to-command',
      'info-script',
    ],
  });
  const program = options.value('I', 'use-compress-program', 'F', 'info-script', 'to-command');
  if (
    program !== undefined &&
    !/^(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzma|lzip)(?: -[\w=]+)*$/.test(program.shown)
  ) {
    findings.ask(`tar runs a command: ${program.shown}`);
    shell.runText(program.shown, scope.copy(), UNKNOWN);
  }
  const archive = options.value('f', 'file');
  const directory = options.value('C', 'directory') ?? literalField('.');
  const isExtract = options.has('x', 'extract', 'get');
  if (isExtract && judgeTree(directory, scope.directory) === 'vital')
    findings.ask(`tar unpacks over ${directory.shown}.`);
  if (isExtract) writeEffect(findings, directory, scope);
  if (archive !== undefined && archive.shown !== '-') {
    if (options.has('c', 'r', 'u', 'create', 'append')) judgeOverwrite(call, archive);
    else readEffect(findings, archive, scope);
  }
  for (const operand of isExtract ? [] : options.operands) readEffect(findings, operand, scope);
  if (options.has('remove-files'))
    for (const operand of options.operands)
      if (judgeTree(operand, scope.directory) === 'vital')
        findings.block(`tar --remove-files would remove ${operand.shown}.`);
  return UNKNOWN;
};

const judgeUnzip: Judge = (call) => {
  const { operands, value } = readOptions(call.words, { short: 'dPx' });
  if (operands[0] !== undefined) readEffect(call.findings, operands[0], call.scope);
  writeEffect(call.findings, value('d') ?? literalField('.'), call.scope);
  return UNKNOWN;
};

const judgeZip: Judge = (call) => {
  const { operands, value } = readOptions(call.words, { long: ['unzip-command'] });
  const code =
    value('TT', 'unzip-command') ?? call.words[call.words.findIndex(({ shown }) => shown === '-TT') + 1];
  if (
    code !== undefined &&
    call.words.some(({ shown }) => shown === '-TT' || shown.startsWith('--unzip-command'))
  ) {
    call.findings.ask('zip runs a command.');
    call.shell.runText(code.shown, call.scope.copy(), UNKNOWN);
  }
  if (operands[0] !== undefined) writeEffect(call.findings, operands[0], call.scope);
  for (const operand of operands.slice(1)) readEffect(call.findings, operand, call.scope);
  return UNKNOWN;
};

export const COPY_JUDGES: Judges = {
  cp: judgeCopy,
  gcp: judgeCopy,
  install: judgeCopy,
  mv: judgeMove,
  gmv: judgeMove,
  ln: judgeLink,
  link: judgeLink,
  tee: judgeTee,
  sponge: judgeTee,
  truncate: judgeTruncate,
  fallocate: judgeTruncate,
  touch: judgeTouch,
  mkdir: judgeMakeDirectory,
  mkfifo: judgeMakeDirectory,
  tar: judgeTar,
  bsdtar: judgeTar,
  gtar: judgeTar,
  unzip: judgeUnzip,
  zip: judgeZip,
};
