import type { Call } from '../words/call.js';
import { type Field, joinStreams, NOTHING, NUMBER, type Stream, UNKNOWN } from '../words/field.js';
import { type OptionSpec, Options } from '../words/options.js';

/** A program that the analysis knows: a tool for files, a part of the shell, or one that changes the machine. */
export interface Program extends OptionSpec {
  /** The effect on the files that its operands name. */
  readonly operands?: Use;
  /** If absent: its output is not known. */
  readonly prints?: 'nothing' | 'number' | 'input';
  /** With these words, one per line and up to `--`, it only shows something. */
  readonly harmless?: RegExp;
  /** With these words it destroys something, or is `ask`; `%` in the reason is the matched text. */
  readonly verdicts?: readonly Verdict[];
  /** It may touch more than its words show. */
  readonly isUntold?: true;
  /** Its settings, scripts or files lie in the directory in which it runs. */
  readonly goesByDirectory?: true;
  /** Effects that the words alone do not show. The return value, if any, is the output. */
  readonly evaluate?: (call: Call, options: Options) => Stream | undefined | void;
}

export type Verdict = readonly [verdict: 'block' | 'ask', words: RegExp, reason: string];

/** By the names of programs, separated by spaces. */
export type Programs = Readonly<Record<string, Program>>;

const USES = {
  /** A number or a single sign is the value of an option. */
  read(call: Call, word: Field) {
    if (!/^(?:-|[+\d][\d,-]*\w?|[^\w./~*?])$/.test(word.shown)) call.touches('read', word);
  },
  write: (call: Call, word: Field) => call.touches('write', word),
  overwrite: (call: Call, word: Field) => call.overwrite(word, UNKNOWN),
  delete(call: Call, word: Field) {
    call.touches('delete', word);
    call.removeFile(word);
  },
  /** A directory that is removed with everything below it. */
  remove(call: Call, word: Field) {
    call.removeTree(word);
    USES.delete(call, word);
  },
  /** The name of a variable that gets an unknown value. */
  name: (call: Call, word: Field) => call.setName(word),
};

type Use = keyof typeof USES;

/** Evaluates one command of a known program. */
export function evaluateProgram(call: Call, program: Program): Stream {
  const { harmless, verdicts, operands } = program;
  if (harmless?.test(beforeMark(call)) === true) return UNKNOWN;
  if (verdicts !== undefined) checkWords(call, verdicts);
  const options = new Options(call.words, program);
  if (program.isUntold) call.findings.untold();
  if (operands !== undefined) for (const operand of options.operands) USES[operands](call, operand);
  return program.evaluate?.(call, options) ?? printed(call, program, options);
}

/** After `--` a word is an operand, even if it looks like an option. */
function beforeMark({ words }: Call): string {
  const texts = words.map(({ shown }) => shown);
  const end = texts.indexOf('--');
  return (end === -1 ? texts : texts.slice(0, end)).join('\n');
}

function checkWords(call: Call, verdicts: readonly Verdict[]): void {
  const { name, shown } = call;
  if (call.words.some((word) => word.isComputed)) call.ask(`The words of ${name} are computed.`);
  for (const [verdict, pattern, reason] of verdicts) {
    const match = pattern.exec(shown);
    if (match !== null) call[verdict](`${name} ${reason.replace('%', () => match[0])}.`);
  }
}

function printed(call: Call, { prints, operands }: Program, options: Options): Stream {
  if (prints === 'nothing') return NOTHING;
  if (prints === 'number') return NUMBER;
  if (prints !== 'input') return UNKNOWN;
  const { input, name, words } = call;
  const read = operands === 'read' ? options.operands : [];
  // Part of the input, or changed: it has the same origin, but is no longer known.
  if (read.length > 0) return read.map(({ source = UNKNOWN }) => source).reduce(joinStreams);
  const isWhole = name === 'cat' && words.length === 0;
  return input.kind !== 'text' || input.text === '' || isWhole ? input : UNKNOWN;
}

/** A program that the analysis does not know may touch more than its words show, and run a command among them. */
export function evaluateUnknown(call: Call): Stream {
  call.findings.untold();
  asksAboutCommands(call, call.words);
  const written = [...call.scope.files.keys()].find((path) => BUILD_FILE.test(path));
  if (written !== undefined) call.ask(`${call.name} may run ${written}, which was written here.`);
  return UNKNOWN;
}

/** Files that determine what build programs run. */
const BUILD_FILE = /(?:^|\/)(?:package\.json|(?:GNU)?[Mm]akefile|\w+\.mk)$/;

/**
 * Asks about words that look like a command that would not be allowed: starting at any word, or as the text of the
 * value of an option or a variable. Other texts are names and messages.
 */
export function asksAboutCommands(call: Call, words: readonly Field[], isText?: true): void {
  const { name, scope, shell, input } = call;
  const found = words.find(
    (word, at) =>
      shell.mayBeCommand(words.slice(at), scope, input) ||
      ((isText || /^-|^\w+=/.test(word.shown) || /^--?\w/.test(words[at - 1]?.shown ?? '')) &&
        shell.mayBeCode(word, scope, input)),
  );
  if (found !== undefined) call.ask(`${name} may run a command among its words: ${found.shown}`);
}

/** A program that packs or copies the paths among its words: `ask` for a place that must not be lost. */
export function evaluateCopier(call: Call, { operands }: Options): Stream {
  const vital = call.words.find((word) => call.isVitalPlace(word));
  if (vital !== undefined) call.ask(`${call.name} is given ${vital.shown}.`);
  for (const file of operands) call.touches('read', file);
  return evaluateUnknown(call);
}
