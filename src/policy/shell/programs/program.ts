import { type Call, runAskedCode } from '../words/call.js';
import { dangerOfFile } from '../words/danger.js';
import {
  COMPUTED,
  exactText,
  type Field,
  isComputed,
  literalField,
  NOTHING,
  NUMBER,
  type Stream,
  streamFrom,
  UNKNOWN,
} from '../words/field.js';
import { type OptionSpec, Options } from '../words/options.js';
import { secretIn } from '../words/place.js';
import { fetches, hiddenSecret, send, USES, type Use } from './uses.js';

/** What a program does, one row of the tables. What a row does not say, the program does not do. */
export interface Program {
  /** Letters of options that take a value. */
  readonly short?: string;
  /** Long options that take a value, separated by spaces. */
  readonly long?: string;
  /** Options end where the first operand begins. */
  readonly leads?: true;
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

/** Reads one command by its row. */
export function evaluateProgram(call: Call, program: Program): Stream {
  const { findings, words, input } = call;
  const looksAtWords = program.harmless !== undefined || program.when !== undefined;
  const shown = looksAtWords ? shownWords(call) : '';
  if (program.harmless?.test(shown) === true) return UNKNOWN;
  const { spec, named } = readRow(program);
  const options = new Options(words, spec);
  evaluateWords(call, program, shown);
  const { obeys } = program;
  const written = obeys && [...call.scope.files.keys()].find((path) => obeys.test(path));
  if (written !== undefined) findings.ask(`${call.name} obeys ${written}, which was written here.`);
  if (program.erases === true) eraseDisk(call, options);
  if (program.runsUnseen === true) findings.runsUnseen();
  const { operands } = options;
  if (program.host !== undefined) {
    const { scheme, all } = program.host;
    for (const host of all === true ? operands : operands.slice(0, 1))
      fetches(call, exactText(host) ?? host.shown, scheme);
    for (const word of words) send(call, hiddenSecret(word));
  }
  if (program.sends === true) send(call, input);
  const uses = named.map(([use, names]) => [use, options.all(...names)] as const);
  // A pattern that an option carries is none of the operands.
  const hasPattern = uses.some(([use, values]) => use === 'pattern' && values.length > 0);
  const read: Field[] = [];
  operands.forEach((operand, index) => {
    const at = hasPattern ? index + 1 : index;
    const use = program.operands?.[Math.min(at, program.operands.length - 1)] ?? 'skip';
    if (use === 'read') read.push(operand);
    USES[use](call, operand);
  });
  for (const [use, given] of uses)
    for (const { word, value } of given) findings.byOption(word.shown, () => value && USES[use](call, value));
  return program.also?.(call, options) ?? printed(call, program, operands, read);
}

/** The words, one a line, for patterns with `m`. */
export function shownWords({ words }: Pick<Call, 'words'>): string {
  return words.map(({ shown }) => shown).join('\n');
}

function evaluateWords(call: Call, program: Program, shown: string): void {
  const { findings, name, words, input } = call;
  const text = program.readsCode === true && input.kind === 'text' ? `${shown}\n${input.text}` : shown;
  if (program.when !== undefined && words.some(isComputed))
    findings.ask(`The words of ${name} are computed.`);
  for (const [verdict, pattern, reason] of program.when ?? []) {
    const match = pattern.exec(text);
    if (match !== null) findings[verdict](`${name} ${reason.replace('%', () => match[0])}.`);
  }
  if (program.codeBehind === undefined) return;
  for (const code of codesBehind(words, program.codeBehind)) runAskedCode(call, code);
}

/** The values of an option that stands among the words: the first group of the pattern, or the next word. */
export function codesBehind(words: readonly Field[], option: RegExp): Field[] {
  return words.flatMap((word, index) => {
    const match = option.exec(word.shown);
    if (match === null) return [];
    const attached = match.slice(1).find((group) => group !== undefined && group !== '');
    const next = words[index + 1];
    if (attached !== undefined) return [literalField(attached, word.literal)];
    return next === undefined ? [] : [next];
  });
}

function eraseDisk({ findings, name, words, scope }: Call, { operands }: Options): void {
  const isDisk = (word: Field) => dangerOfFile(word, scope.directory).kind !== 'ordinary';
  const disk = words.find(isDisk) ?? words.find(({ shown }) => shown.startsWith('/dev/'));
  if (disk !== undefined) findings.block(`${name} would erase ${disk.shown}.`);
  else if (operands.length > 0) findings.ask(`${name} erases what is on a disk.`);
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
      const { directory } = call.scope;
      return (
        read.map((file) => secretIn(file, directory)).find((one) => one !== undefined) ?? streamFrom(read)
      );
    }
    default:
      return UNKNOWN;
  }
}

/** Part of what came in, or changed: of the same origin, but not known any more. */
export function through(input: Stream): Stream {
  return input.kind === 'text' && input.text !== '' ? COMPUTED : input;
}

interface ReadRow {
  readonly spec: OptionSpec;
  readonly named: readonly (readonly [use: Use, names: readonly string[]])[];
}

const READ_ROWS = new WeakMap<Program, ReadRow>();

/** A row, read when its program is first met. */
function readRow(program: Program): ReadRow {
  const known = READ_ROWS.get(program);
  if (known !== undefined) return known;
  const { short = '', long = '', options = {}, leads = false } = program;
  const named = Object.entries(options).map(([names, use]) => [use, names.split(' ')] as const);
  const names = [...long.split(' '), ...named.flatMap(([, own]) => own)];
  const letters = names.filter((name) => name.length === 1).join('');
  const spec = { short: short + letters, long: names.filter((name) => name.length > 1), leads };
  READ_ROWS.set(program, { spec, named });
  return { spec, named };
}
