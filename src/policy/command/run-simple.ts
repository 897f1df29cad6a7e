import { isSafeValue } from './expand/is-safe-arithmetic.js';
import { exactText, type Field } from './field.js';
import type { Interpreter } from './interpreter.js';
import { judgeVariable } from './judge-variable.js';
import type { Assignment, Command } from './parse-shell.js';
import { redirectInput } from './run-redirects.js';
import type { Scope, Value } from './scope.js';
import { isSame, UNKNOWN_VALUE } from './scope.js';
import { NOTHING, type Stream } from './stream.js';
import { noteWritten } from './written-files.js';

/** A simple command: assignments, words, redirections, and then what it does. */
export function runSimple(shell: Interpreter, node: Command, scope: Scope, input: Stream): Stream {
  const words = node.name === undefined ? [] : shell.expander.words(node.name, scope);
  const [command] = words;
  for (const argument of node.args) {
    if (argument.type === 'Word') words.push(...shell.expander.words(argument, scope));
    else
      words.push(
        assignmentWord(shell, argument, declares(shell, command, argument, scope) ? scope : scope.copy()),
      );
  }
  const redirected = redirectInput(shell, node.redirects, scope, input);
  const prefix = node.prefix.filter((part) => part.type === 'Assignment');
  const before = prefix.map(({ name }) => ({ name, own: scope.variables.get(name), value: scope.get(name) }));
  for (const part of prefix) assign(shell, part, scope);
  if (words.length === 0) return NOTHING;
  shell.findings.record(
    node,
    words.map(({ shown }) => shown),
  );
  const output = shell.runWords(words, scope, redirected.input);
  const isKept = keepsAssignments(words[0], scope);
  for (const one of before) takeBack(one, scope, isKept);
  if (redirected.output !== undefined) noteWritten(redirected.output, scope, output);
  return redirected.isOutputElsewhere ? NOTHING : output;
}

/** `local` is for functions, and `declare` for bash; elsewhere they fail, and what was set before stays. */
function declares(
  { dialect }: Interpreter,
  command: Field | undefined,
  { name }: Assignment,
  scope: Scope,
): boolean {
  const program = command === undefined ? undefined : exactText(command);
  if (program === 'local') return scope.calls.size > 0 || !scope.variables.has(name);
  return dialect === 'bash' || !/^(?:declare|typeset)$/.test(program ?? '');
}

interface Before {
  readonly name: string;
  readonly own: Value | undefined;
  readonly value: Value | undefined;
}

/** What stands before a command holds for that command. Some shells keep it where the command is one of their own. */
function takeBack({ name, own, value }: Before, scope: Scope, isKept: boolean): void {
  if (isKept && value !== undefined && !isSame(scope.get(name), value)) scope.set(name, UNKNOWN_VALUE);
  else if (!isKept && own !== undefined) scope.variables.set(name, own);
  else if (!isKept) scope.variables.delete(name);
}

function keepsAssignments(command: Field | undefined, scope: Scope): boolean {
  const name = command === undefined ? undefined : exactText(command);
  return name === undefined || SPECIAL.test(name) || scope.functions.has(name);
}

const SPECIAL =
  /^(?:break|:|continue|\.|eval|exec|exit|export|readonly|return|set|shift|times|trap|unset|source|command|builtin)$/;

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
  // To other shells `x+=y` is the name of a program.
  if (shell.dialect === 'sh' && assignment.append === true) return;
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
