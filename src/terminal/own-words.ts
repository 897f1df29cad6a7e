import { toWords, widthOf } from './visible-text.js';

/** A line of keys goes on below its first key. */
const HANG = 5;
const LEAST_COLUMNS = 20;

/**
 * Text of ours, in lines that fit: where a line of several keys does not, each key has a line of its own.
 * @param behind columns of the last line that are needed behind it
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
  // A key and what it does stay together.
  const whole = line.replaceAll(/(?<=[?·] )[^·]+(?= ·|$)/g, (key) => key.replaceAll(' ', '\u00a0'));
  return toWords(whole, room - hang).map((piece, at) => {
    const words = piece.replaceAll('\u00a0', ' ').trimEnd();
    return at === 0 ? words : `${' '.repeat(hang)}${words.trimStart()}`;
  });
}
