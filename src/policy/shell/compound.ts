import type { Interpreter } from './interpreter.js';
import type { AndOr, CommandNode, CompoundList, Pipeline, Word } from './parse/parse-shell.js';
import { dangerOfTree } from './words/danger.js';
import {
  COMPUTED,
  Field,
  joinStreams,
  NOTHING,
  type Stream,
  textValue,
  UNKNOWN,
  type Value,
} from './words/field.js';
import { HOME, type Scope } from './words/scope.js';
import { setVariable } from './words/variables.js';

/** Whether the later parts run cannot be told: behind the list, what one of them has changed is not known. */
export function runAndOr(
  shell: Interpreter,
  { commands, operators }: AndOr,
  scope: Scope,
  input: Stream,
): Stream {
  let output: Stream = NOTHING;
  const ends: Scope[] = [];
  commands.forEach((part, index) => {
    const operator = operators[index - 1];
    // Behind `&&` it is certain that `cd` went well.
    if (operator === '&&') scope.cameFrom = undefined;
    // Behind `a || b` and `&&`, either of them was the last that ran.
    if (index > 1 && operator !== operators[index - 2]) scope.mergeFrom(ends);
    output = joinStreams(output, runPipeline(shell, part, scope, input));
    const end = scope.copy();
    confirmDirectory(end);
    ends.push(end);
  });
  scope.mergeFrom(ends);
  return output;
}

export function runPipeline(
  shell: Interpreter,
  node: Pipeline | CommandNode,
  scope: Scope,
  input: Stream,
): Stream {
  if (node.type !== 'Pipeline') return shell.runCommand(node, scope, input);
  const [first, ...more] = node.commands;
  if (first !== undefined && more.length === 0) return shell.runCommand(first, scope, input);
  let flow = input;
  let own = scope;
  let recursive = 0;
  for (const command of node.commands) {
    const before = shell.recursions;
    own = scope.fork();
    flow = shell.runCommand(command, own, flow);
    if (shell.recursions > before) recursive++;
  }
  if (recursive > 1) shell.findings.block('a function starts itself again and again (a fork bomb).');
  // Each part is a subshell; the last one may not be (`lastpipe`, other shells).
  scope.mergeFrom([scope.copy(), own]);
  return flow;
}

/** A `cd` that fails leaves the shell where it was; that matters where nothing may be removed. */
export function confirmDirectory(scope: Scope): void {
  const { cameFrom, directory } = scope;
  scope.cameFrom = undefined;
  const isAlwaysThere = directory === '/' || directory === '/tmp' || directory === HOME;
  if (cameFrom === undefined || directory === cameFrom || isAlwaysThere) return;
  if (dangerOfTree(Field.of('.'), cameFrom) !== 'ordinary') scope.directory = undefined;
}

export function runBranches(
  shell: Interpreter,
  clauses: readonly CompoundList[],
  bodies: readonly (CompoundList | undefined)[],
  scope: Scope,
  input: Stream,
): Stream {
  let output: Stream = NOTHING;
  for (const clause of clauses) output = joinStreams(output, shell.runList(clause, scope, input));
  const ends = bodies.map((body) => {
    const branch = scope.copy();
    if (body !== undefined) output = joinStreams(output, shell.runList(body, branch, input));
    return branch;
  });
  scope.mergeFrom(ends);
  return unlessText(output);
}

/** How often or whether it is printed cannot be told. */
function unlessText(output: Stream): Stream {
  return output.kind === 'text' && output.text !== '' ? UNKNOWN : output;
}

/** Twice: the second time without what the first has changed. */
export function runLoop(
  shell: Interpreter,
  lists: readonly CompoundList[],
  scope: Scope,
  input: Stream,
): Stream {
  let output: Stream = NOTHING;
  for (let round = 0; round < 2; round++) {
    const before = scope.copy();
    for (const list of lists) output = joinStreams(output, shell.runList(list, scope, input));
    scope.mergeFrom([before, scope.copy()]);
  }
  return unlessText(output);
}

export function runEach(
  shell: Interpreter,
  name: string,
  words: readonly Word[] | undefined,
  body: CompoundList,
  scope: Scope,
  input: Stream,
): Stream {
  const items = words?.flatMap((word) => shell.expander.words(word, scope)) ?? [UNKNOWN_WORD];
  if (items.length > MAX_ROUNDS) items.splice(MAX_ROUNDS, items.length, UNKNOWN_WORD);
  let output: Stream = NOTHING;
  const before = scope.copy();
  for (const item of items) {
    setVariable({ shell, scope }, name, itemValue(item));
    output = joinStreams(output, shell.runList(body, scope, input));
  }
  // What is not known may be no item at all.
  if (items.some((item) => item.exact === undefined)) scope.mergeFrom([before, scope.copy()]);
  if (items.length > 0) return output;
  setVariable({ shell, scope }, name, UNKNOWN);
  return shell.runList(body, scope, input);
}

const MAX_ROUNDS = 12;

/** What the arguments are, where a loop goes over them. */
const UNKNOWN_WORD = new Field([UNKNOWN], '$?');

function itemValue(field: Field): Value {
  if (field.exact !== undefined) return textValue(field.exact, field.isAssumed);
  if (field.isComputed) return COMPUTED;
  const isPattern = field.pieces.every((piece) => piece.kind !== 'unknown');
  return isPattern ? { kind: 'text', text: field.known, assumed: true, pattern: true } : UNKNOWN;
}
