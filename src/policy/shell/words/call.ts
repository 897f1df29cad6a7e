import type { Script } from '../parse/parse-shell.js';
import { Field, type Stream, UNKNOWN, type Value } from './field.js';
import type { Findings } from './findings.js';
import { type Danger, dangerOfFile, dangerOfTree, type FileDanger, HERE } from './place.js';
import { isSafeNumber, type Scope } from './scope.js';

/**
 * The operations that the evaluation of one program may request from the analysis. Each method returns the
 * output.
 */
export interface Shell {
  readonly findings: Findings;
  runScript(script: Script, scope: Scope, input: Stream): Stream;
  /** Text that a shell will run as code. */
  runText(text: string, scope: Scope, input: Stream): Stream;
  /** A command given as words, as `sudo` and `xargs` start one: no expansion, no keywords. */
  runWords(words: readonly Field[], scope: Scope, input: Stream): Stream;
  /** A command that a rule can allow, with the assignments before it. */
  record(place: object, words: readonly Field[], scope: Scope, settings?: readonly string[]): void;
  /** Whether these words of an unknown program look like a command that would not be allowed. */
  mayBeCommand(words: readonly Field[], scope: Scope, input: Stream): boolean;
  /** The same for the text of one word. */
  mayBeCode(word: Field, scope: Scope, input: Stream): boolean;
  /** Counts work, or this much of it; throws when the limit is exceeded. */
  step(work?: number): void;
}

/**
 * A command to be evaluated, with its words expanded and its redirections done; and the operations that
 * programs perform.
 */
export class Call {
  readonly findings: Findings;

  constructor(
    readonly shell: Shell,
    /** The last part of its path. */
    readonly name: string,
    /** The words after the name. */
    readonly words: readonly Field[],
    readonly scope: Scope,
    /** Its standard input. */
    readonly input: Stream,
  ) {
    this.findings = shell.findings;
  }

  /** The words, one per line, for patterns with the flag `m`. */
  get shown(): string {
    return this.words.map(({ shown }) => shown).join('\n');
  }

  ask(reason: string): void {
    this.findings.ask(reason);
  }

  block(reason: string): void {
    this.findings.block(reason);
  }

  touches(kind: 'read' | 'write' | 'delete', word: Field): void {
    this.findings.touches(kind, word, this.scope, !ONLY_LISTS.test(this.name));
    if (word.source?.kind === 'listing') this.readsBelow(word.source.root);
  }

  /** Reads the content of everything below a directory. */
  readsBelow(root: string): void {
    if (!ONLY_LISTS.test(this.name)) this.findings.touches('read', Field.of(root), this.scope);
  }

  /** The danger of removing, moving or re-owning a path with everything below it. */
  dangerOfTree(word: Field): Danger {
    return dangerOfTree(word, this.scope.directory);
  }

  isVital(path: string, directory = this.scope.directory): boolean {
    return dangerOfTree(Field.of(path), directory) === 'vital';
  }

  /** A disk, a file of the system, or a directory that the machine or the person cannot do without. */
  isVitalPlace(word: Field): boolean {
    return this.dangerOfTree(word) === 'vital' || this.dangerOfFile(word).kind === 'vital';
  }

  dangerOfFile(word: Field): FileDanger {
    return dangerOfFile(word, this.scope.directory);
  }

  /** A word that is run as shell code (`sh -c`, `eval`, `trap`): only literal text is analyzed. */
  runCode(word: Field, scope = this.scope.copy(), input: Stream = UNKNOWN): Stream {
    if (word.source?.kind === 'fetched') this.blockFetched(word.source.from);
    if (!word.literal) this.ask(`The code that ${this.name} runs is computed: ${word.shown}`);
    return word.known.trim() === '' ? UNKNOWN : this.shell.runText(word.known, scope, input);
  }

  /** A word that another program runs as code: always `ask`. */
  runAskedCode(word: Field): void {
    this.ask(`${this.name} runs a command: ${word.shown}`);
    this.runCode(word);
  }

  /** A stream that is run as shell code (`… | sh`, `bash <<EOF`). */
  runStream(stream = this.input, scope = this.scope.copy()): Stream {
    if (stream.kind === 'text') {
      if (!stream.literal) this.ask(`The code that ${this.name} reads is computed.`);
      return this.shell.runText(stream.text, scope, UNKNOWN);
    }
    if (stream.kind === 'fetched') {
      this.blockFetched(stream.from);
      return UNKNOWN;
    }
    this.ask(`${this.name} runs code from its input, and that is not known.`);
    return UNKNOWN;
  }

  /** A file that is run. Content that the command line itself wrote into it is not analyzed. */
  runsFile(file: Field): void {
    const written = this.scope.writtenTo(file);
    if (written !== undefined) this.ask(`${this.name} runs ${file.shown}, which was written here.`);
    if (written?.kind === 'fetched') this.blockFetched(written.from);
    // The input, a descriptor, or a file of a process: its content is not in the file system.
    if (/^(?:-$|\/+(?:dev|proc)\/)/.test(file.shown))
      this.ask(`${this.name} runs what it reads from ${file.shown}.`);
    this.findings.runsUnseen();
  }

  blockFetched(from: string): void {
    this.block(`${this.name} would run what comes from the network unseen (${from}).`);
  }

  /** The words after a wrapper's options, as a command. */
  runRest(
    words: readonly Field[],
    scope = this.scope.copy(),
    input = this.input,
    settings: readonly string[] = [],
  ): Stream {
    const [command] = words;
    if (command === undefined) return UNKNOWN;
    this.findings.walks(words);
    return this.findings.walk(() => {
      this.shell.record(command, words, scope, settings);
      return this.shell.runWords(words, scope, input);
    });
  }

  /** If it certainly hits something vital, it is blocked; if it may, it is `ask`. */
  harms(kind: Danger, what: string): void {
    if (kind === 'vital') this.block(`${this.name} would ${what}.`);
    if (kind === 'unclear') this.ask(`${this.name} may ${what}: it is not certain what that affects.`);
  }

  /** A file that a program replaces; `undefined`: with content that existed before. */
  overwrite(target: Field, content: Stream | undefined): void {
    const { kind, what } = this.dangerOfFile(target);
    this.harms(kind, `overwrite ${what}, ${target.shown}`);
    this.touches('write', target);
    if (content !== undefined) this.scope.noteWritten(target, content);
  }

  /** A directory that is removed with everything below it. */
  removeTree(operand: Field, isCertain = true): void {
    const danger = this.dangerOfTree(operand);
    const kind = danger === 'vital' && !isCertain ? 'unclear' : danger;
    this.harms(kind, `remove ${operand.shown} with all below it`);
  }

  /** Without `-r` only files are removed; some files are vital. */
  removeFile(operand: Field): void {
    const { kind, what } = this.dangerOfFile(operand);
    this.harms(kind, `remove ${what}, ${operand.shown}`);
    if (operand.isComputed) this.ask(`What ${this.name} would remove is computed: ${operand.shown}`);
    if (operand.hasPattern) this.harms(this.dangerOfTree(operand), `remove what ${operand.shown} matches`);
  }

  /** A request of a command to the network; an address without a scheme has the usual one. */
  fetches(text: string, scheme: string): void {
    const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${scheme}://${text}`;
    this.findings.effect({ kind: 'fetch', url });
  }

  /** A variable gets an unknown value. An index in its name is run. */
  setName(word: Field): void {
    if (!/^[A-Za-z_]\w*$/.test(word.exact ?? '')) {
      this.ask(`The name that ${this.name} sets is computed: ${word.shown}`);
      runSubstitutions(this, word.known);
    } else setVariable(this, word.known, UNKNOWN);
  }
}

/** These read names, not the contents of files. */
const ONLY_LISTS =
  /^(?:ls|dir|find|gfind|fd|fdfind|tree|du|stat|realpath|readlink|rm|rmdir|unlink|mv|gmv|chmod|chown|chgrp|touch|mkdir|ln)$/;

/** The shell and the scope in which something is evaluated. */
interface At {
  readonly shell: Shell;
  readonly scope: Scope;
}

/**
 * A variable set by a loop, a builtin or an expansion: a rule need not contain names that only scripts use.
 */
export function setVariable(at: At, name: string, value: Value): void {
  evaluateVariable(at, name, value);
  if (!OF_SCRIPTS.test(name))
    at.shell.findings.setting(`${name}=${value.kind === 'text' ? value.text : '?'}`);
  at.scope.variables.set(name, value);
}

/** No program reads its settings from variables with such names. */
const OF_SCRIPTS =
  /^(?!\w*_proxy$|npm_config_)[a-z_]\w*$|^[A-Z]$|^(?:REPLY|OPTARG|OPTIND|MAPFILE|COPROC|FILE|LINE|DIR|COUNT)$/;

/** Bash evaluates the values of these as arithmetic. */
const INTEGERS = /^(?:RANDOM|SRANDOM|SECONDS|OPTIND|LINENO|HISTCMD|BASHPID|PPID|UID|EUID)$/;

/** Variables whose value is code, or names a file that is run. */
const RUN_AS_CODE: ReadonlySet<string> = new Set(
  [
    'PROMPT_COMMAND PS0 PS1 PS2 PS4 BASH_ENV ENV LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES',
    'GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_SEQUENCE_EDITOR GIT_ASKPASS',
    'GIT_PROXY_COMMAND GIT_CONFIG_PARAMETERS GIT_EXEC_PATH EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER',
    'SSH_ASKPASS SUDO_ASKPASS FCEDIT TAR_OPTIONS PERL5OPT PERL5DB PYTHONSTARTUP RUBYOPT NODE_OPTIONS',
    'JAVA_TOOL_OPTIONS RSYNC_RSH CVS_RSH BASH_FUNC MAKEFLAGS SHELLOPTS BASHOPTS PYTHONINSPECT AWKPATH',
  ].flatMap((line) => line.split(' ')),
);

/** Usual programs that show output, and options of make and node that load nothing: they are not code. */
const PLAIN_VALUE =
  /^(?:true|false|cat|less|more|vi|vim|nano|ed|:|-?j ?\d*|(?:--(?:max[-_]old[-_]space[-_]size=\d+|stack-trace-limit=\d+|experimental-(?:vm-modules|strip-types|transform-types)|no-warnings|no-deprecation|trace-(?:warnings|deprecation|uncaught)|enable-source-maps|openssl-legacy-provider)(?: +|$))+)?$/;

/** Directories whose programs do not come from a workspace. */
const SYSTEM_FOLDER = /^\/(?:usr|bin|sbin|opt|nix|snap)(?:\/|$)/;

/** Side effects of setting a variable: its value may be code that another program runs. */
export function evaluateVariable(at: At, name: string, value: Value): void {
  const { shell, scope } = at;
  const { findings } = shell;
  if (name === 'PATH') {
    // With another search path `git` may be any program: `PATH=. git status` runs the one in this directory.
    const folders = value.kind === 'text' ? value.text.split(':') : ['?'];
    const strange = folders.find((one) => !SYSTEM_FOLDER.test(one) || one.split('/').includes('..'));
    if (strange !== undefined)
      findings.ask(
        `Programs are looked for in "${strange.replace(HERE, '$PWD')}" (PATH), which is not known.`,
      );
    return;
  }
  if (INTEGERS.test(name) && !isSafeNumber(value, scope)) {
    findings.ask(`${name} evaluates what it is given.`);
    if (value.kind === 'text') runSubstitutions(at, value.text);
  }
  if (name === 'CDPATH' && !(value.kind === 'text' && value.text === ''))
    findings.ask('Where cd leads is looked up elsewhere (CDPATH).');
  if (name.startsWith('BASH_FUNC_')) findings.ask('A function is handed on to other shells.');
  if (!RUN_AS_CODE.has(name) && !name.startsWith('GIT_CONFIG_')) return;
  const code = value.kind === 'text' ? value.text : undefined;
  if (code !== undefined && PLAIN_VALUE.test(code)) return;
  findings.ask(`${name}, which other programs run, is ${code ?? 'not known'}.`);
  if (code !== undefined) shell.runText(code.replace(/^[|!]-?/, ''), scope.copy(), UNKNOWN);
}

/** A text that is evaluated as arithmetic or as a name: `$(…)` in an index runs. */
export function runSubstitutions({ shell, scope }: At, text: string): void {
  if (/\$\(|`/.test(text)) shell.runText(`: "${text.replaceAll('"', '')}"`, scope.copy(), UNKNOWN);
}
