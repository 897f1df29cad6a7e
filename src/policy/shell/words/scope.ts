import type { FunctionNode } from '../parse/parse-shell.js';
import { type Field, NUMBER, type Stream, textValue, UNKNOWN, type Value } from './field.js';
import { HERE, pathText } from './place.js';

/** The person's home directory, whatever its name is. */
export const HOME = '/home/~';

/** Values of a usual environment: enough to understand `$HOME/*`, `$SHELL -c` and `rm${IFS}-r`. */
const USUAL: ReadonlyMap<string, string> = new Map([
  ['HOME', HOME],
  ['PATH', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
  ['SHELL', '/bin/bash'],
  ['TMPDIR', '/tmp'],
  ['IFS', ' \t\n'],
]);

/** The state of a shell: variables, functions, working directory. A subshell gets a copy. */
export class Scope {
  constructor(
    /**
     * Absolute, or relative to where the command starts (`.`, `./a`, `../b`); undefined if no longer known.
     */
    public directory: string | undefined = '.',
    readonly variables = new Map<string, Value>(),
    readonly functions = new Map<string, FunctionNode>(),
    /** The last written content of files; shared by all copies, because there is one file system. */
    readonly files = new Map<string, Stream>(),
  ) {}

  copy(files = this.files): Scope {
    return new Scope(this.directory, new Map(this.variables), new Map(this.functions), files);
  }

  get(name: string): Value | undefined {
    const assigned = this.variables.get(name);
    if (assigned !== undefined) return assigned;
    if (name === 'PWD') return this.#here;
    const usual = USUAL.get(name);
    return usual === undefined ? undefined : textValue(usual, true);
  }

  /** The value of `$PWD`. */
  get #here(): Value {
    const { directory } = this;
    if (directory === undefined) return UNKNOWN;
    if (directory.startsWith('/')) return textValue(directory);
    return textValue(directory === '.' ? HERE : `${HERE}/${directory}`, true);
  }

  /** `$1`, `$2`, … as far as they are known; further ones are not known to be empty. */
  setArguments(words: readonly Field[]): void {
    for (const name of this.variables.keys()) if (/^\d+$/.test(name)) this.variables.delete(name);
    const known = words.findIndex(({ exact }) => exact === undefined);
    for (const [at, { value }] of words.slice(0, known === -1 ? undefined : known).entries())
      this.variables.set(String(at + 1), value);
  }

  noteWritten(file: Field, content: Stream): void {
    this.files.set(pathText(file, this.directory), content);
  }

  writtenTo(file: Field): Stream | undefined {
    return this.files.size === 0 ? undefined : this.files.get(pathText(file, this.directory));
  }

  /** After several branches, one of which ran: values that differ are not known. */
  mergeFrom(branches: readonly Scope[]): void {
    const names = new Set(branches.flatMap(({ variables }) => [...variables.keys()]));
    for (const name of names)
      this.variables.set(name, merge(branches.map(({ variables }) => variables.get(name))));
    for (const { functions } of branches)
      for (const [name, body] of functions) this.functions.set(name, body);
    const places = new Set(branches.map(({ directory }) => directory));
    this.directory = places.size === 1 ? branches[0]?.directory : undefined;
  }
}

/** The value of a variable that has one of these values. A number stays a number. */
function merge([first, ...more]: readonly (Value | undefined)[]): Value {
  if (first !== undefined && more.every((one) => isSame(one, first))) return first;
  return [first, ...more].every((one) => one !== undefined && isNumber(one)) ? NUMBER : UNKNOWN;
}

export function isSame(value: Value | undefined, other: Value): boolean {
  if (value?.kind === 'text') return other.kind === 'text' && value.text === other.text;
  return value === other;
}

function isNumber(value: Value): boolean {
  return value.kind === 'text' ? /^-?\d*$/.test(value.text) : value.numeric;
}

/**
 * Whether evaluating a value runs nothing. Arithmetic evaluates a variable's value as an expression again,
 * and then `$(…)` in an index (`a[$(…)]`) runs.
 */
export function isSafeNumber(value: Value, scope: Scope): boolean {
  if (value.kind === 'unknown') return value.numeric;
  // A name that is not set here comes from the environment, or is empty.
  const names = value.text.match(/[A-Za-z_]\w*/g) ?? [];
  return !/[[$`]/.test(value.text) && names.every((name) => isNumber(scope.get(name) ?? NUMBER));
}
