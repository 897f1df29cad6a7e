import { KIND } from './character-kind.js';

/** The index of the first character from `from` on that is not plainly shown, or the length. */
export function findSpecial(text: string, from: number, kinds: Uint8Array): number {
  const length = text.length;
  for (let at = from; at < length; at++) {
    const kind = kinds[text.charCodeAt(at)];
    if (kind === KIND.text) continue;
    if (kind !== KIND.pair || !isLowSurrogate(text.charCodeAt(at + 1))) return at;
    at++;
  }
  return length;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
