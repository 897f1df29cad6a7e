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

type Act = (call: Call, word: Field) => void;

/** What a program does with one of its words. */
export const USES = {
  skip: () => {},
  /** What is looked for, which is no file. */
  pattern: () => {},
  read(call, word) {
    if (word.shown !== '-') call.touches('read', word);
  },
  /** A file with code, which is not read. */
  script(call, word) {
    call.touches('read', word);
    call.runsFile(word);
  },
  /** A file that is written, made of others as a compiler makes one, or replaced. */
  write: (call, word) => call.touches('write', word),
  make: (call, word) => call.overwrite(word, undefined),
  overwrite: (call, word) => call.overwrite(word, UNKNOWN),
  delete(call, word) {
    call.touches('delete', word);
    call.removeFile(word);
  },
  /** A directory that is removed with all below it. */
  remove(call, word) {
    call.touches('delete', word);
    call.removeTree(word);
    call.removeFile(word);
  },
  /** A file that comes from the network, one that goes there, and text that goes there (`@file`: a file). */
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
  /** Shell code, and code that another program runs on its own. */
  code: (call, word) => call.runCode(word),
  command: (call, word) => call.runAskedCode(word),
  /** A setting of ssh, which may run a command. */
  setting(call, word) {
    for (const code of codesBehind([word], RUN_SETTING)) call.runAskedCode(code);
  },
  /** What a container is given of the machine: `FROM:TO`, `type=bind,source=FROM`. */
  volume(call, { shown }) {
    const path = /(?:source|src)=([^,]+)/.exec(shown)?.[1] ?? shown.split(':')[0] ?? '';
    if (call.isVital(path)) call.ask(`${call.name} gives a container ${path}.`);
  },
  /** A program that packs or connects, or what is done meanwhile. */
  packer(call, word) {
    const isCode = word.shown.startsWith('exec=');
    if (isCode || !PLAIN_PACKER.test(word.shown)) call.runAskedCode(isCode ? word.dropPrefix(5) : word);
  },
  asked: (call, { shown }) => call.ask(`What ${call.name} does with ${shown} is not read.`),
  /** The name of a variable, which gets what comes in, or what the words make. */
  name: (call, word) => call.setName(word),
  computed: (call, word) => call.setName(word, COMPUTED),
  /** A word that is evaluated as arithmetic, and may assign; to other shells than bash `let` is no program. */
  evaluated(call, word) {
    const name = /^[A-Za-z_]\w*(?=\W*=|\+\+|--)/.exec(word.known)?.[0] ?? '';
    const before = call.scope.get(name);
    if (!isSafeNumber(word.value, call.scope)) {
      call.ask(`${call.name} evaluates ${word.shown}`);
      runSubstitutions(call, word.known);
    }
    call.scope.set(name, before?.kind === 'text' && /\D/.test(before.text) ? COMPUTED : NUMBER);
  },
} satisfies Record<string, Act>;

type Use = keyof typeof USES;

const PLAIN_PACKER =
  /^(?:(?:gzip|pigz|bzip2|pbzip2|xz|zstd|lz4|lzma|lzip)(?: -[\w=]+)*|\d+|(?:dot|bell|echo|totals|ttyout|wait|sleep).*|(?:ssh|rsync)(?: -[\w=./~ -]*)?)$/;

const RUN_SETTING =
  /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|PermitLocalCommand|RemoteCommand|Match|PKCS11Provider|SecurityKeyProvider)[=\s]+(.*)$/is;

/** What the columns of a row are called, but for options, operands and what is printed. */
const COLUMNS =
  /^(?:harmless|code|writes|unseen|untold|obeys|hosts?|sends|script|plain|erases|directory|leads|runs|before|assigns|shell|moves|language|edits|bundle|plus|takes)$/;

/** One row of the table, read. */
export class Program implements OptionSpec {
  short = '';
  long = '';
  readonly leads: boolean;
  readonly plus: boolean;
  /** What the values of options are. */
  readonly options: [use: Use, names: readonly string[]][] = [];
  readonly operands: Use[] = [];
  readonly prints: string | undefined;
  readonly when: [verdict: 'block' | 'ask', word: RegExp, reason: string][] = [];
  readonly #columns = new Map<string, string | RegExp>();

  /** @throws Error a column, or the use of a word, is not known. */
  constructor(columns: readonly string[]) {
    for (const column of columns) {
      const [, key = '', source, flags, text = ''] =
        /^(\S+) ?(?:\/(.*)\/([a-z]*) ?)?(.*)$/s.exec(column) ?? [];
      const pattern = source === undefined ? undefined : new RegExp(source, flags);
      if (key.startsWith('-')) this.#readOptions(column);
      else if (key === ':') this.operands.push(...text.split(' ').map(toUse));
      else if (key === '>') this.prints = text;
      else if (key === 'ask' && pattern) this.when.push([key, pattern, text || 'runs a command of its own']);
      else if (key === 'block' && pattern) this.when.push([key, pattern, text || '% would erase data']);
      else if (COLUMNS.test(key)) this.#columns.set(key, pattern ?? text);
      else throw new Error(`"${column}" is no column.`);
    }
    this.plus = this.has('plus');
    this.leads = this.has('leads') || this.text('runs') !== undefined;
  }

  #readOptions(column: string): void {
    const [, given = '', use] = /^(.*?)(?: =(\w+))?$/.exec(column) ?? [];
    const words = given.split(' ');
    const names = words.flatMap((word) => (word.startsWith('--') ? word.slice(2) : [...word.slice(1)]));
    if (use !== undefined) this.options.push([toUse(use), names]);
    this.short += names.filter(({ length }) => length === 1).join('');
    this.long += ` ${names.join(' ')}`;
  }

  has(column: string): boolean {
    return this.#columns.has(column);
  }

  text(column: string): string | undefined {
    const value = this.#columns.get(column);
    return typeof value === 'string' ? value : undefined;
  }

  pattern(column: string): RegExp | undefined {
    const value = this.#columns.get(column);
    return value instanceof RegExp ? value : undefined;
  }
}

function toUse(name: string): Use {
  if (!Object.hasOwn(USES, name)) throw new Error(`"${name}" is no use of a word.`);
  return name as Use;
}

/** What no column says of a program. The answer, where there is one, is what it prints. */
export type Evaluate = (call: Call, options: Options, program: Program) => Stream | undefined | void;

/** By the names of programs, separated by spaces. */
export type Evaluators = Readonly<Record<string, Evaluate>>;

/** Reads one command by its row. */
export function evaluateProgram(call: Call, program: Program, own?: Evaluate): Stream {
  const { scope, findings, words, shown } = call;
  if (program.pattern('harmless')?.test(shown) === true)
    return program.prints === 'words' ? printed(call, program, []) : UNKNOWN;
  const [first, ...more] = words;
  const isBundle = program.has('bundle') && first !== undefined && /^[A-Za-z]+$/.test(first.shown);
  const options = new Options(isBundle ? [Field.of(`-${first.shown}`), ...more] : words, program);
  const { operands } = options;
  evaluateWords(call, program, shown);
  const obeys = program.pattern('obeys');
  const written = obeys && [...scope.files.keys()].find((path) => obeys.test(path));
  if (written !== undefined) call.ask(`${call.name} obeys ${written}, which was written here.`);
  if (program.has('erases')) eraseDisk(call, options);
  if (program.has('unseen') && program.pattern('unseen')?.test(shown) !== false) findings.runsUnseen();
  if (program.has('untold') && program.pattern('untold')?.test(shown) !== false) findings.untold();
  const scheme = program.text('hosts') ?? program.text('host');
  if (scheme !== undefined) {
    for (const one of program.has('hosts') ? operands : operands.slice(0, 1))
      call.fetches(one.exact ?? one.shown, scheme);
    for (const word of words) call.sendHidden(word);
  }
  if (program.has('sends')) call.send(call.input);
  const uses = program.options.map(([use, names]) => [use, options.all(...names)] as const);
  // A pattern that an option carries is none of the operands.
  const hasPattern = uses.some(([use, values]) => /^(?:pattern|script)$/.test(use) && values.length > 0);
  const read: Field[] = [];
  operands.forEach((operand, index) => {
    const at = hasPattern ? index + 1 : index;
    const use = program.operands[Math.min(at, program.operands.length - 1)] ?? 'skip';
    if (use === 'read') read.push(operand);
    // What only prints is not known to write: `uniq FROM TO` is seen as `sort -o TO FROM` is.
    const isOdd = program.prints === 'input' && /write$/.test(use);
    if (isOdd) USES[use](call, operand);
    else USES[use](call, operand);
  });
  const isDeep =
    SEARCHES.test(call.name) ||
    (/^[ef]?grep$/.test(call.name) && options.has('r', 'R', 'recursive', 'dereference-recursive'));
  if (isDeep && read.length === 0 && call.input === UNKNOWN) call.touches('read', Field.of('.'));
  for (const [use, given] of uses)
    for (const { value } of given) if (value !== undefined) USES[use](call, value);
  const writes = program.pattern('writes');
  if (writes !== undefined) writesBehind(call, words, writes);
  return own?.(call, options, program) ?? printed(call, program, read, operands[0]);
}

/** Without operands and without input they read the directory with all below it. */
const SEARCHES = /^(?:rg|ag|ack)$/;

function evaluateWords(call: Call, program: Program, shown: string): void {
  const { name, words, input } = call;
  const text = program.has('script') && input.kind === 'text' ? `${shown}\n${input.text}` : shown;
  const isComputed = program.when.length > 0 && words.some((word) => word.isComputed);
  if (isComputed || (program.has('plain') && exactTexts(words) === undefined))
    call.ask(`The words of ${name} are computed.`);
  for (const [verdict, pattern, reason] of program.when) {
    const match = pattern.exec(text);
    if (match !== null) call[verdict](`${name} ${reason.replace('%', () => match[0])}.`);
  }
  const code = program.pattern('code');
  if (code !== undefined) for (const one of codesBehind(words, code)) call.runAskedCode(one);
}

/** Files that stand behind an option. */
export function writesBehind(call: Call, words: readonly Field[], option: RegExp): void {
  words.forEach((word, at) => {
    const [file] = option.test(word.shown) ? codesBehind(words.slice(at, at + 2), option) : [];
    if (file !== undefined) call.overwrite(file, UNKNOWN);
  });
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
  const isDisk = (one: Field) => one.shown.startsWith('/dev/') || call.dangerOfFile(one).kind !== 'ordinary';
  const disk = call.words.find(isDisk);
  if (disk !== undefined) call.block(`${call.name} would erase ${disk.shown}.`);
  else if (operands.length > 0) call.ask(`${call.name} erases what is on a disk.`);
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
