import { ToolError } from '../errors/tool-error.js';
import { type KeyNode, scanKeys } from './scan-keys.js';

/** One fault in a source. */
export interface ConfigProblem {
  /** The kind of `source`: `the configuration`. */
  readonly noun: string;
  /** `toolexec.toml`, `TOOLEXEC_TOOLS_MODE`. */
  readonly source: string;
  readonly place?: TextPlace;
  /** Built only for problems that are reported. */
  readonly message: () => string;
}

/** More problems than a person reads; a file of a megabyte can have a hundred thousand. */
const MAX_TOLD = 50;

/** The first problem in one line, with the number of others; `details.problems` lists up to fifty. */
export function configInvalid(problems: readonly ConfigProblem[]): ToolError {
  const told = problems.slice(0, MAX_TOLD).map((problem) => `${sourceOf(problem)}: ${problem.message()}`);
  const more = problems.length - 1;
  const rest = more > 0 ? ` And ${more} more ${more === 1 ? 'problem' : 'problems'}.` : '';
  const noun = problems[0]?.noun ?? 'the configuration';
  return new ToolError('config_invalid', `Cannot use ${noun} ${told[0] ?? ''}${rest}`, {
    details: { problems: told, count: problems.length },
  });
}

function sourceOf({ source, place }: ConfigProblem): string {
  return place === undefined ? source : `${source}:${place.line}:${place.column}`;
}

export type KeyPath = readonly (string | number)[];

/** Counted from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** Finds the positions of keys in a TOML document; a path beyond the text ends at its last existing part. */
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
