import { exactText, type Field, literalField, UNKNOWN_TEXT } from '../field.js';
import { judgeTarget, judgeTree } from '../judge-place.js';
import { rootPath } from '../place.js';
import { deleteEffect, readEffect, writeEffect } from '../report-effects.js';
import type { Invocation, Judge } from '../shell.js';
import { INHERITED } from '../stream.js';
import { runRest } from './run-payload.js';

/** `find START… TESTS ACTIONS`. */
export const judgeFind: Judge = (call) => {
  const { words, findings } = call;
  const at = words.findIndex(
    (word) => /^(?:-[A-Za-z]|[!(),])/.test(word.shown) && !/^-(?:[HLP]|O\d|D)/.test(word.shown),
  );
  const starts = startsOf(at === -1 ? words : words.slice(0, at));
  const expression = at === -1 ? [] : words.slice(at);
  for (const start of starts) readEffect(findings, start, call.scope);
  for (const word of expression) {
    if (!word.literal && word.pieces.some((piece) => piece.kind === 'unknown' && piece.splits)) {
      findings.ask(`An expression of find is computed: ${word.shown}`);
    }
  }
  if (expression.length > MAX_EXPRESSION) findings.ask('The expression of find is too long to be judged.');
  for (const [index, word] of expression.slice(0, MAX_EXPRESSION).entries())
    judgeAction(call, starts, expression, word, index);
  return { kind: 'listing', root: rootOf(starts, expression, call.scope.directory) };
};

const MAX_EXPRESSION = 200;

function startsOf(words: readonly Field[]): readonly Field[] {
  const starts = words.filter(({ shown }) => !/^-(?:[HLP]|O\d|D)/.test(shown));
  return starts.length === 0 ? [literalField('.')] : starts;
}

/** What a `| xargs rm` behind it would hit: nothing vital when only some names are taken. */
function rootOf(
  starts: readonly Field[],
  expression: readonly Field[],
  directory: string | undefined,
): string {
  const vital = starts.find((start) => judgeTree(start, directory) === 'vital');
  return vital !== undefined && !isNarrow(expression) ? rootPath(vital, directory) : '.';
}

const NARROWING =
  /^-i?(?:name|path|wholename|regex|lname)$|^-(?:newer\w*|inum|samefile|user|group|nouser|nogroup|mtime|mmin|ctime|cmin|atime|amin|empty|size|xtype|perm)$/;

function isNarrow(expression: readonly Field[]): boolean {
  return expression.some(
    (word, index) =>
      NARROWING.test(word.shown) && !/^['"]?\*+['"]?$/.test(expression[index + 1]?.shown ?? ''),
  );
}

function judgeAction(
  call: Invocation,
  starts: readonly Field[],
  expression: readonly Field[],
  word: Field,
  index: number,
): void {
  const { shown } = word;
  if (shown === '-delete') judgeDelete(call, starts, expression);
  else if (/^-(?:exec|ok)(?:dir)?$/.test(shown)) judgeExec(call, starts, expression, index);
  else if (/^-f(?:printf?0?|ls)$/.test(shown)) {
    const file = expression[index + 1];
    if (file === undefined) return;
    writeEffect(call.findings, file, call.scope);
    if (judgeTarget(file, call.scope.directory).kind === 'vital')
      call.findings.block(`find would overwrite ${file.shown}.`);
  }
}

function judgeDelete(call: Invocation, starts: readonly Field[], expression: readonly Field[]): void {
  for (const start of starts) {
    deleteEffect(call.findings, start, call.scope);
    const judgement = judgeTree(start, call.scope.directory);
    if (judgement === 'ordinary') continue;
    if (judgement === 'vital' && !isNarrow(expression))
      call.findings.block(`find would remove all that is below ${start.shown}.`);
    else call.findings.ask(`find removes files below ${start.shown}.`);
  }
}

/** The command of `-exec`, with `{}` standing for each start and for whatever is below it. */
function judgeExec(
  call: Invocation,
  starts: readonly Field[],
  expression: readonly Field[],
  index: number,
): void {
  const end = expression.findIndex(
    (word, at) =>
      at > index && (word.shown === ';' || (word.shown === '+' && expression[at - 1]?.shown === '{}')),
  );
  const command = expression.slice(index + 1, end === -1 ? undefined : end);
  if (command.length === 0) return;
  const scope = call.scope.copy();
  if (command.some((word) => exactText(word) === undefined))
    call.findings.ask('A command of find is computed.');
  const hasPlace = command.some(({ shown }) => shown.includes('{}'));
  const isWide =
    !isNarrow(expression) && starts.some((start) => judgeTree(start, call.scope.directory) === 'vital');
  // The start itself comes first; a narrowed search only asks, by what cannot be told.
  const stands = hasPlace && isWide ? starts : [literalField('./{}')];
  for (const start of stands)
    runRest(
      call,
      command.map((word) => fillPlace(word, start)),
      scope,
      INHERITED,
    );
  if (isWide && isRemoval(command))
    call.findings.block(`find would remove what is below ${starts.map(({ shown }) => shown).join(' ')}.`);
  const far = starts.some((start) => judgeTree(start, call.scope.directory) !== 'ordinary');
  if (far && !isWide && isRemoval(command))
    call.findings.ask(`find removes files below ${starts.map(({ shown }) => shown).join(' ')}.`);
}

function isRemoval(command: readonly Field[]): boolean {
  return command.some(({ shown }) => /(?:^|\/)(?:rm|unlink|shred|srm|rmdir|truncate)$/.test(shown));
}

/** `{}` within a word is replaced by text; code that it becomes part of is not known any more. */
export function fillPlace(word: Field, start: Field): Field {
  if (!word.shown.includes('{}')) return word;
  if (word.shown === '{}') return start;
  const parts = word.shown.split('{}');
  const pieces = parts.flatMap((text, index) => [
    ...(index === 0 ? [] : [UNKNOWN_TEXT]),
    { kind: 'text', text, assumed: false } as const,
  ]);
  return { pieces, shown: word.shown, literal: false };
}
