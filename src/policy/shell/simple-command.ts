import type { Interpreter } from './interpreter.js';
import type { ArrayValue, Assignment, Command } from './parse/parse-shell.js';
import { evaluateProgram } from './programs/program.js';
import { BASH_ALONE, DANGEROUS_NAMES, findProgram, TAKES_CODE } from './programs/table.js';
import { redirect } from './redirects.js';
import { type Call, runStream } from './words/call.js';
import {
  exactText,
  type Field,
  knownText,
  literalField,
  NOTHING,
  type Piece,
  type Stream,
  UNKNOWN,
} from './words/field.js';
import { couldMatch, isDescriptor } from './words/place.js';
import {
  COMPUTED_VALUE,
  isSame,
  type Scope,
  textValue,
  toValue,
  UNKNOWN_VALUE,
  type Value,
} from './words/scope.js';
import { evaluateVariable } from './words/variables.js';

/** A simple command: assignments, words, redirections, and then what it does. */
export function runSimple(shell: Interpreter, node: Command, scope: Scope, input: Stream): Stream {
  const words = node.name === undefined ? [] : shell.expander.words(node.name, scope);
  const [command] = words;
  for (const argument of node.args) {
    if (argument.type === 'Word') words.push(...shell.expander.words(argument, scope));
    else {
      const own = declares(shell, command, argument, scope) ? scope : scope.copy();
      words.push(assignmentWord(shell, argument, own));
    }
  }
  const redirected = redirect(shell, shell.expander, node.redirects, scope, input);
  const prefix = node.prefix.filter((part) => part.type === 'Assignment');
  const before = prefix.map(({ name }) => ({ name, own: scope.variables.get(name), value: scope.get(name) }));
  const settings = prefix.map((part) => assign(shell, part, scope));
  if (words.length === 0) {
    for (const text of settings) shell.findings.setting(text);
    return NOTHING;
  }
  shell.record(node, words, scope, settings);
  const output = shell.runWords(words, scope, redirected.input);
  const isKept = keepsAssignments(words[0], scope);
  for (const one of before) takeBack(one, scope, isKept);
  if (redirected.output !== undefined) scope.noteWritten(redirected.output, output);
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
  const text = assign(shell, assignment, scope);
  shell.findings.setting(text);
  return literalField(text, false);
}

/** Answers with the assignment as text, its value where that is known. */
function assign(shell: Interpreter, assignment: Assignment, scope: Scope): string {
  const { name, index, value, append = false, text } = assignment;
  // To other shells `x+=y` is the name of a program.
  if (shell.dialect === 'sh' && append) return text;
  if (index !== undefined) shell.expander.number(index, scope);
  const given = value.type === 'Word' ? shell.expander.value(value, scope) : listValue(shell, value, scope);
  evaluateVariable(shell, name, given, scope);
  const whole = append ? joinValues(scope.get(name), given) : given;
  scope.set(name, index === undefined ? whole : listed([given]));
  const isKnown = index === undefined && whole.kind === 'text' && !whole.assumed;
  return isKnown ? `${name}=${whole.text}` : text;
}

/** Arrays are not followed. */
function listValue(shell: Interpreter, { elements }: ArrayValue, scope: Scope): Value {
  return listed(
    elements.flatMap((one) => shell.expander.words(one, scope)).map(({ pieces }) => toValue(pieces)),
  );
}

function listed(values: readonly Value[]): Value {
  return values.some((one) => one.kind === 'text' || one.computed) ? COMPUTED_VALUE : UNKNOWN_VALUE;
}

function joinValues(before: Value | undefined, value: Value): Value {
  if (before?.kind !== 'text' || value.kind !== 'text') return listed([before ?? UNKNOWN_VALUE, value]);
  const text = before.text + value.text;
  return text.length > MAX_VALUE ? UNKNOWN_VALUE : textValue(text, before.assumed || value.assumed);
}

const MAX_VALUE = 8_192;

/** A command given as words: finds its row. A computed name is asked about, and evaluated as what it likely is. */
export function runCommandWords(
  shell: Interpreter,
  words: readonly Field[],
  scope: Scope,
  input: Stream,
): Stream {
  const [command, ...args] = words;
  if (command === undefined) return UNKNOWN;
  shell.step();
  const path = nameOf(shell, command);
  // What comes to nothing is no word: the next one is the command.
  if (path === '' && !command.literal && args.length > 0) return runCommandWords(shell, args, scope, input);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const { findings, dialect } = shell;
  const call: Call = { shell, findings, scope, input, name, words: args };
  const program = findProgram(name);
  const own = scope.functions.get(path);
  if (own !== undefined) {
    // Whether the function was defined when this runs cannot be told for certain: `false && rm() { …; }; rm …`.
    if (program !== undefined) evaluateProgram({ ...call, scope: scope.copy() }, program);
    return shell.callFunction(own, args, scope, input);
  }
  if (dialect === 'sh' && BASH_ALONE.has(name)) return UNKNOWN;
  const written = path.includes('/') ? scope.contentOf(command) : undefined;
  if (written !== undefined) runStream(call, written);
  if (written?.kind === 'text' && /^#!(?!.*\b(?:ba|da|k|z|a)?sh\b)/.test(written.text))
    findings.ask(`${path} was written here, and is no script of a shell.`);
  if (isDescriptor(path)) findings.ask(`What is run is read from ${path}.`);
  const isBehindOperand = LEADS.test(name) && /^[^-]/.test(args[0]?.literal === true ? args[0].shown : '');
  if (TAKES_CODE.has(name) && !isBehindOperand && args.some(mayBeOptions))
    findings.ask(`The options of ${name} are computed.`);
  if (program !== undefined) return evaluateProgram(call, program);
  // A program that lies somewhere is a file like others: what it touches is not told.
  if (path.includes('/') && written === undefined) findings.runsUnseen();
  const at = args.findIndex((_, index) => shell.mayBeCommand(args.slice(index), scope));
  if (at !== -1) findings.ask(`${name} is not known, and may run what stands behind it: ${args[at]?.shown}`);
  return UNKNOWN;
}

/** Their own options end where the first word stands that is none. */
const LEADS = /^(?:npx|node|python[\d.]*|perl|ruby|php|lua)$/;

/** Not in quotes, and not known: it may come to any number of words. A path of the system begins with a slash. */
function mayBeOptions({ pieces: [first] }: Field): boolean {
  if (first?.kind === 'unknown' && first.from?.kind === 'directory') return false;
  return first?.kind === 'unknown' && (first.splits || first.computed === true) && !first.numeric;
}

function nameOf({ findings }: Interpreter, command: Field): string {
  if (command.literal) return exactText(command) ?? '';
  findings.ask(`The command is computed: ${command.shown}`);
  const text = knownText(command);
  if (!command.pieces.some(({ kind }) => kind === 'glob')) return text;
  const last = lastSegment(command.pieces);
  return DANGEROUS_NAMES.find((name) => couldMatch(last, name)) ?? text.slice(text.lastIndexOf('/') + 1);
}

function lastSegment(pieces: readonly Piece[]): readonly Piece[] {
  const at = pieces.findLastIndex((piece) => piece.kind === 'text' && piece.text.includes('/'));
  const slash = pieces[at];
  if (slash?.kind !== 'text') return pieces;
  return [{ ...slash, text: slash.text.slice(slash.text.lastIndexOf('/') + 1) }, ...pieces.slice(at + 1)];
}
