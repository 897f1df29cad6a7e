import { toValue as toPiecesValue } from './expand/expand-parameter.js';
import { Expander } from './expand/expand-word.js';
import { isSafeValue } from './expand/is-safe-arithmetic.js';
import { exactText, type Field, isAssumed, knownText, literalField, UNKNOWN_FIELD } from './field.js';
import type { Findings } from './findings.js';
import { findForkBombs } from './fork-bomb.js';
import { judgeTree } from './judge-place.js';
import type {
  AndOr,
  ArithmeticExpression,
  CommandNode,
  CompoundList,
  FunctionNode,
  ParsedShell,
  ParseLimits,
  Pipeline,
  Script,
  Statement,
  TestExpression,
  Word,
} from './parse-shell.js';
import { parseShell } from './parse-shell.js';
import { redirectInput } from './run-redirects.js';
import { runSimple } from './run-simple.js';
import { runWords } from './run-words.js';
import { HOME, type Scope, UNKNOWN_VALUE } from './scope.js';
import { mayReadOtherwise, writeForSh } from './sh-reading.js';
import type { Dialect, Shell } from './shell.js';
import { INHERITED, joinStreams, NOTHING, type Stream, UNKNOWN } from './stream.js';
import { noteWritten } from './written-files.js';

/** Thrown within the analysis when it has looked long enough; caught where it starts. */
export class TooMuchWork extends Error {}

/**
 * Walks a script as the shell would run it, with what is known of variables, pipes and the directory. Every branch
 * is taken. Nothing depends on it for saying `allow` but that it visits each command: what is computed is asked about.
 */
export class Interpreter implements Shell {
  readonly findings: Findings;
  readonly dialect: Dialect;
  /** Something was read that other shells read otherwise. */
  mayReadOtherwise = false;
  readonly expander: Expander;
  readonly #limits: ParseLimits;
  #stepsLeft: number;
  #depth = 0;

  constructor(findings: Findings, limits: ParseLimits, steps: number, dialect: Dialect) {
    this.findings = findings;
    this.dialect = dialect;
    this.#limits = limits;
    this.#stepsLeft = steps;
    this.expander = new Expander(this, limits);
  }

  step(): void {
    if (this.#stepsLeft-- <= 0) throw new TooMuchWork();
  }

  runText(text: string, scope: Scope, input: Stream): Stream {
    if (this.#depth > 0) this.#limits.nestedCharactersLeft -= text.length;
    this.mayReadOtherwise ||= mayReadOtherwise(text);
    const parsed = this.#parse(text);
    if ('flaw' in parsed) {
      this.findings.ask(`Cannot tell what would run: ${parsed.flaw}.`);
      return UNKNOWN;
    }
    findForkBombs(parsed.script, this.findings);
    return this.runScript(parsed.script, scope, input);
  }

  #parse(text: string): ParsedShell {
    const parsed = parseShell(text, this.#limits);
    if (this.dialect === 'bash' || 'flaw' in parsed || !mayReadOtherwise(text)) return parsed;
    const written = writeForSh(text, parsed.script);
    if (written === undefined) return { flaw: 'other shells read it otherwise' };
    return written === text ? parsed : parseShell(written, this.#limits);
  }

  runScript(script: Script, scope: Scope, input: Stream): Stream {
    if (++this.#depth > MAX_DEPTH) throw new TooMuchWork();
    try {
      return this.#statements(script.commands, scope, input);
    } finally {
      this.#depth--;
    }
  }

  runWords(words: readonly Field[], scope: Scope, input: Stream): Stream {
    if (++this.#depth > MAX_DEPTH) throw new TooMuchWork();
    try {
      return runWords(this, words, scope, input);
    } finally {
      this.#depth--;
    }
  }

  /** A function that is called: its body with these arguments. */
  callFunction(node: FunctionNode, args: readonly Field[], scope: Scope, input: Stream): Stream {
    const texts = args.map(exactText);
    const isKnown = texts.every((text) => text !== undefined);
    const callee = scope.copy();
    callee.positional = isKnown ? texts : undefined;
    const inner = callee.withCalls(new Set(scope.calls).add(node.name.value));
    const output = this.#body(node, inner, input);
    for (const [name, value] of inner.variables) scope.variables.set(name, value);
    for (const [name, body] of inner.functions) scope.functions.set(name, body);
    for (const name of inner.integers) scope.integers.add(name);
    scope.directory = inner.directory;
    return output;
  }

  #statements(statements: readonly Statement[], scope: Scope, input: Stream): Stream {
    let output: Stream = NOTHING;
    for (const statement of statements) {
      this.step();
      // What runs in the background has a state of its own.
      const own = statement.background === true ? scope.copy() : scope;
      output = joinStreams(output, this.#statement(statement, own, input));
    }
    return output;
  }

  #statement({ command }: Statement, scope: Scope, input: Stream): Stream {
    const output =
      command.type === 'AndOr'
        ? this.#andOr(command, scope, input)
        : this.#pipelineNode(command, scope, input);
    settleDirectory(scope);
    return output;
  }

  /** Whether the later parts run cannot be told: behind the list, what one of them has changed is not known. */
  #andOr({ commands, operators }: AndOr, scope: Scope, input: Stream): Stream {
    let output: Stream = NOTHING;
    const ends: Scope[] = [];
    commands.forEach((part, index) => {
      const operator = operators[index - 1];
      // Behind `&&` it is certain that `cd` went well.
      if (operator === '&&') scope.cameFrom = undefined;
      // Behind `a || b` and `&&`, either of them was the last that ran.
      if (index > 1 && operator !== operators[index - 2]) scope.mergeFrom(ends);
      output = joinStreams(output, this.#pipelineNode(part, scope, input));
      const end = scope.copy();
      settleDirectory(end);
      ends.push(end);
    });
    scope.mergeFrom(ends);
    return output;
  }

  #pipelineNode(node: Pipeline | CommandNode, scope: Scope, input: Stream): Stream {
    if (node.type !== 'Pipeline') return this.#command(node, scope, input);
    const { commands } = node;
    const [first] = commands;
    if (commands.length === 1 && first !== undefined) return this.#command(first, scope, input);
    let flow = input;
    let own = scope;
    for (const command of commands) {
      own = scope.copy();
      flow = this.#command(command, own, flow);
    }
    // Each part is a subshell; the last one may not be (`lastpipe`, other shells).
    scope.mergeFrom([scope.copy(), own]);
    return flow;
  }

  #command(node: CommandNode, scope: Scope, input: Stream): Stream {
    this.step();
    switch (node.type) {
      case 'Command':
        return runSimple(this, node, scope, input);
      case 'Redirected': {
        const redirected = redirectInput(this, node.redirects, scope, input);
        const output = this.#command(node.command, scope, redirected.input);
        if (redirected.output !== undefined) noteWritten(redirected.output, scope, output);
        return redirected.isOutputElsewhere ? NOTHING : output;
      }
      case 'Function':
        return this.#define(node, scope, input);
      case 'Coproc':
        return this.#coproc(node, scope);
      case 'Subshell':
        return this.#list(node.body, scope.copy(), input);
      case 'BraceGroup':
        return this.#list(node.body, scope, input);
      case 'If':
        return this.#branches(
          [node.clause, ...node.elif.map(({ clause }) => clause)],
          [node.then, ...node.elif.map(({ then }) => then), node.else],
          scope,
          input,
        );
      case 'Case':
        this.expander.value(node.word, scope);
        for (const { pattern } of node.items) for (const word of pattern) this.expander.single(word, scope);
        return this.#branches([], [...node.items.map(({ body }) => body), undefined], scope, input);
      case 'While':
        return this.#loop([node.clause, node.body], scope, input);
      case 'For':
      case 'Select':
        return this.#each(node.name.value, node.wordlist, node.body, scope, input);
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) this.#arithmetic(part, scope);
        return this.#loop([node.body], scope, input);
      case 'ArithmeticCommand':
        this.#arithmetic(node.expression, scope);
        return NOTHING;
      case 'TestCommand':
        this.#test(node.expression, scope);
        return NOTHING;
    }
  }

  #list(list: CompoundList, scope: Scope, input: Stream): Stream {
    return this.#statements(list.commands, scope, input);
  }

  #define(node: FunctionNode, scope: Scope, input: Stream): Stream {
    const name = node.name.value;
    scope.functions.set(name, node);
    // Walked now too, with arguments that are not known: it may be called in a way that is not seen.
    const inner = scope.copy();
    inner.positional = undefined;
    this.#body(
      node,
      inner.withCalls(new Set(scope.calls).add(name)),
      input.kind === 'text' ? INHERITED : input,
    );
    return NOTHING;
  }

  #body({ body }: FunctionNode, scope: Scope, input: Stream): Stream {
    if (++this.#depth > MAX_DEPTH) throw new TooMuchWork();
    try {
      return body.type === 'CompoundList'
        ? this.#list(body, scope, input)
        : this.#command(body, scope, input);
    } finally {
      this.#depth--;
    }
  }

  #coproc({ body }: Extract<CommandNode, { type: 'Coproc' }>, scope: Scope): Stream {
    if (body.type === 'CompoundList') this.#list(body, scope.copy(), UNKNOWN);
    else this.#command(body, scope.copy(), UNKNOWN);
    return NOTHING;
  }

  #branches(
    clauses: readonly CompoundList[],
    bodies: readonly (CompoundList | undefined)[],
    scope: Scope,
    input: Stream,
  ): Stream {
    let output: Stream = NOTHING;
    for (const clause of clauses) output = joinStreams(output, this.#list(clause, scope, input));
    const ends = bodies.map((body) => {
      const branch = scope.copy();
      if (body !== undefined) output = joinStreams(output, this.#list(body, branch, input));
      return branch;
    });
    scope.mergeFrom(ends);
    return output.kind === 'text' && output.text !== '' ? UNKNOWN : output;
  }

  /** Twice: the second time without what the first has changed. */
  #loop(lists: readonly CompoundList[], scope: Scope, input: Stream): Stream {
    const before = scope.copy();
    let output: Stream = NOTHING;
    for (const list of lists) output = joinStreams(output, this.#list(list, scope, input));
    scope.mergeFrom([before, scope.copy()]);
    const merged = scope.copy();
    for (const list of lists) output = joinStreams(output, this.#list(list, scope, input));
    scope.mergeFrom([merged, scope.copy()]);
    return output.kind === 'text' && output.text !== '' ? UNKNOWN : output;
  }

  #each(
    name: string,
    words: readonly Word[] | undefined,
    body: CompoundList,
    scope: Scope,
    input: Stream,
  ): Stream {
    const items = words?.flatMap((word) => this.expander.words(word, scope)) ?? positionalFields(scope);
    if (items.length > MAX_ROUNDS) items.splice(MAX_ROUNDS, items.length, UNKNOWN_FIELD);
    let output: Stream = NOTHING;
    const before = scope.copy();
    for (const item of items) {
      scope.set(name, toValue(item));
      output = joinStreams(output, this.#list(body, scope, input));
    }
    // What is not known may be no item at all.
    if (items.some((item) => exactText(item) === undefined)) scope.mergeFrom([before, scope.copy()]);
    if (items.length > 0) return output;
    scope.set(name, UNKNOWN_VALUE);
    return this.#list(body, scope, input);
  }

  #arithmetic(expression: ArithmeticExpression | undefined, scope: Scope): void {
    if (expression === undefined) return;
    this.expander.arithmetic(expression, scope);
    for (const name of assignedNames(expression)) scope.set(name, { kind: 'unknown', numeric: true });
  }

  #test(expression: TestExpression, scope: Scope): void {
    switch (expression.type) {
      case 'TestUnary':
        this.#testOperand(
          expression.operator === '-v' || expression.operator === '-R',
          expression.operand,
          scope,
        );
        return;
      case 'TestBinary': {
        const isArithmetic = /^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator);
        this.#testOperand(isArithmetic, expression.left, scope);
        this.#testOperand(isArithmetic, expression.right, scope);
        return;
      }
      case 'TestLogical':
        for (const operand of expression.operands) this.#test(operand, scope);
        return;
      case 'TestNot':
        this.#test(expression.operand, scope);
        return;
      case 'TestGroup':
        this.#test(expression.expression, scope);
    }
  }

  /** `[[ a[$(…)] -eq 1 ]]` runs what is in the index. */
  #testOperand(isEvaluated: boolean, word: Word, scope: Scope): void {
    const field = this.expander.single(word, scope);
    if (!isEvaluated) return;
    if (!isSafeValue(toPiecesValue(field.pieces), scope))
      this.findings.ask('A test evaluates a value that is not known.');
  }
}

const MAX_DEPTH = 60;
const MAX_ROUNDS = 12;

/** A `cd` that fails leaves the shell where it was; that matters where nothing may be removed. */
function settleDirectory(scope: Scope): void {
  const { cameFrom, directory } = scope;
  scope.cameFrom = undefined;
  if (cameFrom === undefined || directory === cameFrom || isAlwaysThere(directory)) return;
  if (judgeTree(literalField('.'), cameFrom) !== 'ordinary') scope.directory = undefined;
}

function isAlwaysThere(directory: string | undefined): boolean {
  return directory === '/' || directory === '/tmp' || directory === HOME;
}

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

function assignedNames(node: ArithmeticExpression): string[] {
  switch (node.type) {
    case 'ArithmeticBinary': {
      const own =
        /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator) && node.left.type === 'ArithmeticWord'
          ? [node.left.value]
          : [];
      return [...own, ...assignedNames(node.left), ...assignedNames(node.right)];
    }
    case 'ArithmeticUnary':
      if (/^(?:\+\+|--)$/.test(node.operator) && node.operand.type === 'ArithmeticWord')
        return [node.operand.value];
      return assignedNames(node.operand);
    case 'ArithmeticTernary':
      return [node.test, node.consequent, node.alternate].flatMap(assignedNames);
    case 'ArithmeticGroup':
      return assignedNames(node.expression);
    default:
      return [];
  }
}
