import { type Call, runAskedCode } from '../words/call.js';
import { dangerOfFile, dangerOfTree } from '../words/danger.js';
import {
  exactText,
  type Field,
  isAssumed,
  isComputed,
  isNewFile,
  literalField,
  type Stream,
  startsUnknown,
} from '../words/field.js';
import { Options } from '../words/options.js';
import type { Program, Programs } from './program.js';
import { codesBehind } from './program.js';
import { overwrite, removeFile, removeListed, removeTree, USES } from './uses.js';

/** Programs that make, copy, move, remove and re-own files. */
export const FILE_PROGRAMS: Programs = {
  'rm grm': { prints: 'nothing', also: evaluateRemoval },
  'rimraf trash-put': { operands: ['remove'], prints: 'nothing' },
  'rmdir unlink': { operands: ['delete'], prints: 'nothing' },
  'shred srm wipe': {
    short: 'ns',
    long: 'iterations size random-source',
    operands: ['delete'],
    prints: 'nothing',
    also(call, options) {
      if (options.has('r', 'recursive')) for (const operand of options.operands) removeTree(call, operand);
    },
  },
  'cp gcp': transfers('read', 'S'),
  install: transfers('read', 'SgmoC'),
  'mv gmv': transfers('delete', 'S'),
  'ln link': transfers('skip', 'S'),
  'tee sponge': {
    also(call, { operands }) {
      for (const target of operands) overwrite(call, target, call.input);
      return call.input;
    },
  },
  'truncate fallocate': { short: 'sr', long: 'size reference', operands: ['overwrite'], prints: 'nothing' },
  touch: { short: 'drtA', long: 'date reference time', operands: ['write'], prints: 'nothing' },
  'mkdir mkfifo': { short: 'mZ', long: 'mode', operands: ['write'], prints: 'nothing' },
  'dd dcfldd dc3dd': { also: evaluateDd },
  ddrescue: { operands: ['skip', 'overwrite', 'skip'] },
  'tar bsdtar gtar': { also: evaluateTar },
  unzip: {
    short: 'Px',
    options: { d: 'write' },
    operands: ['read', 'skip'],
    also({ findings, scope }, options) {
      if (!options.has('d')) findings.touches('write', literalField('.'), scope);
    },
  },
  zip: { codeBehind: /^(?:-TT|--unzip-command(?:=(.*))?)$/s, operands: ['write', 'read'] },
  'chmod chown chgrp chattr setfacl chcon chflags gchmod gchown': {
    prints: 'nothing',
    also: evaluateOwnership,
  },
};

function evaluateRemoval(call: Call): void {
  const { findings } = call;
  const options = new Options(call.words);
  const recursive = options.has('r', 'R', 'recursive');
  if (options.given.some(({ name }) => name.startsWith('no-pre')))
    findings.block('rm --no-preserve-root is there to remove the root directory.');
  for (const operand of options.operands) {
    findings.touches('delete', operand, call.scope);
    removeListed(call, operand);
    if (recursive || options.isUnclear) removeTree(call, operand, recursive);
    if (!recursive) removeFile(call, operand);
    if (recursive && startsUnknown(operand) && operand.pieces.length === 1 && !isNewFile(operand))
      findings.ask('What rm removes with all below it is computed.');
  }
}

/** Sources and a target, or a directory that takes them: `-t DIRECTORY`. */
function transfers(use: 'read' | 'delete' | 'skip', short: string): Program {
  return {
    short: `${short}t`,
    long: 'target-directory suffix',
    prints: 'nothing',
    also(call, options) {
      const directory = options.value('t', 'target-directory');
      const target = directory ?? options.operands.at(-1);
      const sources = directory === undefined ? options.operands.slice(0, -1) : options.operands;
      for (const source of sources) {
        if (use === 'delete') takeAway(call, source);
        else USES[use](call, source);
      }
      const isAlone = sources.length === 0 && (use === 'skip' || (use === 'read' && call.words.length < 2));
      if (target === undefined || isAlone) return;
      if (use === 'delete' && /^\/dev\/null\/?$/.test(target.shown))
        call.findings.ask('mv to /dev/null loses what is moved.');
      const [only, ...more] = sources;
      const content = only === undefined || more.length > 0 ? undefined : call.scope.contentOf(only);
      // To run a copy of what was there is no worse than to run that.
      replaceIn(call, sources, target, content ?? 'there');
    },
  };
}

function takeAway(call: Call, source: Field): void {
  const { findings, scope } = call;
  findings.touches('delete', source, scope);
  const danger = dangerOfTree(source, scope.directory);
  if (danger === 'vital') findings.block(`mv would take away ${source.shown}.`);
  if (danger === 'unclear') findings.ask(`What mv would take away cannot be told: ${source.shown}`);
  // A file that must stay where it is.
  if (/^\/(?:etc|boot|dev)\//.test(source.shown)) overwrite(call, source, 'there');
}

/** A file copied into a directory keeps its name: that is what is overwritten. */
function replaceIn(call: Call, sources: readonly Field[], target: Field, content: Stream | 'there'): void {
  overwrite(call, target, content);
  if (!/^(?:~|\/(?:root|home|etc|boot|dev|usr|bin|sbin))/.test(target.shown) && !isAssumed(target)) return;
  for (const { shown } of sources.slice(0, 32)) {
    const name = shown.slice(shown.lastIndexOf('/') + 1);
    if (name === '' || name.includes('*')) continue;
    const pieces = [...target.pieces, ...literalField(`/${name}`).pieces];
    overwrite(call, { ...target, pieces, shown: `${target.shown}/${name}` }, content);
  }
}

function evaluateDd(call: Call): void {
  for (const word of call.words) {
    const [, key, file = ''] = /^(if|of)=(.*)$/s.exec(word.shown) ?? [];
    const field = { ...literalField(file, word.literal), pieces: withoutPrefix(word) };
    if (key === 'if') USES.read(call, field);
    else if (key === 'of') overwrite(call, field);
    else if (startsUnknown(word) || isComputed(word))
      call.findings.ask(`What dd writes to is computed: ${word.shown}`);
  }
}

/** Without `if=` or `of=`. */
function withoutPrefix({ pieces: [first, ...rest] }: Field): Field['pieces'] {
  if (first?.kind !== 'text') return first === undefined ? rest : [first, ...rest];
  const text = first.text.slice(3);
  return text === '' ? rest : [{ ...first, text }, ...rest];
}

/** Archives: what is unpacked where, and the programs they can be told to run. */
function evaluateTar(call: Call): void {
  const { findings, scope, words } = call;
  const [first] = words;
  const isOldStyle = first !== undefined && /^[A-Za-z]+$/.test(first.shown);
  const options = new Options(isOldStyle ? [literalField(`-${first.shown}`), ...words.slice(1)] : words, {
    short: 'fCXTIFbgHKLNV',
    long: 'file directory exclude exclude-from files-from transform strip-components checkpoint-action'
      .concat(' to-command info-script use-compress-program new-volume-script rsh-command rmt-command')
      .split(' '),
  });
  for (const { name, value } of options.given) {
    if (!/^(?:[IF]|use-c|info-|new-v|rsh-|rmt-|to-c|checkpoint-a)/.test(name) || value === undefined)
      continue;
    const [action] = codesBehind([value], /^exec=(.*)$/s);
    const isPlain = /^(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzma|lzip)(?: -[\w=]+)*$/.test(value.shown);
    if (name.startsWith('checkpoint-a') ? action !== undefined : !isPlain)
      runAskedCode(call, action ?? value);
  }
  const directory = options.value('C', 'directory') ?? literalField('.');
  const archive = options.value('f', 'file');
  const isExtract = options.has('x', 'extract', 'get');
  if (isExtract && (isComputed(directory) || dangerOfTree(directory, scope.directory) === 'vital'))
    findings.ask(`tar unpacks over ${directory.shown}.`);
  if (isExtract) findings.touches('write', directory, scope);
  if (archive !== undefined && archive.shown !== '-') {
    if (options.has('c', 'r', 'u', 'create', 'append')) overwrite(call, archive);
    else findings.touches('read', archive, scope);
  }
  for (const operand of isExtract ? [] : options.operands) {
    findings.touches('read', operand, scope);
    if (options.has('remove-files')) removeTree(call, operand);
  }
}

/** `chmod`, `chown`, `chgrp`, `chattr`, `setfacl`: who may do what. */
function evaluateOwnership(call: Call): void {
  const { findings, name, scope } = call;
  const isAcl = name === 'setfacl';
  // `-x` takes a right away, and is no option.
  const minus = isAcl ? undefined : call.words.find(({ shown }) => /^-[rwxXst]+$/.test(shown));
  const options = new Options(
    call.words.filter((word) => word !== minus),
    isAcl ? { short: 'mxMXdk' } : { long: ['from', 'reference'] },
  );
  const hasMode = minus === undefined && !isAcl && !options.has('reference');
  const mode = minus?.shown ?? (hasMode ? (options.operands[0]?.shown ?? '') : '');
  if (options.given.some((option) => option.name.startsWith('no-pre')))
    findings.block(`${name} --no-preserve-root is there to change the root directory.`);
  const recursive = options.has('R', 'recursive');
  if (call.words.some(isComputed)) findings.ask(`What ${name} changes is computed.`);
  for (const target of options.operands.slice(hasMode ? 1 : 0)) {
    findings.touches('write', target, scope);
    const tree = dangerOfTree(target, scope.directory);
    const file = dangerOfFile(target, scope.directory);
    if (recursive && tree === 'vital')
      findings.block(`${name} would change ${target.shown} with all below it.`);
    else if (recursive && tree === 'unclear')
      findings.ask(`What ${name} would change cannot be told: ${target.shown}`);
    else if (tree === 'vital' && OPENS_OR_CLOSES.test(mode))
      findings.block(`${name} ${mode} would open or close ${target.shown} for all users.`);
    if (file.kind === 'vital') findings.block(`${name} would change ${file.what}, ${target.shown}.`);
    if (file.kind === 'unclear') findings.ask(`${name} changes ${target.shown}.`);
    if (name !== 'chmod' || !/^(?:0*[2467]\d{3}|[ugoa]*[+=]\w*s\w*)$/.test(mode)) continue;
    const isSystem = /^\/(?:usr\/)?s?bin\//.test(exactText(target) ?? target.shown);
    findings[isSystem ? 'block' : 'ask'](`chmod ${mode} lets all users run ${target.shown} as its owner.`);
  }
}

const OPENS_OR_CLOSES = /^(?:0*[07]{3}|a[-=+]?(?:rwx)?|[ugo]*-.*|-.*|\+w|[ao]+[+=]\w*w\w*)$/;
