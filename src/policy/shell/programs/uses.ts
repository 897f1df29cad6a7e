import { type Call, runCode, runSubstitutions } from '../words/call.js';
import { dangerOfFile, dangerOfTree, isVital } from '../words/danger.js';
import {
  COMPUTED,
  exactText,
  type Field,
  isComputed,
  knownText,
  literalField,
  type Stream,
  sourceOf,
  UNKNOWN,
} from '../words/field.js';
import { secretIn } from '../words/place.js';
import { isSafeNumber, toValue } from '../words/scope.js';
import { setVariable } from '../words/variables.js';

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
  read: ({ findings, scope }, word) => findings.touches('read', word, scope),
  write: ({ findings, scope }, word) => findings.touches('write', word, scope),
  make: (call, target) => overwrite(call, target, 'there'),
  overwrite: (call, target) => overwrite(call, target),
  delete(call, word) {
    call.findings.touches('delete', word, call.scope);
    removeFile(call, word);
  },
  remove: removeTree,
  save(call, file) {
    if (file.shown === '-') return;
    overwrite(call, file, { kind: 'fetched', from: call.name });
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

/** A file that a program replaces, whichever program, and by what; `there`: by what was there before. */
export function overwrite(
  { findings, name, scope }: Call,
  target: Field,
  content: Stream | 'there' = UNKNOWN,
): void {
  const danger = dangerOfFile(target, scope.directory);
  if (danger.kind === 'vital') findings.block(`${name} would overwrite ${danger.what}, ${target.shown}.`);
  if (danger.kind === 'unclear')
    findings.ask(`${name} writes to ${target.shown}, and it cannot be told what that hits.`);
  findings.touches('write', target, scope);
  if (content !== 'there') scope.noteWritten(target, content);
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
    setVariable(call, text, { kind: 'unknown', numeric: false, computed, ...from });
    return;
  }
  call.findings.ask(`The name that ${call.name} sets is computed: ${word.shown}`);
  runSubstitutions(call, knownText(word));
}
