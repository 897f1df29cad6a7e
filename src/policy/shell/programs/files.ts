import type { Call } from '../words/call.js';
import { Field, type Stream, UNKNOWN } from '../words/field.js';
import { Options } from '../words/options.js';
import { evaluateCopier, type Program, type Programs } from './program.js';

/** Changes access rights or owners. */
const OWNERSHIP: Program = {
  prints: 'nothing',
  verdicts: [['block', /^--no-pre/m, 'is there to change the root directory']],
  evaluate: evaluateOwnership,
};

const ROWS: Programs = {
  rm: {
    prints: 'nothing',
    verdicts: [['block', /^--no-pre/m, 'is there to remove the root directory']],
    evaluate: evaluateRemoval,
  },
  'rimraf trash-put srm wipe': { operands: 'remove', prints: 'nothing' },
  'rmdir unlink': { operands: 'delete', prints: 'nothing' },
  shred: { options: 'ns', operands: 'delete', prints: 'nothing' },
  'cp install mv ln link': { options: 'SgmoCt target-directory', prints: 'nothing', evaluate: transfer },
  'tee sponge': {
    evaluate(call, options) {
      for (const target of options.operands) call.overwrite(target, call.input);
      return call.input;
    },
  },
  dd: { evaluate: evaluateDd },
  'tar bsdtar': { options: 'fC', bundle: true, evaluate: evaluateCopier },
  truncate: { options: 'sr size reference', operands: 'overwrite', prints: 'nothing' },
  touch: { options: 'drtA date reference time', operands: 'write', prints: 'nothing' },
  'mkdir mkfifo': { options: 'mZ mode', operands: 'write', prints: 'nothing' },
  'chmod chown chgrp chattr': OWNERSHIP,
};

/** Programs that make, copy, move, remove and re-own files: tools for files do the same. */
export const FILE_PROGRAMS: Programs = Object.fromEntries(
  Object.entries(ROWS).map(([names, program]) => [names, { ...program, goesByDirectory: true }]),
);

function evaluateRemoval(call: Call, options: Options): void {
  const recursive = options.has('r', 'R', 'recursive');
  const mayRecurse = recursive || call.words.some(({ startsUnknown }) => startsUnknown);
  for (const operand of options.operands) {
    call.touches('delete', operand);
    if (mayRecurse) call.removeTree(operand, recursive);
    if (!recursive) call.removeFile(operand);
  }
}

/** `cp`, `mv`, `ln`: sources and a target, or a directory that takes them (`-t DIRECTORY`). */
function transfer(call: Call, options: Options): void {
  const isMove = call.name === 'mv';
  const isLink = call.name.startsWith('l');
  const directory = options.value('t', 'target-directory');
  const target = directory ?? options.operands.at(-1);
  const sources = directory === undefined ? options.operands.slice(0, -1) : options.operands;
  for (const source of sources) {
    if (isMove) takeAway(call, source);
    else if (!isLink) call.touches('read', source);
  }
  const isAlone = sources.length === 0 && (isLink || (!isMove && call.words.length < 2));
  if (target === undefined || isAlone) return;
  if (isMove && /^\/dev\/null\/?$/.test(target.shown)) call.ask('mv to /dev/null loses what is moved.');
  // Running a copy of an existing file is no worse than running the file.
  const content = sources.map((source) => call.scope.writtenTo(source)).find((one) => one !== undefined);
  replaceIn(call, sources, target, content);
}

function takeAway(call: Call, source: Field): void {
  call.touches('delete', source);
  call.harms(call.dangerOfTree(source), `take away ${source.shown}`);
  // A file that must stay in its place.
  if (/^\/(?:etc|boot|dev)\//.test(source.shown)) call.overwrite(source, undefined);
}

/** A file copied into a directory keeps its name, so that name is overwritten. */
function replaceIn(call: Call, sources: readonly Field[], target: Field, content: Stream | undefined): void {
  call.overwrite(target, content);
  if (!/^(?:~|\/(?:root|home|etc|boot|dev|usr|bin|sbin))/.test(target.shown) && !target.isAssumed) return;
  for (const { shown } of sources.slice(0, 32)) {
    const name = shown.slice(shown.lastIndexOf('/') + 1);
    if (name === '' || name.includes('*')) continue;
    const pieces = [...target.pieces, ...Field.of(`/${name}`).pieces];
    call.overwrite(new Field(pieces, `${target.shown}/${name}`, target.literal), content);
  }
}

function evaluateDd(call: Call): void {
  for (const word of call.words) {
    const key = /^(if|of)=/.exec(word.shown)?.[1];
    const file = word.startsUnknown ? word : word.dropPrefix(3);
    if (key === 'if') call.touches('read', file);
    else if (key === 'of') call.overwrite(file, UNKNOWN);
    else if (word.startsUnknown || word.isComputed) call.ask(`What dd writes to is computed: ${word.shown}`);
  }
}

function evaluateOwnership(call: Call): void {
  const { name, words } = call;
  // `-x` removes a right; it is not an option.
  const minus = words.find(({ shown }) => /^-[rwxXst]+$/.test(shown));
  const options = new Options(
    words.filter((word) => word !== minus),
    { options: ' from reference' },
  );
  const hasMode = minus === undefined && !options.has('reference');
  const mode = minus?.shown ?? (hasMode ? (options.operands[0]?.shown ?? '') : '');
  const recursive = options.has('R', 'recursive');
  for (const target of options.operands.slice(hasMode ? 1 : 0)) {
    const { shown } = target;
    call.touches('write', target);
    const tree = call.dangerOfTree(target);
    const file = call.dangerOfFile(target);
    if (recursive) call.harms(tree, `change ${shown} with all below it`);
    else if (tree === 'vital' && OPENS_OR_CLOSES.test(mode))
      call.block(`${name} ${mode} would open or close ${shown} for all users.`);
    call.harms(file.kind, `change ${file.what}, ${shown}`);
    if (name !== 'chmod' || !/^(?:0*[2467]\d{3}|[ugoa]*[+=]\w*s\w*)$/.test(mode)) continue;
    const isSystem = /^\/(?:usr\/)?s?bin\//.test(target.exact ?? shown);
    call[isSystem ? 'block' : 'ask'](`chmod ${mode} lets all users run ${shown} as its owner.`);
  }
}

const OPENS_OR_CLOSES = /^(?:0+|0*[07]{3}|a[-=+]?(?:rwx)?|[ugo]*-.*|-.*|\+w|[ao]+[+=]\w*w\w*)$/;
