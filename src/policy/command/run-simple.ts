import { isSafeValue } from './expand/is-safe-arithmetic.js';
import { exactText, type Field } from './field.js';
import type { Interpreter } from './interpreter.js';
import { judgeVariable } from './judge-variable.js';
import type { Assignment, Command } from './parse-shell.js';
import { redirectInput } from './run-redirects.js';
import type { Scope, Value } from './scope.js';
import { UNKNOWN_VALUE } from './scope.js';
import { NOTHING, type Stream } from './stream.js';
import { noteWritten } from './written-files.js';

/** A simple command: assignments, words, redirections, and then what it does. */
export function runSimple(shell: Interpreter, node: Command, scope: Scope, input: Stream): Stream {
  const words = node.name === undefined ? [] : shell.expander.words(node.name, scope);
  for (const argument of node.args) {
    if (argument.type === 'Word') words.push(...shell.expander.words(argument, scope));
    else words.push(assignmentWord(shell, argument, scope));
  }
  const redirected = redirectInput(shell, node.redirects, scope, input);
  // What stands before a command holds for that command; it is kept, as if it had been set.
  for (const part of node.prefix) if (part.type === 'Assignment') assign(shell, part, scope);
  if (words.length === 0) return NOTHING;
  shell.findings.record(
    node,
    words.map(({ shown }) => shown),
  );
  const output = shell.runWords(words, scope, redirected.input);
  if (redirected.output !== undefined) noteWritten(redirected.output, scope, output);
  return redirected.isOutputElsewhere ? NOTHING : output;
}

/** `export X=…`, `declare a=(…)`: the assignment is done, and stays a word of the command. */
function assignmentWord(shell: Interpreter, assignment: Assignment, scope: Scope): Field {
  assign(shell, assignment, scope);
  const value = scope.get(assignment.name);
  const { text } = assignment;
  if (value?.kind !== 'text' || value.assumed)
    return { pieces: [{ kind: 'text', text, assumed: false }], shown: text, literal: false };
  const whole = `${assignment.name}=${value.text}`;
  return { pieces: [{ kind: 'text', text: whole, assumed: false }], shown: whole, literal: false };
}

function assign(shell: Interpreter, assignment: Assignment, scope: Scope): void {
  const { name, index } = assignment;
  if (index !== undefined) shell.expander.checkArithmetic(index, scope);
  const value = assignedValue(shell, assignment, scope);
  judgeVariable(shell, name, value, scope);
  if (scope.integers.has(name) && !isSafeValue(value, scope))
    shell.findings.ask(`${name} takes numbers only, and evaluates its value.`);
  scope.set(
    name,
    index === undefined
      ? combine(scope.get(name), value, assignment.append === true)
      : element(shell, assignment, value, scope),
  );
}

function assignedValue(shell: Interpreter, { value }: Assignment, scope: Scope): Value {
  if (value.type === 'Word') return shell.expander.value(value, scope);
  const items = value.elements.flatMap((element) => shell.expander.words(element, scope)).map(exactText);
  return items.every((item) => item !== undefined) ? { kind: 'list', items } : UNKNOWN_VALUE;
}

function combine(before: Value | undefined, value: Value, appends: boolean): Value {
  if (!appends) return value;
  if (before === undefined || before.kind === 'unknown' || value.kind === 'unknown') return UNKNOWN_VALUE;
  if (before.kind === 'text' && value.kind === 'text') {
    const text = before.text + value.text;
    return text.length > MAX_VALUE
      ? UNKNOWN_VALUE
      : { kind: 'text', text, assumed: before.assumed || value.assumed };
  }
  const list = (one: Value & { kind: 'text' | 'list' }) => (one.kind === 'text' ? [one.text] : one.items);
  const items = [...list(before), ...list(value)];
  return items.length > MAX_ITEMS ? UNKNOWN_VALUE : { kind: 'list', items };
}

const MAX_VALUE = 8_192;
const MAX_ITEMS = 512;

/** `a[2]=x`: kept where the elements are set one behind the other. */
function element(shell: Interpreter, { name, index, append }: Assignment, value: Value, scope: Scope): Value {
  const before = scope.variables.get(name);
  const items = before?.kind === 'list' ? before.items : before === undefined ? [] : undefined;
  const at = index === undefined ? undefined : shell.expander.value(index, scope);
  if (items === undefined || value.kind !== 'text' || append === true) return UNKNOWN_VALUE;
  if (at?.kind !== 'text' || !/^\d{1,3}$/.test(at.text) || Number(at.text) > items.length)
    return UNKNOWN_VALUE;
  const changed = [...items];
  changed[Number(at.text)] = value.text;
  return { kind: 'list', items: changed };
}
