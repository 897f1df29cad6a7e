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
export function runAndOr(shell: Interpreter, node: AndOr, scope: Scope, input: Stream): Stream {
  const { commands, operators } = node;
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

type Piped = Pipeline | CommandNode;

export function runPipeline(shell: Interpreter, node: Piped, scope: Scope, input: Stream): Stream {
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

/** What `if` and `case` run; `undefined`: none of the bodies. */
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

/** Twice: the second time without what the first has changed. */
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

/** How often or whether it is printed cannot be told. */
function unlessText(output: Stream): Stream {
  return output.kind === 'text' && output.text !== '' ? UNKNOWN : output;
}

interface Loop {
  readonly name: Word;
  readonly wordlist?: readonly Word[] | undefined;
  readonly body: CompoundList;
}

/** `for` and `select`: once for each word that is known, as far as they are few. */
export function runEach(shell: Interpreter, node: Loop, scope: Scope, input: Stream): Stream {
  const words = node.wordlist?.flatMap((word) => shell.expander.words(word, scope)) ?? [];
  const items = words.slice(0, MAX_ROUNDS);
  if (items.length === 0 || words.length > MAX_ROUNDS) items.push(UNKNOWN_WORD);
  let output: Stream = NOTHING;
  const before = scope.copy();
  for (const item of items) {
    setVariable({ shell, scope }, node.name.value, itemValue(item));
    output = joinStreams(output, shell.runList(node.body, scope, input));
  }
  // What is not known may be no item at all.
  if (items.some((item) => item.exact === undefined)) scope.mergeFrom([before, scope.copy()]);
  return output;
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
