import { checkLoop, isForkBomb, runAndOr, runBranches, runEach, runLoop, runPipeline } from './compound.js';
import { Expander, walkArithmetic, walkTest } from './expand/expand-word.js';
import type {
  CommandNode,
  CompoundList,
  FunctionNode,
  ParseLimits,
  Script,
  Statement,
} from './parse/parse-shell.js';
import { parseShell } from './parse/parse-shell.js';
import { findProgram, goesByDirectory } from './programs/table.js';
import { redirect, runCommandWords, runSimple } from './simple-command.js';
import { type Shell, setVariable } from './words/call.js';
import { type Field, joinStreams, NOTHING, type Stream, UNKNOWN } from './words/field.js';
import { Findings } from './words/findings.js';
import type { Scope } from './words/scope.js';

/** Thrown inside the analysis when it exceeds its work limit, and caught where it starts. */
export class TooMuchWork extends Error {}

/**
 * Walks a script as the shell would run it, tracking what is known of variables, pipes and the directory.
 * Every branch is walked. For the verdict `allow` it only has to visit each command: computed values are
 * `ask`.
 */
export class Interpreter implements Shell {
  readonly expander: Expander;
  #depth = 0;
  #isTrial = false;
  /** Functions that are being walked. */
  readonly #functions = new Set<FunctionNode>();

  constructor(
    readonly findings: Findings,
    readonly limits: ParseLimits,
    private stepsLeft: number,
  ) {
    this.expander = new Expander(this);
  }

  step(work = 1): void {
    this.stepsLeft -= work;
    if (this.stepsLeft < 0) throw new TooMuchWork();
  }

  runText(text: string, scope: Scope, input: Stream): Stream {
    if (this.#depth > 0) this.limits.nestedCharactersLeft -= text.length;
    const parsed = parseShell(text, this.limits);
    if ('flaw' in parsed) {
      this.findings.ask(`Cannot tell what would run: ${parsed.flaw}.`);
      return UNKNOWN;
    }
    return this.runScript(parsed.script, scope, input);
  }

  runScript(script: Script, scope: Scope, input: Stream): Stream {
    return this.#deeper(() => this.#statements(script.commands, scope, input));
  }

  runWords(words: readonly Field[], scope: Scope, input: Stream): Stream {
    return this.#deeper(() => runCommandWords(this, words, scope, input));
  }

  /** Whether these words of a program look like a command that would not be allowed. */
  mayBeCommand(words: readonly Field[], scope: Scope, input: Stream): boolean {
    const [command] = words;
    if (words.length < 2 || command?.literal !== true) return false;
    if (!this.#isCommandName(command.shown) || ONLY_IN_SHELLS.test(command.shown)) return false;
    return this.#isRisky((trial, own) => trial.runWords(words, own, arrivingFrom(input)), scope);
  }

  /**
   * Whether a word of a program looks like code that would not be allowed: `-I CODE`, `NAME=CODE`,
   * `--option=name=CODE`.
   */
  mayBeCode({ shown }: Field, scope: Scope, input: Stream): boolean {
    const text = shown.replace(/^(?:\w+=|-[^\s=]*=(?:\w+=)?|-[A-Za-z](?=\w+\s))/, '').trim();
    if (!this.#isCommandName(/^[^\s;&|]*/.exec(text)?.[0] ?? '')) return false;
    return this.#isRisky((trial, own) => trial.runText(text, own, arrivingFrom(input)), scope);
  }

  #isCommandName(path: string): boolean {
    return findProgram(path.slice(path.lastIndexOf('/') + 1)) !== undefined;
  }

  #isRisky(run: (trial: Interpreter, scope: Scope) => void, scope: Scope): boolean {
    if (this.#isTrial) return false;
    const trial = new Interpreter(new Findings(), this.limits, TRIAL_STEPS);
    trial.#isTrial = true;
    run(trial, scope.copy(new Map(scope.files)));
    return trial.findings.conclude().verdict !== 'allow';
  }

  record(place: object, words: readonly Field[], scope: Scope, settings: readonly string[] = []): void {
    const path = words[0]?.shown ?? '';
    const isOwn = scope.functions.has(path);
    const all = isOwn || !goesByDirectory(path) ? settings : [`PWD=${scope.directory ?? '?'}`, ...settings];
    this.findings.record(place, words, all, scope.directory);
  }

  runList(list: CompoundList, scope: Scope, input: Stream): Stream {
    return this.#statements(list.commands, scope, input);
  }

  /** Walks the body of a function that is defined or called. */
  walkFunction(node: FunctionNode, scope: Scope, input: Stream, args: readonly Field[] = []): Stream {
    if (this.#functions.has(node)) {
      this.findings.ask(`The function ${node.name.value} starts itself.`);
      return UNKNOWN;
    }
    this.#functions.add(node);
    const before = scope.copy();
    scope.setArguments(args);
    const output = this.#deeper(() => this.#block(node.body, scope, input));
    this.#functions.delete(node);
    // It is not known whether the function was defined when it is called, or how far it runs.
    scope.mergeFrom([before, scope]);
    return output;
  }

  #deeper(run: () => Stream): Stream {
    if (++this.#depth > MAX_DEPTH) throw new TooMuchWork();
    try {
      return run();
    } finally {
      this.#depth--;
    }
  }

  #statements(statements: readonly Statement[], scope: Scope, input: Stream): Stream {
    let output: Stream = NOTHING;
    for (const { command, background } of statements) {
      this.step();
      // Background commands have their own state.
      const own = background === true ? scope.copy() : scope;
      const run =
        command.type === 'AndOr'
          ? runAndOr(this, command, own, input)
          : runPipeline(this, command, own, input);
      output = joinStreams(output, run);
    }
    return output;
  }

  runCommand(node: CommandNode, scope: Scope, input: Stream): Stream {
    this.step();
    switch (node.type) {
      case 'Command':
        return runSimple(this, node, scope, input);
      case 'Redirected':
        return redirect(this, node.redirects, scope, input, (given) =>
          this.runCommand(node.command, scope, given),
        );
      case 'Function':
        return this.#define(node, scope);
      case 'Coproc':
        if (node.name !== undefined) setVariable({ shell: this, scope }, node.name.value, UNKNOWN);
        this.#block(node.body, scope.copy(), UNKNOWN);
        return NOTHING;
      case 'Subshell':
        return this.runList(node.body, scope.copy(), input);
      case 'BraceGroup':
        return this.runList(node.body, scope, input);
      case 'If': {
        const parts = [node, ...node.elif];
        const bodies = [...parts.map(({ then }) => then), node.else];
        return runBranches(this, { clauses: parts.map(({ clause }) => clause), bodies }, scope, input);
      }
      case 'Case': {
        this.expander.single(node.word, scope);
        for (const word of node.items.flatMap(({ pattern }) => pattern)) this.expander.single(word, scope);
        const bodies = [...node.items.map(({ body }) => body), undefined];
        return runBranches(this, { clauses: [], bodies }, scope, input);
      }
      case 'While':
        checkLoop(this, node.body, node.clause);
        return runLoop(this, [node.clause, node.body], scope, input);
      case 'For':
      case 'Select':
        return runEach(this, node, scope, input);
      case 'ArithmeticFor':
        if (node.test === undefined) checkLoop(this, node.body);
        for (const part of [node.initialize, node.test, node.update])
          if (part !== undefined) walkArithmetic(this.expander, part, scope);
        return runLoop(this, [node.body], scope, input);
      case 'ArithmeticCommand':
        if (node.expression !== undefined) walkArithmetic(this.expander, node.expression, scope);
        return NOTHING;
      case 'TestCommand':
        walkTest(this.expander, node.expression, scope);
        return NOTHING;
    }
  }

  /** Walked now as well: it may be called in a way that the analysis does not see. */
  #define(node: FunctionNode, scope: Scope): Stream {
    const name = node.name.value;
    scope.functions.set(name, node);
    if (isForkBomb(node))
      this.findings.block(`the function ${name} starts itself again and again (a fork bomb).`);
    if (scope.functions.size > MAX_FUNCTIONS) this.findings.ask('There are too many functions.');
    this.walkFunction(node, scope.copy(), UNKNOWN);
    return NOTHING;
  }

  #block(body: CompoundList | CommandNode, scope: Scope, input: Stream): Stream {
    return body.type === 'CompoundList'
      ? this.runList(body, scope, input)
      : this.runCommand(body, scope, input);
  }
}

/** Without a pipe, a program that another one starts reads nothing. */
function arrivingFrom(input: Stream): Stream {
  return input === UNKNOWN ? NOTHING : input;
}

/** They change the shell that runs them, so another program does not start them: `asdf local nodejs 20`. */
const ONLY_IN_SHELLS = /^(?:declare|typeset|local|export|readonly|alias|set|read|enable|bind|history|hash)$/;

const MAX_DEPTH = 60;
const TRIAL_STEPS = 300;
const MAX_FUNCTIONS = 100;
