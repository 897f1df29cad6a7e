import type { Script } from '../parse/parse-shell.js';
import { exactText, type Field, INHERITED, knownText, type Stream, sourceOf, UNKNOWN } from './field.js';
import type { Findings } from './findings.js';
import type { Scope } from './scope.js';

/** Which shell reads a text: bash, or a `sh` that knows less. */
export type Dialect = 'bash' | 'sh';

/** What the evaluation of a single program may ask of the whole analysis. Each answer is what would be printed. */
export interface Shell {
  readonly findings: Findings;
  readonly dialect: Dialect;
  runScript(script: Script, scope: Scope, input: Stream): Stream;
  /** Text that a shell will read as code. What is not known of it is asked about. */
  runText(text: string, scope: Scope, input: Stream): Stream;
  /** A command given as words, as `sudo` and `xargs` start one: no expansion, no keywords. */
  runWords(words: readonly Field[], scope: Scope, input: Stream): Stream;
  /** A command that a rule can allow, with what stands before it. */
  record(place: object, words: readonly Field[], scope: Scope, settings?: readonly string[]): void;
  /** Counts work; throws when it has become too much. */
  step(): void;
}

/** A command that is about to be evaluated: its words are expanded, its redirections done. */
export interface Call {
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

/** A word that is read as shell code (`sh -c`, `eval`, `trap`): only what is written out can be told. */
export function runCode(
  call: Call,
  word: Field,
  scope = call.scope.copy(),
  input: Stream = INHERITED,
): Stream {
  const { findings, name, shell } = call;
  const source = sourceOf(word);
  if (source?.kind === 'fetched') blockFetched(call, source.from);
  if (!word.literal) findings.ask(`The code that ${name} runs is computed: ${word.shown}`);
  const text = exactText(word) ?? knownText(word);
  return text.trim() === '' ? UNKNOWN : shell.runText(text, scope, input);
}

/** A word that another program runs on its own: it is always asked about. */
export function runAskedCode(call: Call, word: Field): void {
  call.findings.ask(`${call.name} runs a command: ${word.shown}`);
  runCode(call, word);
}

/** A stream that is read as shell code (`… | sh`, `bash <<EOF`). */
export function runStream(call: Call, stream: Stream, scope = call.scope.copy()): Stream {
  const { findings, name, shell } = call;
  if (stream.kind === 'text') {
    if (!stream.literal) findings.ask(`The code that ${name} reads is computed.`);
    return shell.runText(stream.text, scope, INHERITED);
  }
  if (stream.kind === 'fetched') {
    blockFetched(call, stream.from);
    return UNKNOWN;
  }
  findings.ask(`${name} runs code from its input, and that is not known.`);
  return { kind: 'shell' };
}

export function blockFetched({ findings, name }: Call, from: string): void {
  findings.block(`${name} would run what comes from the network unseen (${from}).`);
}

/** The words behind a wrapper's options, as a command. */
export function runRest(
  call: Call,
  words: readonly Field[],
  scope = call.scope.copy(),
  input = call.input,
  settings: readonly string[] = [],
): Stream {
  const [command] = words;
  if (command === undefined) return UNKNOWN;
  call.shell.record(command, words, scope, settings);
  return call.shell.runWords(words, scope, input);
}

/** A text that is evaluated as arithmetic or as a name: what stands in `$(…)` within an index is run then. */
export function runSubstitutions({ shell, scope }: Pick<Call, 'shell' | 'scope'>, text: string): void {
  if (/\$\(|`/.test(text)) shell.runText(`: "${text.replaceAll('"', '')}"`, scope.copy(), INHERITED);
}
