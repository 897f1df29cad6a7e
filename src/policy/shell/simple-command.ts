import type { Interpreter } from './interpreter.js';
import type { ArrayValue, Assignment, Command } from './parse/parse-shell.js';
import { evaluateProgram } from './programs/program.js';
import { BASH_ALONE, DANGEROUS_NAMES, findProgram, TAKES_CODE } from './programs/table.js';
import { redirect } from './redirects.js';
import { Call } from './words/call.js';
import { COMPUTED, Field, NOTHING, type Stream, textValue, UNKNOWN, type Value } from './words/field.js';
import { couldMatch, isDescriptor, toPlace } from './words/place.js';
import { isSame, type Scope } from './words/scope.js';
import { evaluateVariable } from './words/variables.js';

/** A simple command: assignments, words, redirections, and then what it does. */
export function runSimple(shell: Interpreter, node: Command, scope: Scope, input: Stream): Stream {
  const { expander } = shell;
  const words = node.name === undefined ? [] : expander.words(node.name, scope);
  const [command] = words;
  for (const argument of node.args) {
    if (argument.type === 'Word') words.push(...expander.words(argument, scope));
    else {
      // `export X=…`, `declare a=(…)`: the assignment is done, and stays a word of the command.
      const own = declares(shell, command?.exact, argument, scope) ? scope : scope.copy();
      const text = assign(shell, argument, own);
      shell.findings.setting(text);
      words.push(Field.of(text, false));
    }
  }
  const redirected = redirect(expander, node.redirects, scope, input);
  const prefix = node.prefix.filter((part) => part.type === 'Assignment');
  const before = prefix.map(({ name }) => ({ name, own: scope.variables.get(name), value: scope.get(name) }));
  const settings = prefix.map((part) => assign(shell, part, scope));
  if (words.length === 0) {
    for (const text of settings) shell.findings.setting(text);
    return NOTHING;
  }
  shell.record(node, words, scope, settings);
  const output = shell.runWords(words, scope, redirected.input);
  const isKept = keepsAssignments(words[0]?.exact, scope);
  // What stands before a command holds for that command. Some shells keep it where the command is one of their own.
  for (const { name, own, value } of before) {
    if (isKept && value !== undefined && !isSame(scope.get(name), value)) scope.set(name, UNKNOWN);
    else if (!isKept && own !== undefined) scope.variables.set(name, own);
    else if (!isKept) scope.variables.delete(name);
  }
  if (redirected.output === undefined) return output;
  scope.noteWritten(redirected.output, output);
  return NOTHING;
}

/** `local` is for functions, and `declare` for bash; elsewhere they fail, and what was set before stays. */
function declares(shell: Interpreter, program = '', { name }: Assignment, scope: Scope): boolean {
  if (program === 'local') return scope.calls.size > 0 || !scope.variables.has(name);
  return shell.dialect === 'bash' || !/^(?:declare|typeset)$/.test(program);
}

function keepsAssignments(name: string | undefined, scope: Scope): boolean {
  return name === undefined || SPECIAL.test(name) || scope.functions.has(name);
}

const SPECIAL =
  /^(?:break|:|continue|\.|eval|exec|exit|export|readonly|return|set|shift|times|trap|unset|source|command|builtin)$/;

/** Answers with the assignment as text, its value where that is known. */
function assign(shell: Interpreter, assignment: Assignment, scope: Scope): string {
  const { name, index, value, append = false, text } = assignment;
  // To other shells `x+=y` is the name of a program.
  if (shell.dialect === 'sh' && append) return text;
  if (index !== undefined) shell.expander.number(index, scope);
  const given = value.type === 'Word' ? shell.expander.value(value, scope) : listValue(shell, value, scope);
  evaluateVariable({ shell, scope }, name, given);
  const whole = append ? joinValues(scope.get(name), given) : given;
  scope.set(name, index === undefined ? whole : listed([given]));
  const isKnown = index === undefined && whole.kind === 'text' && !whole.assumed;
  return isKnown ? `${name}=${whole.text}` : text;
}

/** Arrays are not followed. */
function listValue(shell: Interpreter, { elements }: ArrayValue, scope: Scope): Value {
  return listed(elements.flatMap((one) => shell.expander.words(one, scope)).map(({ value }) => value));
}

function listed(values: readonly Value[]): Value {
  return values.some((one) => one.kind === 'text' || one.computed) ? COMPUTED : UNKNOWN;
}

function joinValues(before: Value = UNKNOWN, value: Value): Value {
  if (before.kind !== 'text' || value.kind !== 'text') return listed([before, value]);
  const text = before.text + value.text;
  return text.length > MAX_VALUE ? UNKNOWN : textValue(text, before.assumed || value.assumed);
}

const MAX_VALUE = 8_192;

type Words = readonly Field[];

/** A command given as words: finds its row. A computed name is asked about, and evaluated as what it likely is. */
export function runCommandWords(shell: Interpreter, words: Words, scope: Scope, input: Stream): Stream {
  const [command, ...args] = words;
  if (command === undefined) return UNKNOWN;
  shell.step();
  const path = nameOf(shell, command);
  // What comes to nothing is no word: the next one is the command.
  if (path === '' && !command.literal && args.length > 0) return runCommandWords(shell, args, scope, input);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const call = new Call(shell, name, args, scope, input);
  const known = findProgram(name);
  const own = scope.functions.get(path);
  if (own !== undefined) {
    // Whether the function was defined when this runs cannot be told for certain: `false && rm() { …; }; rm …`.
    if (known !== undefined)
      evaluateProgram(new Call(shell, name, args, scope.copy(), input), known.program, known.own);
    return shell.callFunction(own, args, scope, input);
  }
  if (shell.dialect === 'sh' && BASH_ALONE.has(name)) return UNKNOWN;
  const written = path.includes('/') ? scope.contentOf(command) : undefined;
  if (written !== undefined) call.runStream(written);
  if (written?.kind === 'text' && /^#!(?!.*\b(?:ba|da|k|z|a)?sh\b)/.test(written.text))
    call.ask(`${path} was written here, and is no script of a shell.`);
  if (isDescriptor(path)) call.ask(`What is run is read from ${path}.`);
  const isBehindOperand = LEADS.test(name) && /^[^-]/.test(args[0]?.literal === true ? args[0].shown : '');
  if (TAKES_CODE.has(name) && !isBehindOperand && args.some(mayBeOptions))
    call.ask(`The options of ${name} are computed.`);
  if (known !== undefined) return evaluateProgram(call, known.program, known.own);
  // A program that lies somewhere is a file like others: what it touches is not told.
  if (path.includes('/') && written === undefined) call.findings.runsUnseen();
  const at = args.findIndex((_, index) => shell.mayBeCommand(args.slice(index), scope));
  if (at !== -1) call.ask(`${name} is not known, and may run what stands behind it: ${args[at]?.shown}`);
  return UNKNOWN;
}

/** Their own options end where the first word stands that is none. */
const LEADS = /^(?:npx|node|python[\d.]*|perl|ruby|php|lua)$/;

/** Not in quotes, and not known: it may come to any number of words. A path of the system begins with a slash. */
function mayBeOptions({ pieces: [first] }: Field): boolean {
  if (first?.kind !== 'unknown' || first.from?.kind === 'directory' || first.numeric) return false;
  return first.splits === true || first.computed === true;
}

function nameOf({ findings }: Interpreter, command: Field): string {
  if (command.literal) return command.known;
  findings.ask(`The command is computed: ${command.shown}`);
  if (!command.hasPattern) return command.known;
  const tail = toPlace(command, '.').segments.at(-1) ?? [];
  return DANGEROUS_NAMES.find((name) => couldMatch(tail, name)) ?? command.known;
}
