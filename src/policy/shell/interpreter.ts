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
import { exactTexts, type Field, joinStreams, NOTHING, type Stream, UNKNOWN } from './words/field.js';
import { Findings } from './words/findings.js';
import type { Scope } from './words/scope.js';

/** Thrown within the analysis when it has looked long enough; caught where it starts. */
export class TooMuchWork extends Error {}

/**
 * Walks a script as the shell would run it, with what is known of variables, pipes and the directory. Every branch
 * is taken. Nothing depends on it for saying `allow` but that it visits each command: what is computed is asked about.
 */
export class Interpreter implements Shell {
  readonly expander: Expander;
  #depth = 0;
  #isTrial = false;

  constructor(
    readonly findings: Findings,
    readonly limits: ParseLimits,
    private stepsLeft: number,
  ) {
    this.expander = new Expander(this);
  }

  step(): void {
    if (this.stepsLeft-- <= 0) throw new TooMuchWork();
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

  /** Whether these words of a program that is not known look like a command that would not be allowed. */
  mayBeCommand(words: readonly Field[], scope: Scope): boolean {
    const [command] = words;
    const name = command?.literal === true ? command.shown.slice(command.shown.lastIndexOf('/') + 1) : '';
    if (words.length < 2 || findProgram(name) === undefined || this.#isTrial) return false;
    const trial = new Interpreter(new Findings(), this.limits, TRIAL_STEPS);
    trial.#isTrial = true;
    trial.runWords(words, scope.copy({ files: new Map(scope.files) }), UNKNOWN);
    return trial.findings.conclude().verdict !== 'allow';
  }

  record(place: object, words: readonly Field[], scope: Scope, settings: readonly string[] = []): void {
    const path = words[0]?.shown ?? '';
    const isOwn = scope.functions.has(path);
    const places = [...new Set([scope.directory, ...scope.elsewhere])].map((one) => `PWD=${one ?? '?'}`);
    const all = isOwn || !goesByDirectory(path) ? settings : [...places, ...settings];
    this.findings.record(place, words, all, scope.directory);
  }

  runList(list: CompoundList, scope: Scope, input: Stream): Stream {
    return this.#statements(list.commands, scope, input);
  }

  /** A function that is called: its body with these arguments. One that reaches itself ends there. */
  callFunction(node: FunctionNode, args: readonly Field[], scope: Scope, input: Stream): Stream {
    const name = node.name.value;
    const forks = scope.calls.get(node);
    if (forks !== undefined) {
      if (scope.forks > forks) this.findings.ask(`The function ${name} starts itself in other processes.`);
      return UNKNOWN;
    }
    const inner = this.#enter(node, scope, exactTexts(args));
    const output = this.#deeper(() => this.#block(node.body, inner, input));
    for (const [variable, value] of inner.variables) scope.variables.set(variable, value);
    for (const [other, body] of inner.functions) scope.functions.set(other, body);
    scope.directory = inner.directory;
    return output;
  }

  #enter(node: FunctionNode, scope: Scope, positional: readonly string[] | undefined): Scope {
    return scope.copy({ positional, calls: new Map(scope.calls).set(node, scope.forks) });
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
      // What runs in the background has a state of its own.
      const own = background === true ? scope.fork() : scope;
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
        return this.#define(node, scope, input);
      case 'Coproc':
        if (node.name !== undefined) setVariable({ shell: this, scope }, node.name.value, UNKNOWN);
        this.#block(node.body, scope.fork(), UNKNOWN);
        return NOTHING;
      case 'Subshell':
        return this.runList(node.body, scope.fork(), input);
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

  /** Walked now too, with arguments that are not known: it may be called in a way that is not seen. */
  #define(node: FunctionNode, scope: Scope, input: Stream): Stream {
    const name = node.name.value;
    scope.functions.set(name, node);
    if (isForkBomb(node))
      this.findings.block(`the function ${name} starts itself again and again (a fork bomb).`);
    if (scope.functions.size > MAX_FUNCTIONS) this.findings.ask('There are too many functions.');
    const inner = this.#enter(node, scope, undefined);
    this.#deeper(() => this.#block(node.body, inner, input.kind === 'text' ? UNKNOWN : input));
    return NOTHING;
  }

  #block(body: CompoundList | CommandNode, scope: Scope, input: Stream): Stream {
    return body.type === 'CompoundList'
      ? this.runList(body, scope, input)
      : this.runCommand(body, scope, input);
  }
}

const MAX_DEPTH = 60;
const TRIAL_STEPS = 300;
const MAX_FUNCTIONS = 100;
