import type { Call } from '../words/call.js';
import { Field, type Stream, textValue, UNKNOWN } from '../words/field.js';
import { Options } from '../words/options.js';
import { evaluateVariable } from '../words/variables.js';
import type { Evaluators, Program } from './program.js';

/** Programs that run a command that stands among their words, and do more than columns say. */
export const WRAPPERS: Evaluators = {
  watch: (call, { operands }) => (operands.length === 0 ? UNKNOWN : call.runCode(Field.join(operands))),
};

/** Finds the command behind the wrapper's options. What cannot be read as an option for sure is asked about. */
export function unwrap(call: Call, given: Options, program: Program): Stream {
  const { name, scope } = call;
  // The command of some stands behind words of their own: `docker exec`.
  const start = program.pattern('runs');
  const [lead] = start?.exec(`${call.shown}\n`) ?? [];
  if (start !== undefined && lead === undefined) return UNKNOWN;
  const words = lead === undefined ? call.words : call.words.slice(lead.split('\n').length - 1);
  const { short, long } = program;
  const options = lead === undefined ? given : new Options(words, { short, long, leads: true });
  const isMarked = program.has('assigns') && options.operands[0]?.shown === '-';
  const operands = options.operands.slice(isMarked ? 1 : 0);
  const head = words.slice(0, words.length - operands.length);
  if (head.some(({ literal, shown }) => !literal && shown.startsWith('-')))
    call.ask(`The options of ${name} are computed.`);
  const settings: string[] = [];
  const rest = program.has('assigns') ? skipAssignments(call, operands, settings) : operands;
  const isBefore = program.pattern('before')?.test(rest[0]?.shown ?? '');
  const skipped = Number(program.text('before') ?? isBefore ?? 0);
  // A word that is not known may be the command, or an option that takes it.
  if (rest.slice(0, skipped).some(({ hasPattern, isLoose }) => hasPattern || isLoose))
    call.ask(`The words before the command of ${name} are computed.`);
  const command = rest.slice(skipped);
  // `flock FILE -c CODE`
  const code = /^(?:-c|--command)$/.test(command[0]?.shown ?? '') ? command[1] : undefined;
  if (code !== undefined) return call.runCode(code);
  // Some take a single word for code: `xterm -e 'CODE'`, `pnpm -c exec 'CODE'`.
  const [only, ...more] = command;
  if (only !== undefined && more.length === 0 && /\s/.test(only.known)) call.runText(only.known);
  if (command.length === 0)
    return program.pattern('shell')?.test(head.map(({ shown }) => shown).join('\n')) === true
      ? call.runStream()
      : UNKNOWN;
  // `command rm` and `builtin cd` go past functions, and change the shell that runs them.
  const isOwn = name === 'command' || name === 'builtin';
  if (isOwn) scope.functions.clear();
  const isMoved =
    program.text('moves') !== undefined ||
    options.given.some((one) => program.pattern('moves')?.test(one.name));
  const inner = isOwn ? scope : scope.copy(isMoved ? { directory: undefined, elsewhere: [] } : {});
  return call.runRest(command, inner, call.input, settings);
}

/** Whatever is before the `=`: `BASH_FUNC_ls%%=() { …; }` is handed on too, and so is `=1`, which has no name. */
function skipAssignments(call: Call, words: readonly Field[], settings: string[]): readonly Field[] {
  for (const [at, word] of words.entries()) {
    const equals = word.shown.indexOf('=');
    if (equals === -1) return words.slice(at);
    const name = word.shown.slice(0, equals);
    const text = word.dropPrefix(equals + 1).exact;
    evaluateVariable(call, name, text === undefined ? UNKNOWN : textValue(text));
    settings.push(`${name}=${text ?? '?'}`);
    call.scope.set(name, UNKNOWN);
  }
  return [];
}
