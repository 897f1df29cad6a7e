import type { Interpreter } from './interpreter.js';
import {
  type AndOr,
  type CommandNode,
  type CompoundList,
  type FunctionNode,
  holds,
  type Pipeline,
  type SyntaxNode,
  type Word,
} from './parse/parse-shell.js';
import { setVariable } from './words/call.js';
import { Field, joinStreams, NOTHING, PIPED, type Stream, UNKNOWN, type Value } from './words/field.js';
import type { Scope } from './words/scope.js';

/** It is not known whether the later parts run, so their changes are not known after the list. */
export function runAndOr(shell: Interpreter, node: AndOr, scope: Scope, input: Stream): Stream {
  const { commands, operators } = node;
  let output: Stream = NOTHING;
  const ends: Scope[] = [];
  commands.forEach((part, index) => {
    const operator = operators[index - 1];
    // After `a || b`, before `&&`, either of them may have been the last that ran.
    if (index > 1 && operator !== operators[index - 2]) scope.mergeFrom(ends);
    output = joinStreams(output, runPipeline(shell, part, scope, input));
    ends.push(scope.copy());
  });
  scope.mergeFrom(ends);
  return output;
}

type Piped = Pipeline | CommandNode;

export function runPipeline(shell: Interpreter, node: Piped, scope: Scope, input: Stream): Stream {
  if (node.type !== 'Pipeline') return shell.runCommand(node, scope, input);
  const [first, ...more] = node.commands;
  if (first !== undefined && more.length === 0) return shell.runCommand(first, scope, input);
  let flow = input;
  let own = scope;
  for (const command of node.commands) {
    own = scope.copy();
    flow = shell.runCommand(command, own, flow === UNKNOWN && command !== first ? PIPED : flow);
  }
  // Each part is a subshell, except that the last one may not be (`lastpipe`, other shells).
  scope.mergeFrom([scope.copy(), own]);
  return flow;
}

/** The bodies that `if` and `case` may run; `undefined`: none. */
interface Branches {
  readonly clauses: readonly CompoundList[];
  readonly bodies: readonly (CompoundList | undefined)[];
}

export function runBranches(shell: Interpreter, node: Branches, scope: Scope, input: Stream): Stream {
  let output = runAll(shell, node.clauses, scope, input);
  const ends = node.bodies.map((body) => {
    const branch = scope.copy();
    if (body !== undefined) output = joinStreams(output, shell.runList(body, branch, input));
    return branch;
  });
  scope.mergeFrom(ends);
  return unlessText(output);
}

type Lists = readonly CompoundList[];

/** Walked twice: in the second round, values that the first one changed are unknown. */
export function runLoop(shell: Interpreter, lists: Lists, scope: Scope, input: Stream): Stream {
  let output: Stream = NOTHING;
  for (let round = 0; round < 2; round++) {
    const before = scope.copy();
    output = joinStreams(output, runAll(shell, lists, scope, input));
    scope.mergeFrom([before, scope.copy()]);
  }
  return unlessText(output);
}

function runAll(shell: Interpreter, lists: Lists, scope: Scope, input: Stream): Stream {
  return lists.reduce((output, list) => joinStreams(output, shell.runList(list, scope, input)), NOTHING);
}

/** It is not known how often it is printed. */
function unlessText(output: Stream): Stream {
  return output.kind === 'text' && output.text !== '' ? UNKNOWN : output;
}

/** A loop that apparently never ends, starts background processes and waits for none. */
export function checkLoop({ findings }: Interpreter, body: CompoundList, condition?: CompoundList): void {
  const inFront = body.commands.filter(({ background }) => background !== true);
  if (inFront.length === body.commands.length) return;
  const isEndless =
    condition === undefined || !holdsCommand(condition, (name) => !/^(?::|true|false|\[|test)$/.test(name));
  if (isEndless && !inFront.some((one) => holdsCommand(one, (name) => ENDS_OR_WAITS.test(name))))
    findings.ask('A loop without end starts processes and waits for none.');
}

const ENDS_OR_WAITS = /^(?:wait|sleep|read|break|exit|return|inotifywait|usleep|select)$/;

/** A function that starts itself in the background, or twice in a pipe. Less obvious cases are `ask`. */
export function isForkBomb({ body, name }: FunctionNode): boolean {
  const isItself = (node: SyntaxNode): boolean => holdsCommand(node, (one) => one === name.value);
  return holds(body, (node) => {
    if (node.type === 'Statement') return node.background === true && isItself(node);
    return node.type === 'Pipeline' && node.commands.filter(isItself).length > 1;
  });
}

function holdsCommand(node: SyntaxNode, isMeant: (name: string) => boolean): boolean {
  return holds(node, (inner) => inner.type === 'Command' && isMeant(inner.name?.value ?? ''));
}

interface Loop {
  readonly name: Word;
  readonly wordlist?: readonly Word[] | undefined;
  readonly body: CompoundList;
}

/** `for` and `select`: walked once for each known word, if there are few. */
export function runEach(shell: Interpreter, node: Loop, scope: Scope, input: Stream): Stream {
  const words = node.wordlist?.flatMap((word) => shell.expander.words(word, scope)) ?? [];
  const items = words.slice(0, MAX_ROUNDS);
  if (items.length === 0 || words.length > MAX_ROUNDS) items.push(new Field([UNKNOWN], '$?'));
  let output: Stream = NOTHING;
  const before = scope.copy();
  for (const item of items) {
    setVariable({ shell, scope }, node.name.value, itemValue(item));
    output = joinStreams(output, shell.runList(node.body, scope, input));
  }
  // An unknown value may be no item at all.
  if (items.some((item) => item.exact === undefined)) scope.mergeFrom([before, scope.copy()]);
  return output;
}

const MAX_ROUNDS = 12;

function itemValue(field: Field): Value {
  if (!field.hasPattern || field.pieces.some(({ kind }) => kind === 'unknown')) return field.value;
  return { kind: 'text', text: field.known, assumed: true, pattern: true };
}
