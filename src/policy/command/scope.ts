import type { FunctionNode } from './parse-shell.js';
import type { Stream } from './stream.js';

/** What a variable holds, as far as it can be told. */
export type Value =
  /** `pattern`: names of files that match it, and so a pattern in quotes too. */
  | { readonly kind: 'text'; readonly text: string; readonly assumed: boolean; readonly pattern?: true }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'unknown'; readonly numeric: boolean; readonly from?: Stream };

export const UNKNOWN_VALUE: Value = { kind: 'unknown', numeric: false };
export const UNKNOWN_NUMBER: Value = { kind: 'unknown', numeric: true };

/** Stands for the person's home directory, whatever it is called. */
export const HOME = '/home/~';

/** What a usual environment holds: enough to see through `${HOME%%/*}`, `${PATH:0:1}`, `$SHELL -c` and `rm${IFS}-r`. */
const USUAL: Readonly<Record<string, string>> = {
  HOME,
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  SHELL: '/bin/bash',
  BASH: '/bin/bash',
  PWD: '/home/~/work',
  OLDPWD: '/home/~/work',
  TMPDIR: '/tmp',
  IFS: ' \t\n',
  ROOT: '/',
};

/** The state of a shell: variables, functions, working directory. A subshell gets a copy. */
export class Scope {
  readonly variables: Map<string, Value>;
  readonly functions: Map<string, FunctionNode>;
  /** What was written into files on the way; one for all copies, as there is one file system. */
  readonly files: Map<string, Stream>;
  /** Absolute, or relative to where the command starts (`.`, `./a`, `../b`); undefined: not known any more. */
  directory: string | undefined;
  /** `$1`, `$2`, …; undefined: not known. */
  positional: readonly string[] | undefined;
  /** Functions that are being walked through: recursion ends there. */
  readonly calls: ReadonlySet<string>;
  /** Variables that evaluate what they are given (`declare -i`). */
  readonly integers: Set<string>;
  /** Variables that cannot be set again (`readonly`): whether a later assignment held cannot be told. */
  readonly fixed: Set<string>;
  /** Where the last `cd` came from, until it is certain that it went well. */
  cameFrom: string | undefined;
  /** Where the command may be as well, as `cd` stood behind `&&` or `||`. */
  elsewhere: readonly string[];

  constructor(
    from?: Partial<
      Pick<
        Scope,
        | 'variables'
        | 'functions'
        | 'directory'
        | 'positional'
        | 'calls'
        | 'integers'
        | 'files'
        | 'fixed'
        | 'cameFrom'
        | 'elsewhere'
      >
    >,
  ) {
    this.variables = new Map(from?.variables);
    this.functions = new Map(from?.functions);
    this.files = from?.files ?? new Map();
    this.directory = from !== undefined && 'directory' in from ? from.directory : '.';
    this.positional = from !== undefined && 'positional' in from ? from.positional : [];
    this.calls = from?.calls ?? new Set();
    this.integers = new Set(from?.integers);
    this.fixed = from?.fixed ?? new Set();
    this.cameFrom = from?.cameFrom;
    this.elsewhere = from?.elsewhere ?? [];
  }

  copy(): Scope {
    return new Scope(this);
  }

  /** A copy, while these functions are being walked through. */
  withCalls(calls: ReadonlySet<string>): Scope {
    return new Scope({ ...this, calls });
  }

  get(name: string): Value | undefined {
    const assigned = this.variables.get(name);
    if (assigned !== undefined) return assigned;
    if (name === 'PWD' && this.directory?.startsWith('/')) {
      return { kind: 'text', text: this.directory, assumed: false };
    }
    const usual = Object.hasOwn(USUAL, name) ? USUAL[name] : undefined;
    return usual === undefined ? undefined : { kind: 'text', text: usual, assumed: true };
  }

  set(name: string, value: Value): void {
    this.variables.set(name, this.fixed.has(name) ? UNKNOWN_VALUE : value);
  }

  /** After branches of which one ran: what they disagree on is not known. */
  mergeFrom(branches: readonly Scope[]): void {
    const names = new Set(branches.flatMap((branch) => [...branch.variables.keys()]));
    for (const name of names) {
      const values = branches.map((branch) => branch.variables.get(name));
      const [first] = values;
      const agree = first !== undefined && values.every((value) => isSame(value, first));
      this.variables.set(name, agree ? first : UNKNOWN_VALUE);
    }
    for (const branch of branches) {
      for (const [name, body] of branch.functions) this.functions.set(name, body);
      for (const name of branch.integers) this.integers.add(name);
    }
    const [first] = branches;
    if (first === undefined) return;
    this.#mergeDirectories(branches);
    const samePositional = branches.every(({ positional }) => isSameList(positional, first.positional));
    this.positional = samePositional ? first.positional : undefined;
  }

  /** Below where the command starts, the last one counts and effects are told of all; further away, none is known. */
  #mergeDirectories(branches: readonly Scope[]): void {
    const directories = new Set(branches.flatMap(({ directory, elsewhere }) => [...elsewhere, directory]));
    const last = branches.at(-1)?.directory;
    const isNear = (one: string | undefined): one is string =>
      one !== undefined && !one.startsWith('/') && !one.startsWith('..');
    this.cameFrom = undefined;
    this.directory = directories.size === 1 || [...directories].every(isNear) ? last : undefined;
    this.elsewhere =
      this.directory === undefined ? [] : [...directories].filter(isNear).filter((one) => one !== last);
  }
}

function isSameList(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

export function isSame(value: Value | undefined, other: Value): boolean {
  if (value === undefined || value.kind !== other.kind) return false;
  if (value.kind === 'text') return other.kind === 'text' && value.text === other.text;
  return value === other || value.kind === 'unknown';
}
