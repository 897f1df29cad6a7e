import { exactText, type Field, literalField, textPiece, UNKNOWN_TEXT } from '../field.js';
import type { Invocation, Judge, Judges } from '../shell.js';
import { INHERITED, type Stream, UNKNOWN } from '../stream.js';
import { isVitalText } from './removal.js';
import { runCodeWord, runRest } from './run-payload.js';

/** `xargs COMMAND`: with what comes in behind its words, or in place of `{}`. */
const judgeXargs: Judge = (call) => {
  const { words, findings } = call;
  let at = 0;
  let place: string | undefined;
  for (; at < words.length; at++) {
    const word = words[at];
    const text = word === undefined ? undefined : exactText(word);
    if (text === undefined) findings.ask('The options of xargs are computed.');
    if (text === undefined || !text.startsWith('-') || text === '-') break;
    const replace = /^(?:-[0rtpxo]*I(.*)|-[0rtpxo]*i(.*)|--replace(?:=(.*))?|-J(.*))$/.exec(text);
    if (replace !== null) {
      const isNext = /^-[0rtpxo]*[IJ]$/.test(text);
      place = isNext
        ? (words[at + 1]?.shown ?? '{}')
        : (replace.slice(1).find((one) => one !== undefined && one !== '') ?? '{}');
      if (isNext) at++;
    } else if (/^(?:-[0rtpxo]*[nPLsdEaRS]|--(?:max-\w+|delimiter|eof|arg-file))$/.test(text)) at++;
  }
  const command = words.slice(at);
  if (command.length === 0) return call.input;
  const scope = call.scope.copy();
  const fed = place === undefined ? [...command, ...arrivals(call)] : replaced(command, place, call.input);
  if (isRemovalOfAll(call, command))
    findings.block(`${command[0]?.shown} would remove what ${listingRoot(call.input)} holds.`);
  return runRest(call, fed, scope, INHERITED);
};

function isRemovalOfAll({ input }: Invocation, command: readonly Field[]): boolean {
  return (
    input.kind === 'listing' &&
    isVitalText(input.root) &&
    /(?:^|\/)(?:rm|shred|unlink)$/.test(command[0]?.shown ?? '')
  );
}

function listingRoot(input: Stream): string {
  return input.kind === 'listing' ? input.root : '';
}

/** The words that come in: known ones as they are, others as what is not known. */
function arrivals({ input }: Invocation): readonly Field[] {
  if (input.kind === 'listing' && !isVitalText(input.root)) return [below(input.root)];
  if (input.kind !== 'text')
    return [{ pieces: [{ ...UNKNOWN_TEXT, splits: true, from: input }], shown: '…', literal: false }];
  return input.text
    .split(/[\s\0]+/)
    .filter((text) => text !== '')
    .slice(0, 64)
    .map((text) => ({ ...literalField(text.replaceAll(/["'\\]/g, '')), literal: false }));
}

/** Something below a directory: whatever its name. */
function below(root: string): Field {
  return { pieces: [textPiece(`${root}/x`), UNKNOWN_TEXT], shown: `${root}/…`, literal: false };
}

function replaced(command: readonly Field[], place: string, input: Stream): readonly Field[] {
  const line = input.kind === 'text' ? input.text.split('\n')[0] : undefined;
  return command.map((word) => {
    if (place === '' || !word.shown.includes(place)) return word;
    const parts = word.shown.split(place);
    const pieces = parts.flatMap((text, index) => [
      ...(index === 0 ? [] : [line === undefined ? UNKNOWN_TEXT : textPiece(line)]),
      textPiece(text),
    ]);
    return {
      pieces: pieces.filter((piece) => piece.kind !== 'text' || piece.text !== ''),
      shown: word.shown,
      literal: false,
    };
  });
}

/** `parallel`: its words joined are code, with what comes in put in. */
const judgeParallel: Judge = (call) => {
  const { words, findings } = call;
  const separator = words.findIndex(({ shown }) => /^:{3,4}\+?$/.test(shown));
  const head = separator === -1 ? words : words.slice(0, separator);
  const at = head.findIndex(
    (word, index) =>
      !word.shown.startsWith('-') && !/^-(?:j|S|N|n|I|a|C|-jobs|-colsep)$/.test(head[index - 1]?.shown ?? ''),
  );
  findings.ask('parallel puts what comes in into code.');
  const items = separator === -1 ? [] : words.slice(separator + 1);
  const command = at === -1 ? [] : head.slice(at);
  if (command.length === 0) {
    for (const item of items) runCodeWord(call, item, call.scope.copy());
    return UNKNOWN;
  }
  const text = command.map(({ shown }) => shown).join(' ');
  for (const item of items.length === 0 ? [literalField('')] : items.slice(0, 16)) {
    const filled = text.includes('{}') ? text.replaceAll('{}', () => item.shown) : `${text} ${item.shown}`;
    call.shell.runText(filled, call.scope.copy(), INHERITED);
  }
  return UNKNOWN;
};

export const XARGS_JUDGES: Judges = { xargs: judgeXargs, gxargs: judgeXargs, parallel: judgeParallel };
