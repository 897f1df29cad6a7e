import { type Call, runRest } from '../words/call.js';
import { dangerOfFile, dangerOfTree, isVital } from '../words/danger.js';
import {
  exactText,
  type Field,
  INHERITED,
  literalField,
  type Stream,
  textPiece,
  UNKNOWN_TEXT,
} from '../words/field.js';
import type { Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import type { Programs } from './program.js';

/** Programs that run a command for each of the names that they find or read. */
export const FINDING_PROGRAMS: Programs = {
  'find gfind': { also: evaluateFind },
  'fd fdfind': {
    short: 'dtTeEScjog',
    long: 'type extension exclude size max-depth min-depth owner changed-within changed-before',
    leads: true,
    also: evaluateFd,
  },
  'xargs gxargs': {
    short: 'nPLsdEaRSIJ',
    long: 'max-args max-procs max-lines max-chars delimiter eof arg-file process-slot-var',
    leads: true,
    also: evaluateXargs,
  },
  parallel: { when: [['ask', /^/, 'puts what comes in into code']] },
};

/** `find START… TESTS ACTIONS`. */
function evaluateFind(call: Call): Stream {
  const { words, findings, scope } = call;
  const isOption = ({ shown }: Field) => /^-(?:[HLP]|O\d|D)/.test(shown);
  const at = words.findIndex((word) => /^(?:-[A-Za-z]|[!(),])/.test(word.shown) && !isOption(word));
  const expression = at === -1 ? [] : words.slice(at, at + MAX_EXPRESSION);
  const given = (at === -1 ? words : words.slice(0, at)).filter((word) => !isOption(word));
  const starts = given.length === 0 ? [literalField('.')] : given;
  const dangers = starts.map((start) => dangerOfTree(start, scope.directory));
  const isWide = dangers.includes('vital') && !isNarrow(expression);
  const shownStarts = starts.map(({ shown }) => shown).join(' ');
  const removes = () => {
    if (isWide) findings.block(`find would remove what is below ${shownStarts}.`);
    else if (dangers.some((danger) => danger !== 'ordinary'))
      findings.ask(`find removes files below ${shownStarts}.`);
  };
  for (const start of starts) findings.touches('read', start, scope);
  if (at !== -1 && words.length - at > MAX_EXPRESSION)
    findings.ask('The expression of find is too long to be read.');
  expression.forEach(({ shown, literal, pieces }, index) => {
    const next = expression[index + 1];
    if (
      !literal &&
      pieces.some((piece) => piece.kind === 'unknown' && (piece.splits || piece.computed === true))
    )
      findings.ask(`An expression of find is computed: ${shown}`);
    if (shown === '-delete') {
      findings.byOption(shown, () => {
        for (const start of starts) findings.touches('delete', start, scope);
      });
      removes();
    } else if (/^-(?:exec|ok)(?:dir)?$/.test(shown)) {
      const command = commandIn(expression.slice(index + 1));
      if (command.some((word) => exactText(word) === undefined))
        findings.ask('A command of find is computed.');
      // `{}` is each start first; a narrowed search only asks, by what cannot be told.
      const hasPlace = command.some((word) => word.shown.includes('{}'));
      for (const start of isWide && hasPlace ? starts : [literalField('./{}')])
        runRest(
          call,
          command.map((word) => fillPlace(word, '{}', start)),
          shown.endsWith('dir') ? scope.copy({ directory: undefined, elsewhere: [] }) : scope.copy(),
          INHERITED,
        );
      if (command.some((word) => REMOVES.test(word.shown))) removes();
    } else if (/^-f(?:printf?0?|ls)$/.test(shown) && next !== undefined) {
      findings.byOption(shown, () => findings.touches('write', next, scope));
      if (dangerOfFile(next, scope.directory).kind === 'vital')
        findings.block(`find would overwrite ${next.shown}.`);
    }
  });
  // What a `| xargs rm` behind it would hit: nothing vital when only some names are taken.
  const vital = starts[dangers.indexOf('vital')];
  return { kind: 'listing', root: isWide && vital !== undefined ? pathText(vital, scope.directory) : '.' };
}

const MAX_EXPRESSION = 200;

const REMOVES = /(?:^|\/)(?:rm|unlink|shred|srm|rmdir|truncate)$/;

/** Only some of the names that are found are taken. */
function isNarrow(expression: readonly Field[]): boolean {
  return expression.some(({ shown }, index) => {
    const isAll = /^['"]?\*+['"]?$/.test(expression[index + 1]?.shown ?? '');
    return NARROWING.test(shown) && !isAll;
  });
}

const NARROWING =
  /^-i?(?:name|path|wholename|regex|lname)$|^-(?:newer\w*|inum|samefile|user|group|nouser|nogroup|mtime|mmin|ctime|cmin|atime|amin|empty|size|xtype|perm)$/;

function commandIn(rest: readonly Field[]): readonly Field[] {
  const end = rest.findIndex(
    ({ shown }, at) => shown === ';' || (shown === '+' && rest[at - 1]?.shown === '{}'),
  );
  return end === -1 ? rest : rest.slice(0, end);
}

/** A place within a word is replaced by text; code that it becomes part of is not known any more. */
function fillPlace(word: Field, place: string, by: Field | undefined): Field {
  if (place === '' || !word.shown.includes(place)) return word;
  if (word.shown === place && by !== undefined) return by;
  const texts = word.shown.split(place).map((text) => (text === '' ? [] : [textPiece(text)]));
  const filling = by?.literal === false ? by.pieces : [UNKNOWN_TEXT];
  const pieces = texts.flatMap((text, index) => (index === 0 ? text : [...filling, ...text]));
  return { pieces, shown: word.shown, literal: false };
}

/** `fd PATTERN START… -x COMMAND`. */
function evaluateFd(call: Call): void {
  const at = call.words.findIndex(({ shown }) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(shown));
  const command = at === -1 ? [] : call.words.slice(at + 1);
  if (call.words.some(({ pieces }) => pieces.some((piece) => piece.kind === 'unknown' && piece.splits)))
    call.findings.ask('The words of fd are computed.');
  if (command.some(({ shown }) => REMOVES.test(shown))) {
    const isWide = call.words.some(({ shown }) => isVital(shown, call.scope.directory));
    call.findings[isWide ? 'block' : 'ask']('fd would remove what it finds.');
  }
  runRest(call, [...command, literalField('./{}')].slice(0, at === -1 ? 0 : undefined));
}

/** `xargs COMMAND`: with what comes in behind its words, or in place of `{}`. */
function evaluateXargs(call: Call, { operands: command, given }: Options): Stream | undefined {
  const { words, findings, input } = call;
  const [first] = command;
  const head = words.slice(0, words.length - Math.max(0, command.length - 1));
  if (head.some((word) => exactText(word) === undefined)) findings.ask('The options of xargs are computed.');
  if (first === undefined) return input;
  const replaces = given.findLast(({ name }) => /^(?:[IiJ]|replace)$/.test(name));
  const attached = head
    .map(({ shown }) => /^-[0rtpxo]*i(.+)$/.exec(shown)?.[1])
    .find((one) => one !== undefined);
  const place = replaces === undefined ? '' : (replaces.value?.shown ?? attached ?? '{}');
  if (input.kind === 'listing' && isVital(input.root) && REMOVES.test(first.shown))
    findings.block(`${first.shown} would remove what ${input.root} holds.`);
  const line = input.kind === 'text' ? literalField(input.text.split('\n')[0] ?? '', false) : undefined;
  const unknown = { pieces: [UNKNOWN_TEXT], shown: '…', literal: false };
  const fed =
    replaces === undefined
      ? [...command, ...arrivals(input)]
      : command.map((word) => fillPlace(word, place, line ?? unknown));
  return runRest(call, fed, call.scope.copy(), INHERITED);
}

/** The words that come in: known ones as they are, others as what is not known. */
function arrivals(input: Stream): readonly Field[] {
  if (input.kind === 'text') {
    const texts = input.text.split(/[\s\0]+/).filter((text) => text !== '');
    return texts.slice(0, 64).map((text) => literalField(text.replaceAll(/["'\\]/g, ''), false));
  }
  const isOrdinary = input.kind === 'listing' && !isVital(input.root);
  const unknown = {
    ...UNKNOWN_TEXT,
    splits: true,
    from: input,
    computed: input.kind === 'unknown' && input.computed === true,
  };
  const pieces = isOrdinary ? [textPiece(`${input.root}/x`), UNKNOWN_TEXT] : [unknown];
  return [{ pieces, shown: isOrdinary ? `${input.root}/…` : '…', literal: false }];
}
