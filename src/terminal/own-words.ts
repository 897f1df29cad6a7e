import { toWords, widthOf } from './visible-text.js';

/** A continued list of keys is indented below its first key. */
const HANG = 5;
/** In a narrower window, text is not readable. */
export const LEAST_COLUMNS = 20;

/**
 * Wraps our own text. If a line of several keys does not fit, each key gets its own line.
 * @param behind columns to keep free after the last line
 */
export function ownWords(text: string, columns: number, behind = 0): string {
  const room = Math.max(columns, LEAST_COLUMNS) - behind - 1;
  return text
    .split('\n')
    .flatMap((line) => (widthOf(line) <= room ? [line] : toKeys(line).flatMap((key) => fold(key, room))))
    .join('\n');
}

function toKeys(line: string): readonly string[] {
  return line.startsWith('  ')
    ? line
        .trim()
        .split(/ {4,}/)
        .map((key) => `  ${key}`)
    : [line];
}

function fold(line: string, room: number): readonly string[] {
  const hang = line.startsWith('  ') ? HANG : 0;
  // A key and its meaning stay on one line.
  const whole = line.replaceAll(/(?<=[?·] )[^·]+(?= ·|$)/g, (key) => key.replaceAll(' ', '\u00a0'));
  return toWords(whole, room - hang).map((piece, at) => {
    const words = piece.replaceAll('\u00a0', ' ').trimEnd();
    return at === 0 ? words : `${' '.repeat(hang)}${words.trimStart()}`;
  });
}
