import type { Call } from '../words/call.js';
import { secretIn } from '../words/danger.js';
import { COMPUTED, Field, NOTHING, NUMBER, type Stream, streamFrom, UNKNOWN } from '../words/field.js';
import { type OptionSpec, Options } from '../words/options.js';
import { isSafeNumber } from '../words/scope.js';
import { runSubstitutions } from '../words/variables.js';

/** What a program does with one of its words. */
export type Use =
  | 'skip'
  /** What is looked for, which is no file. */
  | 'pattern'
  /** A file that is read, written or made, replaced, removed. */
  | 'read'
  | 'write'
  | 'overwrite'
  /** A file that is made of others, as a compiler makes one. */
  | 'make'
  | 'delete'
  /** A directory that is removed with all below it. */
  | 'remove'
  /** A file that comes from the network, one that goes there, and text that goes there (`@file`: a file). */
  | 'save'
  | 'upload'
  | 'body'
  /** Shell code. */
  | 'code'
  /** The name of a variable, which gets a value that is not known. */
  | 'name'
  /** The same, to a value that the words make. */
  | 'computed'
  /** A word that is evaluated as arithmetic. */
  | 'evaluated';

export const USES: Readonly<Record<Use, (call: Call, word: Field) => void>> = {
  skip: () => {},
  pattern: () => {},
  read: (call, word) => call.touches('read', word),
  write: (call, word) => call.touches('write', word),
  make: (call, word) => call.overwrite(word, 'there'),
  overwrite: (call, word) => call.overwrite(word),
  delete(call, word) {
    call.touches('delete', word);
    call.removeFile(word);
  },
  remove: (call, word) => call.removeTree(word),
  save(call, word) {
    if (word.shown !== '-') call.overwrite(word, { kind: 'fetched', from: call.name });
  },
  upload: (call, word) => call.upload(word),
  body(call, word) {
    call.sendHidden(word);
    if (word.isComputed) call.upload(word);
    const file = /[@<]([^;@]+)/.exec(word.shown)?.[1];
    if (file !== undefined) call.upload(Field.of(file));
  },
  code: (call, word) => call.runCode(word),
  name: (call, word) => call.setName(word),
  computed: (call, word) => call.setName(word, COMPUTED),
  evaluated(call, word) {
    if (isSafeNumber(word.value, call.scope)) return;
    call.ask(`${call.name} evaluates ${word.shown}`);
    runSubstitutions(call, word.known);
  },
};

/** What a program does, one row of the tables. What a row does not say, the program does not do. */
export interface Program extends OptionSpec {
  /** What the value of an option is; names of one option are separated by spaces. */
  readonly options?: Readonly<Record<string, Use>>;
  /** What the operands are, one after the other; the last one stands for all that follow. */
  readonly operands?: readonly Use[];
  /** It reaches the host that its first operand, or all, name. */
  readonly host?: { readonly scheme: string; readonly all?: true };
  /** Its input leaves the machine. */
  readonly sends?: true;
  /** A call with such a word only looks, or says what it can do. */
  readonly harmless?: RegExp;
  /** Words that say what is dangerous or unclear. `%` in the reason is what matched. */
  readonly when?: readonly When[];
  /** Its input is read for such words too. */
  readonly readsCode?: true;
  /** An option whose value, attached (the first group) or the next word, is shell code. */
  readonly codeBehind?: RegExp;
  /** It changes or erases the disk that it is given. */
  readonly erases?: true;
  /** What it does depends on files of the directory that it runs in. */
  readonly goesByDirectory?: true;
  /** Files that say what it runs: one that the command wrote itself is asked about. */
  readonly obeys?: RegExp;
  /** It runs files whose effects are not told by the command. */
  readonly runsUnseen?: true;
  /** What it prints: nothing, a number, what comes in, what comes from the network. Left out: that is not known. */
  readonly prints?: 'nothing' | 'number' | 'input' | 'fetched';
  /** What no column says. The answer, where there is one, is what it prints. */
  readonly also?: (call: Call, options: Options) => Stream | undefined | void;
}

export type When = readonly [verdict: 'block' | 'ask', word: RegExp, reason: string];

/** Rows by the names of programs, separated by spaces. */
export type Programs = Readonly<Record<string, Program>>;

/** A row as it is evaluated: with all the options that take a value. */
export interface Row {
  readonly program: Program;
  readonly spec: OptionSpec;
  readonly named: readonly (readonly [use: Use, names: readonly string[]])[];
}

export function readRow(program: Program): Row {
  const { short = '', long = '', options = {}, leads } = program;
  const named = Object.entries(options).map(([names, use]) => [use, names.split(' ')] as const);
  const names = [...long.split(' '), ...named.flatMap(([, own]) => own)];
  const spec = { short: short + names.filter(({ length }) => length === 1).join(''), long: names.join(' ') };
  return { program, spec: leads === true ? { ...spec, leads } : spec, named };
}

/** Reads one command by its row. */
export function evaluateProgram(call: Call, { program, spec, named }: Row): Stream {
  const { harmless, when = [], obeys, host } = program;
  const shown = harmless !== undefined || when.length > 0 ? call.shown : '';
  if (harmless?.test(shown) === true) return UNKNOWN;
  const options = new Options(call.words, spec);
  const { operands } = options;
  evaluateWords(call, program, shown);
  const written = obeys && [...call.scope.files.keys()].find((path) => obeys.test(path));
  if (written !== undefined) call.ask(`${call.name} obeys ${written}, which was written here.`);
  if (program.erases === true) eraseDisk(call, options);
  if (program.runsUnseen === true) call.findings.runsUnseen();
  if (host !== undefined) {
    for (const one of host.all === true ? operands : operands.slice(0, 1))
      call.fetches(one.exact ?? one.shown, host.scheme);
    for (const word of call.words) call.sendHidden(word);
  }
  if (program.sends === true) call.send(call.input);
  const uses = named.map(([use, names]) => [use, options.all(...names)] as const);
  // A pattern that an option carries is none of the operands.
  const hasPattern = uses.some(([use, values]) => use === 'pattern' && values.length > 0);
  const read: Field[] = [];
  operands.forEach((operand, index) => {
    const at = hasPattern ? index + 1 : index;
    const use = program.operands?.[Math.min(at, program.operands.length - 1)] ?? 'skip';
    if (use === 'read') read.push(operand);
    // What only prints is not known to write: `uniq FROM TO` is seen as `sort -o TO FROM` is.
    const isOdd = program.prints === 'input' && /write$/.test(use);
    if (isOdd) call.findings.byOption(operand.shown, () => USES[use](call, operand));
    else USES[use](call, operand);
  });
  for (const [use, given] of uses)
    for (const { word, value } of given)
      call.findings.byOption(word.shown, () => value && USES[use](call, value));
  return program.also?.(call, options) ?? printed(call, program, operands, read);
}

function evaluateWords(call: Call, { when, readsCode, codeBehind }: Program, shown: string): void {
  const { name, words, input } = call;
  const text = readsCode === true && input.kind === 'text' ? `${shown}\n${input.text}` : shown;
  if (when !== undefined && words.some(({ isComputed }) => isComputed))
    call.ask(`The words of ${name} are computed.`);
  for (const [verdict, pattern, reason] of when ?? []) {
    const match = pattern.exec(text);
    if (match !== null) call[verdict](`${name} ${reason.replace('%', () => match[0])}.`);
  }
  if (codeBehind !== undefined) for (const code of codesBehind(words, codeBehind)) call.runAskedCode(code);
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

function eraseDisk(call: Call, { operands }: Options): void {
  const disk =
    call.words.find((word) => call.dangerOfFile(word).kind !== 'ordinary') ??
    call.words.find(({ shown }) => shown.startsWith('/dev/'));
  if (disk !== undefined) call.block(`${call.name} would erase ${disk.shown}.`);
  else if (operands.length > 0) call.ask(`${call.name} erases what is on a disk.`);
}

function printed(call: Call, program: Program, operands: readonly Field[], read: readonly Field[]): Stream {
  switch (program.prints) {
    case 'nothing':
      return NOTHING;
    case 'number':
      return read.length === 0 ? NUMBER : UNKNOWN;
    case 'fetched':
      return { kind: 'fetched', from: operands[0]?.shown ?? call.name };
    case 'input': {
      if (read.length === 0) return through(call.input);
      const secrets = read.map((file) => secretIn(file, call.scope.directory));
      return secrets.find((one) => one !== undefined) ?? streamFrom(read);
    }
    default:
      return UNKNOWN;
  }
}

/** Part of what came in, or changed: of the same origin, but not known any more. */
export function through(input: Stream): Stream {
  return input.kind === 'text' && input.text !== '' ? COMPUTED : input;
}
