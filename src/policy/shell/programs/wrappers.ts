import { type Call, evaluateVariable } from '../words/call.js';
import { Field, type Stream, textValue, UNKNOWN } from '../words/field.js';
import { Options } from '../words/options.js';
import { pathText } from '../words/place.js';
import type { Evaluators, Program } from './program.js';

/** Programs that run a command that stands among their words, and do more than columns say. */
export const WRAPPERS: Evaluators = {
  'find gfind': evaluateFind,
  'xargs gxargs': evaluateXargs,
  watch: (call, { operands }) => (operands.length === 0 ? UNKNOWN : call.runCode(Field.join(operands))),
};

/** Finds the command behind the wrapper's options. What cannot be read as an option for sure is asked about. */
export function unwrap(call: Call, given: Options, program: Program): Stream {
  const { name, scope } = call;
  // The command of some stands behind words of their own: `docker exec`.
  const start = program.pattern('runs');
  const [lead] = start?.exec(`${call.shown}\n`) ?? [];
  if (start !== undefined && lead === undefined) return UNKNOWN;
  const words = lead === undefined ? call.words : call.words.slice(lead.split('\n').length - 1);
  const { short, long } = program;
  const options = lead === undefined ? given : new Options(words, { short, long, leads: true });
  const isMarked = program.has('assigns') && options.operands[0]?.shown === '-';
  const operands = options.operands.slice(isMarked ? 1 : 0);
  const head = words.slice(0, words.length - operands.length);
  if (head.some(({ literal, shown }) => !literal && shown.startsWith('-')))
    call.ask(`The options of ${name} are computed.`);
  const settings: string[] = [];
  const rest = program.has('assigns') ? skipAssignments(call, operands, settings) : operands;
  const isBefore = program.pattern('before')?.test(rest[0]?.shown ?? '');
  const skipped = Number(program.text('before') ?? isBefore ?? 0);
  // A word that is not known may be the command, or an option that takes it.
  if (rest.slice(0, skipped).some(({ hasPattern, isLoose }) => hasPattern || isLoose))
    call.ask(`The words before the command of ${name} are computed.`);
  const command = rest.slice(skipped);
  // `flock FILE -c CODE`
  const code = /^(?:-c|--command)$/.test(command[0]?.shown ?? '') ? command[1] : undefined;
  if (code !== undefined) return call.runCode(code);
  // Some take a single word for code: `xterm -e 'CODE'`, `pnpm -c exec 'CODE'`.
  const [only, ...more] = command;
  if (only !== undefined && more.length === 0 && /\s/.test(only.known)) call.runText(only.known);
  if (command.length === 0)
    return program.pattern('shell')?.test(head.map(({ shown }) => shown).join('\n')) === true
      ? call.runStream()
      : UNKNOWN;
  // `command rm` and `builtin cd` go past functions, and change the shell that runs them.
  const isOwn = name === 'command' || name === 'builtin';
  if (isOwn) scope.functions.clear();
  const isMoved =
    program.text('moves') !== undefined ||
    options.given.some((one) => program.pattern('moves')?.test(one.name));
  const inner = isOwn ? scope : scope.copy(isMoved ? { directory: undefined, elsewhere: [] } : {});
  return call.runRest(command, inner, call.input, settings);
}

/** Whatever is before the `=`: `BASH_FUNC_ls%%=() { …; }` is handed on too, and so is `=1`, which has no name. */
function skipAssignments(call: Call, words: readonly Field[], settings: string[]): readonly Field[] {
  for (const [at, word] of words.entries()) {
    const equals = word.shown.indexOf('=');
    if (equals === -1) return words.slice(at);
    const name = word.shown.slice(0, equals);
    const text = word.dropPrefix(equals + 1).exact;
    evaluateVariable(call, name, text === undefined ? UNKNOWN : textValue(text));
    settings.push(`${name}=${text ?? '?'}`);
    call.findings.walks([word]);
    call.scope.set(name, UNKNOWN);
  }
  return [];
}

/** `find START… TESTS ACTIONS`. */
function evaluateFind(call: Call): Stream {
  const { words, findings, scope } = call;
  const isOption = ({ shown }: Field) => /^-(?:[HLP]|O\d|D)/.test(shown);
  const at = words.findIndex((word) => /^(?:-[A-Za-z]|[!(),])/.test(word.shown) && !isOption(word));
  const expression = at === -1 ? [] : words.slice(at, at + MAX_EXPRESSION);
  const given = words.slice(0, at === -1 ? words.length : at).filter((word) => !isOption(word));
  const starts = given.length === 0 ? [Field.of('.')] : given;
  const vital = isNarrow(expression) ? undefined : starts.find((one) => call.dangerOfTree(one) === 'vital');
  const removes = () => {
    if (vital !== undefined) call.block(`find would remove what is below ${vital.shown}.`);
    else if (starts.some((start) => call.dangerOfTree(start) !== 'ordinary'))
      call.ask(`find removes files below ${starts.map(({ shown }) => shown).join(' ')}.`);
  };
  for (const start of starts) call.touches('read', start);
  if (words.length > at + MAX_EXPRESSION) call.ask('The expression of find is too long to be read.');
  expression.forEach(({ shown, literal, isLoose }, index) => {
    const next = expression[index + 1];
    if (!literal && isLoose) call.ask(`An expression of find is computed: ${shown}`);
    if (shown === '-delete') {
      for (const start of starts) call.touches('delete', start);
      removes();
    } else if (/^-(?:exec|ok)(?:dir)?$/.test(shown)) {
      const command = commandIn(expression.slice(index + 1));
      if (!REMOVES.test(command[0]?.shown ?? ''))
        for (const start of starts) findings.touches('read', start, scope);
      if (command.some(({ exact }) => exact === undefined)) call.ask('A command of find is computed.');
      // `{}` is each start first; a narrowed search only asks, by what cannot be told.
      const hasPlace = vital !== undefined && command.some((word) => word.shown.includes('{}'));
      const inner = scope.copy(shown.endsWith('dir') ? { directory: undefined, elsewhere: [] } : {});
      for (const start of hasPlace ? starts : [Field.of('./{}')])
        call.runRest(
          command.map((word) => fillPlace(word, '{}', start)),
          inner.copy(),
          UNKNOWN,
        );
      if (command.some((word) => REMOVES.test(word.shown))) removes();
    } else if (/^-f(?:printf?0?|ls)$/.test(shown) && next !== undefined) {
      call.overwrite(next, UNKNOWN);
    }
  });
  // What a `| xargs rm` behind it would hit: nothing vital when only some names are taken.
  const [root = Field.of('.'), ...others] =
    vital === undefined ? starts.filter((one) => call.dangerOfTree(one) === 'ordinary') : [vital];
  return { kind: 'listing', root: others.length === 0 ? pathText(root, scope.directory) : '.' };
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
function fillPlace(word: Field, place: string, by: Field): Field {
  if (place === '' || !word.shown.includes(place)) return word;
  if (word.shown === place) return by;
  const texts = word.shown.split(place).map((text) => (text === '' ? [] : [textValue(text)]));
  const filling = by.literal ? [UNKNOWN] : by.pieces;
  const pieces = texts.flatMap((text, index) => (index === 0 ? text : [...filling, ...text]));
  return new Field(pieces, word.shown);
}

/** `xargs COMMAND`: with what comes in behind its words, or in place of `{}`. */
function evaluateXargs(call: Call, { operands: command, given }: Options): Stream | undefined {
  const { words, input, findings } = call;
  const [first] = command;
  const head = words.slice(0, words.length - Math.max(0, command.length - 1));
  if (head.some(({ exact }) => exact === undefined)) call.ask('The options of xargs are computed.');
  if (first === undefined) return input;
  const replaces = given.findLast(({ name }) => /^(?:[IiJ]|replace)$/.test(name));
  const attached = /^-\w*?i(.+)$/.exec(replaces?.name === 'i' ? replaces.word.shown : '')?.[1];
  const place = replaces === undefined ? '' : (replaces.value?.shown ?? attached ?? '{}');
  if (input.kind === 'listing' && call.isVital(input.root, '.') && REMOVES.test(first.shown))
    call.block(`${first.shown} would remove what ${input.root} holds.`);
  const line =
    input.kind === 'text' ? Field.of(input.text.split('\n')[0] ?? '', false) : new Field([UNKNOWN], '…');
  const fed =
    replaces === undefined
      ? [...command, ...arrivals(call)]
      : command.map((word) => fillPlace(word, place, line));
  findings.walks(command);
  if (input.kind === 'listing' && !REMOVES.test(first.shown)) call.readsBelow(input.root);
  return call.runRest(fed, call.scope.copy(), UNKNOWN);
}

/** The words that come in: known ones as they are, others as what is not known. */
function arrivals(call: Call): readonly Field[] {
  const { input } = call;
  if (input.kind === 'text') {
    const texts = input.text.split(/[\s\0]+/).filter((text) => text !== '');
    return texts.slice(0, 64).map((text) => Field.of(text.replaceAll(/["'\\]/g, ''), false));
  }
  if (input.kind === 'listing' && !call.isVital(input.root, '.'))
    return [new Field([textValue(`${input.root}/x`), UNKNOWN], `${input.root}/…`)];
  const computed = input.kind === 'unknown' && input.computed === true;
  return [new Field([{ kind: 'unknown', numeric: false, splits: true, from: input, computed }], '…')];
}
