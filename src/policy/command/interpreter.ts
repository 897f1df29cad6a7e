import { checkArithmetic, checkTest } from './check-expression.js';
import { Expander } from './expand/expand-word.js';
import { exactText, type Field } from './field.js';
import type { Findings } from './findings.js';
import { findForkBombs } from './fork-bomb.js';
import type {
  CommandNode,
  CompoundList,
  FunctionNode,
  ParsedShell,
  ParseLimits,
  Script,
  Statement,
} from './parse-shell.js';
import { parseShell } from './parse-shell.js';
import { runAndOr, runBranches, runEach, runLoop, runPipeline } from './run-compound.js';
import { redirectInput } from './run-redirects.js';
import { runSimple } from './run-simple.js';
import { runWords } from './run-words.js';
import type { Scope } from './scope.js';
import { settleDirectory } from './settle-directory.js';
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
        ? runAndOr(this, command, scope, input)
        : runPipeline(this, command, scope, input);
    settleDirectory(scope);
    return output;
  }

  runCommand(node: CommandNode, scope: Scope, input: Stream): Stream {
    this.step();
    switch (node.type) {
      case 'Command':
        return runSimple(this, node, scope, input);
      case 'Redirected': {
        const redirected = redirectInput(this, node.redirects, scope, input);
        const output = this.runCommand(node.command, scope, redirected.input);
        if (redirected.output !== undefined) noteWritten(redirected.output, scope, output);
        return redirected.isOutputElsewhere ? NOTHING : output;
      }
      case 'Function':
        return this.#define(node, scope, input);
      case 'Coproc':
        return this.#coproc(node, scope);
      case 'Subshell':
        return this.runList(node.body, scope.copy(), input);
      case 'BraceGroup':
        return this.runList(node.body, scope, input);
      case 'If':
        return runBranches(
          this,
          [node.clause, ...node.elif.map(({ clause }) => clause)],
          [node.then, ...node.elif.map(({ then }) => then), node.else],
          scope,
          input,
        );
      case 'Case':
        this.expander.value(node.word, scope);
        for (const { pattern } of node.items) for (const word of pattern) this.expander.single(word, scope);
        return runBranches(this, [], [...node.items.map(({ body }) => body), undefined], scope, input);
      case 'While':
        return runLoop(this, [node.clause, node.body], scope, input);
      case 'For':
      case 'Select':
        return runEach(this, node.name.value, node.wordlist, node.body, scope, input);
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) checkArithmetic(this, part, scope);
        return runLoop(this, [node.body], scope, input);
      case 'ArithmeticCommand':
        checkArithmetic(this, node.expression, scope);
        return NOTHING;
      case 'TestCommand':
        checkTest(this, node.expression, scope);
        return NOTHING;
    }
  }

  runList(list: CompoundList, scope: Scope, input: Stream): Stream {
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
        ? this.runList(body, scope, input)
        : this.runCommand(body, scope, input);
    } finally {
      this.#depth--;
    }
  }

  #coproc({ body }: Extract<CommandNode, { type: 'Coproc' }>, scope: Scope): Stream {
    if (body.type === 'CompoundList') this.runList(body, scope.copy(), UNKNOWN);
    else this.runCommand(body, scope.copy(), UNKNOWN);
    return NOTHING;
  }
}

const MAX_DEPTH = 60;
