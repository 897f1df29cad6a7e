import { exactText, type Field, isAssumed, knownText, UNKNOWN_FIELD } from './field.js';
import type { Interpreter } from './interpreter.js';
import type { AndOr, CommandNode, CompoundList, Pipeline, Word } from './parse-shell.js';
import { type Scope, UNKNOWN_VALUE } from './scope.js';
import { settleDirectory } from './settle-directory.js';
import { joinStreams, NOTHING, type Stream, UNKNOWN } from './stream.js';

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
    settleDirectory(end);
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
  const { commands } = node;
  const [first] = commands;
  if (commands.length === 1 && first !== undefined) return shell.runCommand(first, scope, input);
  let flow = input;
  let own = scope;
  for (const command of commands) {
    own = scope.copy();
    flow = shell.runCommand(command, own, flow);
  }
  // Each part is a subshell; the last one may not be (`lastpipe`, other shells).
  scope.mergeFrom([scope.copy(), own]);
  return flow;
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
  return output.kind === 'text' && output.text !== '' ? UNKNOWN : output;
}

/** Twice: the second time without what the first has changed. */
export function runLoop(
  shell: Interpreter,
  lists: readonly CompoundList[],
  scope: Scope,
  input: Stream,
): Stream {
  const before = scope.copy();
  let output: Stream = NOTHING;
  for (const list of lists) output = joinStreams(output, shell.runList(list, scope, input));
  scope.mergeFrom([before, scope.copy()]);
  const merged = scope.copy();
  for (const list of lists) output = joinStreams(output, shell.runList(list, scope, input));
  scope.mergeFrom([merged, scope.copy()]);
  return output.kind === 'text' && output.text !== '' ? UNKNOWN : output;
}

export function runEach(
  shell: Interpreter,
  name: string,
  words: readonly Word[] | undefined,
  body: CompoundList,
  scope: Scope,
  input: Stream,
): Stream {
  const items = words?.flatMap((word) => shell.expander.words(word, scope)) ?? positionalFields(scope);
  if (items.length > MAX_ROUNDS) items.splice(MAX_ROUNDS, items.length, UNKNOWN_FIELD);
  let output: Stream = NOTHING;
  const before = scope.copy();
  for (const item of items) {
    scope.set(name, toValue(item));
    output = joinStreams(output, shell.runList(body, scope, input));
  }
  // What is not known may be no item at all.
  if (items.some((item) => exactText(item) === undefined)) scope.mergeFrom([before, scope.copy()]);
  if (items.length > 0) return output;
  scope.set(name, UNKNOWN_VALUE);
  return shell.runList(body, scope, input);
}

const MAX_ROUNDS = 12;

function positionalFields(scope: Scope): Field[] {
  if (scope.positional === undefined) return [UNKNOWN_FIELD];
  return scope.positional.map((text) => ({
    pieces: [{ kind: 'text', text, assumed: false }],
    shown: text,
    literal: false,
  }));
}

function toValue(field: Field) {
  const text = exactText(field);
  if (text !== undefined) return { kind: 'text', text, assumed: isAssumed(field) } as const;
  const isPattern = field.pieces.every((piece) => piece.kind !== 'unknown');
  return isPattern
    ? ({ kind: 'text', text: knownText(field), assumed: true, pattern: true } as const)
    : UNKNOWN_VALUE;
}
