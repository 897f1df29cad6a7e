import { type Field, literalField } from '../field.js';
import { readOptions } from '../read-options.js';
import type { Judge } from '../shell.js';
import { judgeFind } from './find.js';

/** `fd PATTERN START… -x COMMAND`: what `find START… -name PATTERN -exec COMMAND {} ;` does. */
export const judgeFd: Judge = (call) => {
  const at = call.words.findIndex(({ shown }) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(shown));
  const options = readOptions(at === -1 ? call.words : call.words.slice(0, at), {
    short: 'dtTeEScjog',
    long: ['type', 'extension', 'exclude', 'size', 'max-depth', 'min-depth', 'owner', 'changed-within'],
  });
  const [pattern, ...starts] = options.operands;
  const isNarrow =
    options.has('e', 'extension', 'S', 'size', 'o', 'owner', 'changed-within', 'changed-before') ||
    (pattern !== undefined && !/^\^?\.?[*+]?\$?$/.test(pattern.shown));
  const command = at === -1 ? [] : call.words.slice(at + 1);
  return judgeFind({
    ...call,
    words: [
      ...starts,
      ...(isNarrow ? [literalField('-name'), pattern ?? literalField('x')] : []),
      ...(command.length === 0 ? [] : toAction(command)),
    ],
  });
};

/** What is found stands at the end, unless `{}` says where. */
function toAction(command: readonly Field[]): readonly Field[] {
  const isPlaced = command.some(({ shown }) => /\{[./]*\}/.test(shown));
  return [literalField('-exec'), ...command, ...(isPlaced ? [] : [literalField('{}')]), literalField(';')];
}
