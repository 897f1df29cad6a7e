import { type Call, runSubstitutions } from '../words/call.js';
import { Field, joinStreams, NOTHING, NUMBER, type Stream, UNKNOWN } from '../words/field.js';
import { isName, type OptionSpec, Options } from '../words/options.js';
import { isSafeNumber } from '../words/scope.js';

/**
 * The effects of a program, as far as its words show them. A program does nothing that its row leaves out.
 */
export interface Program extends OptionSpec {
  /** The meaning of option values, by the names of the options. */
  readonly values?: Readonly<Record<string, Use>>;
  /** The meaning of the operands, in order; the last entry stands for all that follow. */
  readonly operands?: readonly Use[];
  /** Left out: its output is not known. */
  readonly prints?: 'nothing' | 'number' | 'input' | 'fetched';
  /** With these words, one per line, it only shows something. */
  readonly harmless?: RegExp;
  /** With these words it destroys something, or is `ask`; `%` in the reason is the matched text. */
  readonly verdicts?: readonly (readonly [verdict: 'block' | 'ask', words: RegExp, reason: string])[];
  /** An option whose value, attached (first group) or as the next word, is a command that it runs. */
  readonly code?: RegExp;
  /** It connects to the hosts that its operands name, with this scheme; `host`: only the first one. */
  readonly host?: string;
  readonly hosts?: string;
  /** It runs something from the workspace that the command does not show. */
  readonly isUnseen?: RegExp | true;
  /** It may touch more than its words show. */
  readonly isUntold?: RegExp | true;
  /** Its settings, scripts or files lie in the directory in which it runs. */
  readonly goesByDirectory?: true;
  /** Files that determine which code the program runs. If the command itself wrote one, that is `ask`. */
  readonly obeys?: RegExp;
  /** Effects that the words alone do not show. The return value, if any, is the output. */
  readonly evaluate?: (call: Call, options: Options, program: Program) => Stream | undefined | void;
}

/** By the names of programs, separated by spaces. */
export type Programs = Readonly<Record<string, Program>>;

/** A program's use of one of its words. */
const USES = {
  skip: () => {},
  /** A search pattern, not a file. */
  pattern: () => {},
  /** A number or a single sign is the value of an option. */
  read(call: Call, word: Field) {
    if (!/^(?:-|[+\d][\d,-]*\w?|[^\w./~*?])$/.test(word.shown)) call.touches('read', word);
  },
  /** A file with code, which is not analyzed. */
  script(call: Call, word: Field) {
    call.touches('read', word);
    call.runsFile(word);
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
  /** A file that comes from the network. */
  save(call: Call, word: Field) {
    if (word.shown !== '-') call.overwrite(word, { kind: 'fetched', from: call.name });
  },
  /** Shell code, or code that another program runs. */
  code: (call: Call, word: Field) => void call.runCode(word),
  command: (call: Call, word: Field) => call.runAskedCode(word),
  /** A program that packs or connects. */
  packer(call: Call, word: Field) {
    if (!PLAIN_PACKER.test(word.shown)) call.runAskedCode(word);
  },
  /** The name of a variable that gets an unknown value. */
  name: (call: Call, word: Field) => call.setName(word),
  /**
   * A word that is evaluated as arithmetic, and may assign. In shells other than bash `let` is not a builtin.
   */
  evaluated(call: Call, word: Field) {
    if (!isSafeNumber(word.value, call.scope)) {
      call.ask(`${call.name} evaluates ${word.shown}`);
      runSubstitutions(call, word.known);
    }
    const name = /^[A-Za-z_]\w*(?=\W*=|\+\+|--)/.exec(word.known)?.[0];
    if (name !== undefined) call.scope.variables.set(name, call.scope.variables.has(name) ? UNKNOWN : NUMBER);
  },
};

export type Use = keyof typeof USES;

const PLAIN_PACKER =
  /^(?:(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzma|lzip)(?: -[\w=]+)*|(?:ssh|rsync)(?: -[\w=./~ -]*)?)$/;

/** An option of any program whose name says that its value is run. */
const RUNS_VALUE =
  /^--(?:[\w-]+-)?(?:exec|command|cmd|program|prog|pack|shell|eval|path-command)(?:=(.*))?$/s;

/** Evaluates one command by the table row of its program. */
export function evaluateProgram(call: Call, program: Program): Stream {
  const { words, shown, findings } = call;
  if (program.harmless?.test(shown) === true) return UNKNOWN;
  const options = new Options(words, program);
  const { operands } = options;
  evaluateWords(call, program, shown);
  const { isUnseen, isUntold = isUnseen !== undefined } = program;
  if (isUnseen === true || isUnseen?.test(shown) === true) findings.runsUnseen();
  if (isUntold === true || (isUntold !== false && isUntold.test(shown))) findings.untold();
  const { obeys } = program;
  const written = obeys && [...call.scope.files.keys()].find((path) => obeys.test(path));
  if (written !== undefined) call.ask(`${call.name} obeys ${written}, which was written here.`);
  const scheme = program.hosts ?? program.host;
  if (scheme !== undefined)
    for (const one of program.hosts === undefined ? operands.slice(0, 1) : operands)
      call.fetches(one.exact ?? one.shown, scheme);
  const values = options.given.length === 0 ? [] : Object.entries(program.values ?? {});
  const given = options.given.flatMap(({ name, value }): readonly (readonly [Use, Field])[] => {
    const use = values.find(([full]) => isName(name, full))?.[1];
    return use === undefined || value === undefined ? [] : [[use, value]];
  });
  // If an option has the pattern, none of the operands is one.
  const skipped = given.some(([use]) => use === 'pattern' || use === 'script') ? 1 : 0;
  const uses = program.operands ?? [];
  const read: Field[] = [];
  operands.forEach((operand, at) => {
    const use = uses[Math.min(at + skipped, uses.length - 1)] ?? 'skip';
    if (use === 'read') read.push(operand);
    USES[use](call, operand);
  });
  for (const [use, value] of given) USES[use](call, value);
  return program.evaluate?.(call, options, program) ?? printed(call, program, read);
}

function evaluateWords(call: Call, { verdicts, code }: Program, shown: string): void {
  const { name, words } = call;
  if (verdicts !== undefined) {
    if (words.some((word) => word.isComputed)) call.ask(`The words of ${name} are computed.`);
    for (const [verdict, pattern, reason] of verdicts) {
      const match = pattern.exec(shown);
      if (match !== null) call[verdict](`${name} ${reason.replace('%', () => match[0])}.`);
    }
  }
  if (code !== undefined) for (const one of codesBehind(words, code)) call.runAskedCode(one);
  if (shown.includes('--')) for (const one of codesBehind(words, RUNS_VALUE)) call.runAskedCode(one);
}

/** The values of an option among the words: the first group of the pattern, or the next word. */
export function codesBehind(words: readonly Field[], option: RegExp): Field[] {
  return words.flatMap((word, index) => {
    const match = option.exec(word.shown);
    if (match === null) return [];
    const attached = match.slice(1).find((group) => group !== undefined && group !== '');
    return attached === undefined ? (words[index + 1] ?? []) : [Field.of(attached, word.literal)];
  });
}

function printed({ name, input, shown }: Call, { prints }: Program, read: readonly Field[]): Stream {
  if (prints === 'nothing') return NOTHING;
  if (prints === 'number') return NUMBER;
  if (prints === 'fetched') return { kind: 'fetched', from: name };
  if (prints !== 'input') return UNKNOWN;
  // Part of the input, or changed: it has the same origin, but is no longer known.
  if (read.length > 0) return read.map(({ source = UNKNOWN }) => source).reduce(joinStreams);
  return input.kind !== 'text' || input.text === '' || (name === 'cat' && shown === '') ? input : UNKNOWN;
}
