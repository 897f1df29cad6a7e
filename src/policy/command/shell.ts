import type { Field } from './field.js';
import type { Findings } from './findings.js';
import type { Script } from './parse-shell.js';
import type { Scope } from './scope.js';
import type { Stream } from './stream.js';

/** Who reads a text: bash, or a `sh` that knows less. */
export type Dialect = 'bash' | 'sh';

/** What judges of single commands may ask of the whole analysis. Each answer is what would be printed. */
export interface Shell {
  readonly findings: Findings;
  readonly dialect: Dialect;
  runScript(script: Script, scope: Scope, input: Stream): Stream;
  /** Text that a shell will read as code. What is not known of it is asked about. */
  runText(text: string, scope: Scope, input: Stream): Stream;
  /** A command given as words, as `sudo` and `xargs` start one: no expansion, no keywords. */
  runWords(words: readonly Field[], scope: Scope, input: Stream): Stream;
  /** Counts work; throws when it has become too much. */
  step(): void;
}

/** A command that is about to be judged: its words are expanded, its redirections done. */
export interface Invocation {
  readonly shell: Shell;
  readonly findings: Findings;
  readonly scope: Scope;
  /** What stands on its standard input. */
  readonly input: Stream;
  /** The last part of its path. */
  readonly name: string;
  /** What comes after the name. */
  readonly words: readonly Field[];
}

/** Says what is dangerous or unclear about a command, and gives what it would print. */
export type Judge = (call: Invocation) => Stream;

export type Judges = Readonly<Record<string, Judge>>;
