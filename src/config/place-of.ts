import { type KeyNode, scanKeys } from './scan-keys.js';

export type KeyPath = readonly (string | number)[];

/** From 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Tells where keys of a TOML document stand; a path that leads further than the text does ends at its last part. */
export function createPlaceFinder(text: string): (path: KeyPath) => TextPlace {
  let root: KeyNode | undefined;
  let lineStarts: readonly number[] | undefined;
  return (path) => {
    root ??= scanKeys(text);
    lineStarts ??= findLineStarts(text);
    return toPlace(offsetOf(root, path), lineStarts);
  };
}

function offsetOf(root: KeyNode, path: KeyPath): number {
  let at = root;
  for (const step of path) {
    const next = typeof step === 'number' ? at.elements[step] : at.keys.get(step);
    if (next === undefined) break;
    at = next;
  }
  return at.offset;
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) starts.push(end + 1);
  return starts;
}

function toPlace(offset: number, lineStarts: readonly number[]): TextPlace {
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}
