import type { Interpreter } from './interpreter.js';
import type { Assignment, Command, HereDoc, Redirection } from './parse/parse-shell.js';
import { evaluateProgram, evaluateUnknown } from './programs/program.js';
import { findProgram } from './programs/table.js';
import { Call, evaluateVariable, setVariable } from './words/call.js';
import {
  Field,
  NOTHING,
  NUMBER,
  PIPED,
  type Stream,
  streamOf,
  textValue,
  UNKNOWN,
  type Value,
} from './words/field.js';
import { isSame, type Scope } from './words/scope.js';

/** A simple command: assignments, words, redirections, then the effect of its program. */
export function runSimple(shell: Interpreter, node: Command, scope: Scope, input: Stream): Stream {
  const { expander } = shell;
  const words = node.name === undefined ? [] : expander.words(node.name, scope);
  for (const argument of node.args) {
    if (argument.type === 'Word') words.push(...expander.words(argument, scope));
    else {
      // `export X=…`, `declare a=(…)`: a word that the program assigns.
      const value = assigned(shell, argument, scope);
      words.push(new Field([textValue(`${argument.name}=`), value], shownAs(argument, value)));
    }
  }
  return shell.findings.walk(() =>
    redirect(shell, node.redirects, scope, input, (given) => runExpanded(shell, node, words, scope, given)),
  );
}

type Words = readonly Field[];

function runExpanded(shell: Interpreter, node: Command, words: Words, scope: Scope, input: Stream): Stream {
  const prefix = node.prefix.filter((part) => part.type === 'Assignment');
  const before = prefix.map(({ name }) => ({ name, own: scope.variables.get(name) }));
  const settings = prefix.map((part) => assign(shell, part, scope));
  if (words.length === 0) {
    for (const text of settings) shell.findings.setting(text);
    return NOTHING;
  }
  shell.record(node, words, scope, settings);
  const output = shell.runWords(words, scope, input);
  // An assignment before a command applies to that command. Some shells keep it if the command is a builtin.
  for (const { name, own } of before) {
    if (own === undefined) scope.variables.delete(name);
    else if (!isSame(scope.get(name), own)) scope.variables.set(name, UNKNOWN);
  }
  return output;
}

type Redirections = readonly Redirection[];
type Run = (input: Stream) => Stream;

/** Evaluates redirections. Returns their input, and the target of their output if that target is executed. */
export function redirect(
  shell: Interpreter,
  all: Redirections,
  scope: Scope,
  input: Stream,
  run: Run,
): Stream {
  const written: Field[] = [];
  let isPrinted = true;
  let own = input;
  for (const redirection of all) {
    const { descriptor: given } = redirection;
    const descriptor = given?.type === 'FileDescriptor' ? given.value : undefined;
    if (given?.type === 'FileDescriptorVariable') setVariable({ shell, scope }, given.name, NUMBER);
    const opens = (stream: Stream): void => {
      if ((descriptor ?? 0) === 0) own = stream;
    };
    if (redirection.type === 'HereDoc') opens(hereDocument(shell, redirection, scope));
    if (redirection.type === 'HereDoc' || redirection.target === undefined) continue;
    const { target, operator } = redirection;
    const field = shell.expander.single(target, scope);
    if (operator === '<<<') opens(streamOf([field], '\n'));
    if (operator === '<&' && own.kind !== 'fetched') opens(PIPED);
    // `2>&1`, `>&-`: not a file.
    const isDuplicate = operator === '>&' && /^(?:\d+-?|-)$/.test(field.exact ?? '');
    if (operator === '<<<' || operator === '<&' || isDuplicate) continue;
    const network = reachNetwork(shell, field);
    if (operator !== '<') new Call(shell, 'It', [], scope, input).overwrite(field, undefined);
    if (operator === '<' || operator === '<>') {
      shell.findings.touches('read', field, scope);
      opens(network ?? field.source ?? PIPED);
    }
    if (operator === '<') continue;
    // Both ends at once: `>& /dev/tcp/… 0>&1`.
    if (network !== undefined) own = network;
    if ((descriptor ?? 1) === 1) isPrinted = false;
    written.push(field);
  }
  const printed = run(own);
  for (const file of written) scope.noteWritten(file, printed);
  return isPrinted ? printed : NOTHING;
}

function hereDocument({ expander }: Interpreter, { body, delimiter }: HereDoc, scope: Scope): Stream {
  if (body.parts === undefined) return { kind: 'text', text: body.text, literal: true };
  const isPlain = delimiter?.quoted === true || body.parts.every(({ type }) => type === 'Literal');
  return streamOf([new Field(expander.parts(body.parts, scope), '', isPlain)]);
}

/** Bash itself opens a connection for `/dev/tcp/host/port`. */
function reachNetwork({ findings }: Interpreter, { shown }: Field): Stream | undefined {
  const match = /^\/dev\/(tcp|udp)\/([^/]*)\/?(.*)$/.exec(shown);
  if (match === null) return undefined;
  const [, protocol = '', host = '', port = ''] = match;
  findings.ask(`It opens a connection to ${host} (${shown}).`);
  findings.effect({ kind: 'fetch', url: `${protocol}://${host}:${port}` });
  return { kind: 'fetched', from: shown };
}

/** Returns the assignment as text, with its value if known. */
function assign(shell: Interpreter, assignment: Assignment, scope: Scope): string {
  const value = assigned(shell, assignment, scope);
  evaluateVariable({ shell, scope }, assignment.name, value);
  scope.variables.set(assignment.name, value);
  return shownAs(assignment, value);
}

/** Arrays and appended values are not followed: in other shells `x+=y` is the name of a program. */
function assigned({ expander }: Interpreter, assignment: Assignment, scope: Scope): Value {
  const { index, value, append } = assignment;
  if (index !== undefined) expander.number(index, scope);
  if (value.type === 'Word') {
    const given = expander.single(value, scope).value;
    return index === undefined && append !== true ? given : UNKNOWN;
  }
  for (const one of value.elements) expander.words(one, scope);
  return UNKNOWN;
}

function shownAs({ name, text }: Assignment, value: Value): string {
  return value.kind === 'text' && !value.assumed ? `${name}=${value.text}` : text;
}

/**
 * Runs a command given as words by the table row of its program. A computed name is `ask`, and is evaluated
 * as the program that it probably is.
 */
export function runCommandWords(shell: Interpreter, words: Words, scope: Scope, input: Stream): Stream {
  const [command, ...args] = words;
  if (command === undefined) return UNKNOWN;
  shell.step();
  if (!command.literal) shell.findings.ask(`The command is computed: ${command.shown}`);
  const path = command.known;
  // An empty expansion is not a word: the next word is the command.
  if (path === '' && !command.literal && args.length > 0) return runCommandWords(shell, args, scope, input);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const call = new Call(shell, name, args, scope, input);
  const known = findProgram(name);
  const own = scope.functions.get(path);
  if (own !== undefined) {
    // It is not known whether the function was defined by then: `false && rm() { …; }; rm …`.
    if (known !== undefined) evaluateProgram(new Call(shell, name, args, scope.copy(), input), known);
    return shell.walkFunction(own, scope, input, args);
  }
  // A program given by its path is an ordinary file, whose effects are not known.
  const isFile = path.includes('/') && (known === undefined || scope.writtenTo(command) !== undefined);
  if (isFile) call.runsFile(command);
  return known === undefined ? evaluateUnknown(call) : evaluateProgram(call, known);
}
