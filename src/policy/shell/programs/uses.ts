import { type Call, runCode, runSubstitutions, type Shell } from '../words/call.js';
import { dangerOfFile, dangerOfTree, isVital } from '../words/danger.js';
import {
  COMPUTED,
  exactText,
  type Field,
  INHERITED,
  isComputed,
  knownText,
  literalField,
  type Stream,
  sourceOf,
} from '../words/field.js';
import { secretIn } from '../words/place.js';
import { isSafeNumber, type Scope, toValue, type Value } from '../words/scope.js';

/** What a program does with one of its words. */
export type Use =
  | 'skip'
  /** What is looked for, which is no file. */
  | 'pattern'
  /** A file that is read, written or made, replaced, removed. */
  | 'read'
  | 'write'
  | 'overwrite'
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
  read: ({ findings, scope }, word) => findings.touches('read', word, scope),
  write: ({ findings, scope }, word) => findings.touches('write', word, scope),
  overwrite,
  delete(call, word) {
    call.findings.touches('delete', word, call.scope);
    removeFile(call, word);
  },
  remove: removeTree,
  save(call, file) {
    if (file.shown === '-') return;
    overwrite(call, file);
    call.scope.noteWritten(file, { kind: 'fetched', from: call.name });
  },
  upload,
  body(call, word) {
    send(call, hiddenSecret(word));
    if (isComputed(word)) upload(call, word);
    const file = /[@<]([^;@]+)/.exec(word.shown)?.[1];
    if (file !== undefined) upload(call, literalField(file));
  },
  code: (call, word) => runCode(call, word),
  name: setName,
  computed: (call, word) => setName({ ...call, input: COMPUTED }, word),
  evaluated(call, word) {
    if (isSafeNumber(toValue(word.pieces), call.scope)) return;
    call.findings.ask(`${call.name} evaluates ${word.shown}`);
    runSubstitutions(call, knownText(word));
  },
};

/** A file that a program replaces, whichever program. */
export function overwrite({ findings, name, scope }: Call, target: Field): void {
  const danger = dangerOfFile(target, scope.directory);
  if (danger.kind === 'vital') findings.block(`${name} would overwrite ${danger.what}, ${target.shown}.`);
  if (danger.kind === 'unclear')
    findings.ask(`${name} writes to ${target.shown}, and it cannot be told what that hits.`);
  findings.touches('write', target, scope);
}

/** A directory that goes with all below it. */
export function removeTree({ findings, name, scope }: Call, operand: Field, isCertain = true): void {
  const danger = dangerOfTree(operand, scope.directory);
  if (danger === 'vital' && isCertain)
    findings.block(`${name} would remove ${operand.shown} with all below it.`);
  else if (danger !== 'ordinary') findings.ask(`What ${name} would remove cannot be told: ${operand.shown}`);
}

/** Without `-r` only files go; some of them are enough. */
export function removeFile({ findings, name, scope }: Call, operand: Field): void {
  const danger = dangerOfFile(operand, scope.directory);
  if (danger.kind === 'vital') findings.block(`${name} would remove ${danger.what}, ${operand.shown}.`);
  if (isComputed(operand)) findings.ask(`What ${name} would remove is computed: ${operand.shown}`);
  const isPattern = operand.pieces.some(({ kind }) => kind === 'glob');
  if (isPattern && dangerOfTree(operand, scope.directory) === 'vital')
    findings.block(`${name} would remove what ${operand.shown} matches.`);
}

/** `ls / | while read x; do rm "$x"; done`: the names come from a directory that must not be emptied. */
export function removeListed({ findings, name, scope }: Call, operand: Field): void {
  const source = sourceOf(operand);
  if (source?.kind === 'listing' && isVital(source.root, scope.directory))
    findings.block(`${name} would remove what ${source.root} holds.`);
}

/** A file, or the input (`-`), that leaves the machine. */
function upload(call: Call, word: Field): void {
  if (word.shown === '-' || word.shown === '.') {
    send(call, call.input);
    return;
  }
  if (isComputed(word)) call.findings.ask(`What ${call.name} sends away is computed: ${word.shown}`);
  const path = word.shown.replace(/^@/, '').replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/)/, '/home/~');
  const file = literalField(path);
  call.findings.touches('read', file, call.scope);
  send(call, secretIn(file, call.scope.directory));
}

/** Secrets that leave the machine, and a shell that other machines are given. */
export function send({ findings, name }: Call, stream: Stream | undefined): void {
  if (stream?.kind === 'unknown' && stream.computed) findings.ask(`What ${name} sends away is computed.`);
  if (stream?.kind === 'secret') findings.block(`${name} would send a secret away (${stream.path}).`);
  if (stream?.kind === 'shell') findings.block(`${name} would give a shell to the other end.`);
}

/** What a word carries that came of a secret. */
export function hiddenSecret(word: Field): Stream | undefined {
  for (const piece of word.pieces)
    if (piece.kind === 'unknown' && piece.from?.kind === 'secret') return piece.from;
  return undefined;
}

/** What a command asks of the network; an address without a scheme has the one that is meant. */
export function fetches({ findings }: Call, text: string, scheme: string): void {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${scheme}://${text}`;
  findings.effect({ kind: 'fetch', url });
}

/** An index in a name is run. */
function setName(call: Call, word: Field): void {
  const text = exactText(word);
  if (text !== undefined && /^[A-Za-z_]\w*$/.test(text)) {
    const { input } = call;
    const computed = input.kind === 'text' || (input.kind === 'unknown' && input.computed === true);
    const from = input.kind === 'text' ? {} : { from: input };
    call.scope.set(text, { kind: 'unknown', numeric: false, computed, ...from });
    return;
  }
  call.findings.ask(`The name that ${call.name} sets is computed: ${word.shown}`);
  runSubstitutions(call, knownText(word));
}

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

/** Programs that are only shown on a screen by another: naming a usual one is no code. */
const PLAIN_VALUE = /^(?:true|false|cat|less|more|vi|vim|nano|ed|:)?$/;

/** Where programs are that no workspace has put there. */
const SYSTEM_FOLDER = /^\/(?:usr|bin|sbin|opt|nix|snap)(?:\/|$)/;

/** What setting a variable does besides: its value may be code that another program runs. */
export function evaluateVariable(shell: Shell, name: string, value: Value, scope: Scope): void {
  if (name === 'PATH') {
    const why = whyStrange(value);
    if (why !== undefined) shell.findings.ask(why);
    return;
  }
  if (!RUN_AS_CODE.has(name) && !name.startsWith('GIT_CONFIG_')) return;
  if (value.kind !== 'text') {
    shell.findings.ask(`The value of ${name}, which is run, is not known.`);
    return;
  }
  if (PLAIN_VALUE.test(value.text)) return;
  shell.findings.ask(`${name} names what other programs run: ${value.text}`);
  shell.runText(value.text.replace(/^[|!]-?/, ''), scope.copy(), INHERITED);
}

/** With another search path, `git` may be any program: `PATH=. git status` runs the one that lies here. */
function whyStrange(value: Value): string | undefined {
  if (value.kind !== 'text') return 'Where programs are looked for (PATH) is not known.';
  const strange = value.text
    .split(':')
    .find((folder) => !SYSTEM_FOLDER.test(folder) || folder.split('/').includes('..'));
  if (strange === undefined) return undefined;
  return `Programs are looked for in "${strange}" (PATH), which is no folder of the system.`;
}
