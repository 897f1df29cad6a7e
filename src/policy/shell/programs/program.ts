import { type Call, runSubstitutions } from '../words/call.js';
import {
  COMPUTED,
  exactTexts,
  Field,
  NOTHING,
  NUMBER,
  type Stream,
  streamFrom,
  UNKNOWN,
} from '../words/field.js';
import { type OptionSpec, Options } from '../words/options.js';
import { secretIn } from '../words/place.js';
import { isSafeNumber } from '../words/scope.js';

/** What a program does, as far as its words tell. What is left out, it does not do. */
export interface Program extends OptionSpec {
  /** What the values of options are, by the names of the options. */
  readonly values?: Readonly<Record<string, Use>>;
  /** What the operands are, one after the other; the last stands for all that follow. */
  readonly operands?: readonly Use[];
  /** Left out: what it prints is not known. */
  readonly prints?: 'nothing' | 'number' | 'input' | 'fetched' | 'words';
  /** With such words, one a line, it only looks, or says what it can do. */
  readonly harmless?: RegExp;
  /** With such words it destroys, or is asked about: `%` in the reason is what matched. */
  readonly verdicts?: readonly (readonly [verdict: 'block' | 'ask', words: RegExp, reason: string])[];
  /** An option whose value, attached as the first group or the next word, is a command that it runs. */
  readonly code?: RegExp;
  /** It reaches the host that its first operand names, or all of them, by this scheme. */
  readonly host?: string;
  readonly hosts?: string;
  /** It runs files whose effects the command does not tell. */
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
  read(call: Call, word: Field) {
    if (word.shown !== '-') call.touches('read', word);
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
    call.touches('delete', word);
    call.removeTree(word);
    call.removeFile(word);
  },
  /** A file that comes from the network, one that goes there, and text that goes there (`@file`: a file). */
  save(call: Call, word: Field) {
    if (word.shown !== '-') call.overwrite(word, { kind: 'fetched', from: call.name });
  },
  upload: (call: Call, word: Field) => call.upload(word),
  body(call: Call, word: Field) {
    call.sendHidden(word);
    if (word.isComputed) call.upload(word);
    const file = /[@<]([^;@]+)/.exec(word.shown)?.[1];
    if (file !== undefined) call.upload(Field.of(file));
  },
  /** Shell code, and code that another program runs on its own. */
  code: (call: Call, word: Field) => void call.runCode(word),
  command: (call: Call, word: Field) => call.runAskedCode(word),
  /** A program that packs or connects. */
  packer(call: Call, word: Field) {
    if (!PLAIN_PACKER.test(word.shown)) call.runAskedCode(word);
  },
  /** The name of a variable, which gets what comes in, or what the words make. */
  name: (call: Call, word: Field) => call.setName(word),
  computed: (call: Call, word: Field) => call.setName(word, COMPUTED),
  /** A word that is evaluated as arithmetic, and may assign; to other shells than bash `let` is no program. */
  evaluated(call: Call, word: Field) {
    const name = /^[A-Za-z_]\w*(?=\W*=|\+\+|--)/.exec(word.known)?.[0] ?? '';
    const before = call.scope.get(name);
    if (!isSafeNumber(word.value, call.scope)) {
      call.ask(`${call.name} evaluates ${word.shown}`);
      runSubstitutions(call, word.known);
    }
    call.scope.set(name, before?.kind === 'text' && /\D/.test(before.text) ? COMPUTED : NUMBER);
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
  if (program.harmless?.test(shown) === true)
    return program.prints === 'words' ? printed(call, program, []) : UNKNOWN;
  const options = new Options(words, program);
  const { operands } = options;
  evaluateWords(call, program, shown);
  if (program.isUnseen === true || program.isUnseen?.test(shown) === true) findings.runsUnseen();
  if (program.isUntold === true || program.isUntold?.test(shown) === true) findings.untold();
  const { obeys } = program;
  const written = obeys && [...call.scope.files.keys()].find((path) => obeys.test(path));
  if (written !== undefined) call.ask(`${call.name} obeys ${written}, which was written here.`);
  const scheme = program.hosts ?? program.host;
  if (scheme !== undefined) {
    for (const one of operands.slice(0, program.hosts === undefined ? 1 : operands.length))
      call.fetches(one.exact ?? one.shown, scheme);
    for (const word of words) call.sendHidden(word);
  }
  const given: { readonly use: Use; readonly value: Field }[] = [];
  if (program.values !== undefined && options.given.length > 0)
    for (const [name, use] of Object.entries(program.values))
      for (const value of options.values(name)) given.push({ use, value });
  // A pattern that an option carries is none of the operands.
  const skipped = given.some(({ use }) => use === 'pattern' || use === 'script') ? 1 : 0;
  const uses = program.operands ?? [];
  const read: Field[] = [];
  operands.forEach((operand, at) => {
    const use = uses[Math.min(at + skipped, uses.length - 1)] ?? 'skip';
    if (use === 'read') read.push(operand);
    USES[use](call, operand);
  });
  for (const { use, value } of given) USES[use](call, value);
  return program.evaluate?.(call, options, program) ?? printed(call, program, read, operands[0]);
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

function printed(call: Call, { prints }: Program, read: readonly Field[], first?: Field): Stream {
  switch (prints) {
    case 'nothing':
      return NOTHING;
    case 'number':
      return read.length === 0 ? NUMBER : UNKNOWN;
    case 'fetched':
      return { kind: 'fetched', from: first?.shown ?? call.name };
    case 'input': {
      // Part of what came in, or changed: of the same origin, but not known any more.
      const isCat = call.name === 'cat' && call.shown === '';
      const isCopied = isCat || call.input.kind !== 'text' || call.input.text === '';
      if (read.length === 0) return isCopied ? call.input : COMPUTED;
      const secrets = read.map((file) => secretIn(file, call.scope.directory));
      return secrets.find((one) => one !== undefined) ?? streamFrom(read);
    }
    case 'words':
      // What is printed is not computed, also where it could be.
      return exactTexts(call.words) === undefined ? streamFrom(call.words) : COMPUTED;
    default:
      return UNKNOWN;
  }
}
