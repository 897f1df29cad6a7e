import { type Call, runSubstitutions } from '../words/call.js';
import { Field, joinStreams, NOTHING, NUMBER, type Stream, UNKNOWN } from '../words/field.js';
import { isName, type OptionSpec, Options } from '../words/options.js';
import { isSafeNumber } from '../words/scope.js';

/** What a program does, as far as its words tell. What is left out, it does not do. */
export interface Program extends OptionSpec {
  /** What the values of options are, by the names of the options. */
  readonly values?: Readonly<Record<string, Use>>;
  /** What the operands are, one after the other; the last stands for all that follow. */
  readonly operands?: readonly Use[];
  /** Left out: what it prints is not known. */
  readonly prints?: 'nothing' | 'number' | 'input' | 'fetched';
  /** With such words, one a line, it only looks, or says what it can do. */
  readonly harmless?: RegExp;
  /** With such words it destroys, or is asked about: `%` in the reason is what matched. */
  readonly verdicts?: readonly (readonly [verdict: 'block' | 'ask', words: RegExp, reason: string])[];
  /** An option whose value, attached as the first group or the next word, is a command that it runs. */
  readonly code?: RegExp;
  /** It reaches the hosts that its operands name by this scheme; `host`: the first one alone. */
  readonly host?: string;
  readonly hosts?: string;
  /** It runs what lies in the workspace, which the command does not tell. */
  readonly isUnseen?: RegExp | true;
  /** It may touch more than its words tell. */
  readonly isUntold?: RegExp | true;
  /** Its settings, scripts or files lie where it runs. */
  readonly goesByDirectory?: true;
  /** Such files say what it runs: one that the command wrote itself is asked about. */
  readonly obeys?: RegExp;
  /** What its words do not say alone. The answer, where there is one, is what it prints. */
  readonly evaluate?: (call: Call, options: Options, program: Program) => Stream | undefined | void;
}

/** By the names of programs, separated by spaces. */
export type Programs = Readonly<Record<string, Program>>;

/** What a program does with one of its words. */
const USES = {
  skip: () => {},
  /** What is looked for, which is no file. */
  pattern: () => {},
  /** A number or a single sign is the value of an option. */
  read(call: Call, word: Field) {
    if (!/^(?:-|[+\d][\d,-]*\w?|[^\w./~*?])$/.test(word.shown)) call.touches('read', word);
  },
  /** A file with code, which is not read. */
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
  /** A directory that is removed with all below it. */
  remove(call: Call, word: Field) {
    call.removeTree(word);
    USES.delete(call, word);
  },
  /** A file that comes from the network. */
  save(call: Call, word: Field) {
    if (word.shown !== '-') call.overwrite(word, { kind: 'fetched', from: call.name });
  },
  /** Shell code, and code that another program runs on its own. */
  code: (call: Call, word: Field) => void call.runCode(word),
  command: (call: Call, word: Field) => call.runAskedCode(word),
  /** A program that packs or connects. */
  packer(call: Call, word: Field) {
    if (!PLAIN_PACKER.test(word.shown)) call.runAskedCode(word);
  },
  /** The name of a variable, which gets what is not known. */
  name: (call: Call, word: Field) => call.setName(word),
  /** A word that is evaluated as arithmetic, and may assign; to other shells than bash `let` is no program. */
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

/** An option of any program that is named after what it does with its value. */
const RUNS_VALUE =
  /^--(?:[\w-]+-)?(?:exec|command|cmd|program|prog|pack|shell|eval|path-command)(?:=(.*))?$/s;

/** Reads one command by what is known of its program. */
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
  // A pattern that an option carries is none of the operands.
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

/** The values of an option that stands among the words: the first group of the pattern, or the next word. */
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
  // Part of what came in, or changed: of the same origin, but not known any more.
  if (read.length > 0) return read.map(({ source = UNKNOWN }) => source).reduce(joinStreams);
  return input.kind !== 'text' || input.text === '' || (name === 'cat' && shown === '') ? input : UNKNOWN;
}
