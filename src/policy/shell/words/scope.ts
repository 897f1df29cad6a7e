import type { FunctionNode } from '../parse/parse-shell.js';
import { COMPUTED, Field, NUMBER, type Stream, textValue, UNKNOWN, type Value } from './field.js';
import { isRisky, pathText } from './place.js';

/** The person's home directory, whatever it is called. */
export const HOME = '/home/~';

/** What a usual environment holds: enough to see through `${HOME%%/*}`, `$SHELL -c` and `rm${IFS}-r`. */
const USUAL: ReadonlyMap<string, string> = new Map([
  ['HOME', HOME],
  ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  ['SHELL', '/bin/bash'],
  ['PWD', '/home/~/work'],
  ['TMPDIR', '/tmp'],
  ['IFS', ' \t\n'],
]);

/** The state of a shell: variables, functions, working directory. A subshell gets a copy. */
export class Scope {
  variables = new Map<string, Value>();
  functions = new Map<string, FunctionNode>();
  /** What was last written into files on the way; one for all copies, as there is one file system. */
  files = new Map<string, Stream>();
  /** Absolute, or relative to where the command starts (`.`, `./a`, `../b`); undefined: not known any more. */
  directory: string | undefined = '.';
  /** `$1`, `$2`, … of a function or script whose words are known. */
  positional: readonly string[] | undefined = [];
  /** Functions that are being walked through, and in how many subshells they were called: recursion ends there. */
  calls: ReadonlyMap<FunctionNode, number> = new Map();
  /** In how many subshells this is. */
  forks = 0;
  /** Variables that cannot be set again (`readonly`): whether a later assignment held cannot be told. */
  fixed = new Set<string>();
  /** Where the command may be as well, as `cd` stood behind `&&` or `||`. */
  elsewhere: readonly string[] = [];

  copy(changes: Partial<Scope> = {}): Scope {
    const maps = { variables: new Map(this.variables), functions: new Map(this.functions) };
    return Object.assign(new Scope(), this, maps, changes);
  }

  /** Another process of the same shell. */
  fork(): Scope {
    return this.copy({ forks: this.forks + 1 });
  }

  get(name: string): Value | undefined {
    const assigned = this.variables.get(name);
    if (assigned !== undefined) return assigned;
    if (name === 'PWD' && this.directory?.startsWith('/')) return textValue(this.directory);
    const usual = USUAL.get(name);
    return usual === undefined ? undefined : textValue(usual, true);
  }

  set(name: string, value: Value): void {
    this.variables.set(name, this.fixed.has(name) ? COMPUTED : value);
  }

  noteWritten(file: Field, content: Stream): void {
    this.files.set(pathText(file, this.directory), content);
  }

  writtenTo(file: Field): Stream | undefined {
    return this.files.size === 0 ? undefined : this.files.get(pathText(file, this.directory));
  }

  /** After branches of which one ran: what they disagree on is not known. */
  mergeFrom(branches: readonly Scope[]): void {
    const [first] = branches;
    if (first === undefined) return;
    for (const name of new Set(branches.flatMap(({ variables }) => [...variables.keys()])))
      this.variables.set(name, merge(branches.map(({ variables }) => variables.get(name))));
    for (const { functions } of branches)
      for (const [name, body] of functions) this.functions.set(name, body);
    const lists = new Set(branches.map(({ positional }) => positional?.join('\0')));
    this.positional = lists.size === 1 ? first.positional : undefined;
    // Below where the command starts, the last one counts and effects are told of all; further away, none is known.
    const places = [...new Set(branches.flatMap(({ directory, elsewhere }) => [...elsewhere, directory]))];
    const near = places.filter((one): one is string => one !== undefined && !/^(?:\/|\.\.)/.test(one));
    const last = branches.at(-1)?.directory;
    this.directory = places.length === 1 || near.length === places.length ? last : undefined;
    this.elsewhere = this.directory === undefined ? [] : near.filter((one) => one !== last);
  }
}

/** What a variable holds that has one of these values. What counts stays a number. */
function merge([first, ...more]: readonly (Value | undefined)[]): Value {
  const all = [first, ...more];
  if (first !== undefined && more.every((one) => isSame(one, first))) return first;
  const isNumber = (one: Value | undefined): boolean =>
    one?.kind === 'text' ? /^-?\d+$/.test(one.text) : one?.numeric === true;
  if (all.every(isNumber)) return NUMBER;
  const isComputed = (one: Value | undefined): boolean =>
    one?.kind === 'text' ? isRisky(Field.of(one.text), undefined) : one?.computed === true && !one.numeric;
  return all.some(isComputed) ? COMPUTED : UNKNOWN;
}

export function isSame(value: Value | undefined, other: Value): boolean {
  if (value?.kind === 'text') return other.kind === 'text' && value.text === other.text;
  if (value?.kind !== 'unknown' || other.kind !== 'unknown') return false;
  // A number, or a new directory, on one way alone is neither.
  const isDirectory = (one: Value): boolean => one.kind === 'unknown' && one.from?.kind === 'directory';
  return value.numeric === other.numeric && isDirectory(value) === isDirectory(other);
}

/**
 * Whether a value can be evaluated without running anything. Arithmetic reads a variable's value as an expression once
 * more, and what stands in an index (`a[$(…)]`) is run then.
 */
export function isSafeNumber(value: Value, scope: Scope, depth = 0): boolean {
  if (value.kind === 'unknown') return value.numeric;
  const names = value.text.match(/[A-Za-z_]\w*/g) ?? [];
  if (/[[$`]/.test(value.text) || depth > MAX_DEPTH || names.length > MAX_NAMES) return false;
  // A name that is not set here comes from the environment, or is nothing.
  return names.every((name) => isSafeNumber(scope.get(name) ?? NUMBER, scope, depth + 1));
}

const MAX_DEPTH = 4;
const MAX_NAMES = 64;
