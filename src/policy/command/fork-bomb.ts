import type { Findings } from './findings.js';
import {
  type CommandNode,
  type FunctionNode,
  forEachChild,
  type Pipeline,
  type Script,
  type Statement,
  type SyntaxNode,
} from './parse-shell.js';

/**
 * Processes that start processes without end: functions that reach themselves in the background or on both sides of a
 * pipe, whatever they are called, and endless loops that start one process after the other and wait for none.
 */
export function findForkBombs(script: Script, findings: Findings): void {
  const functions = new Map<string, Calls>();
  collect(script, (node) => {
    if (node.type === 'Function') functions.set(node.name.value, callsOf(node));
    if (node.type === 'While' && isEndless(node.clause) && startsWithoutEnd(node.body.commands)) {
      findings.block('a loop without end starts processes and waits for none.');
    }
    if (node.type === 'ArithmeticFor' && node.test === undefined && startsWithoutEnd(node.body.commands)) {
      findings.block('a loop without end starts processes and waits for none.');
    }
    if (node.type === 'Statement' && isSelfStart(node))
      findings.block('a script that starts itself in the background multiplies without end.');
  });
  if (functions.size > MAX_FUNCTIONS) findings.ask('There are too many functions to tell which call which.');
  for (const [name, calls] of [...functions].slice(0, MAX_FUNCTIONS)) {
    if (!reaches(functions, calls.all, name)) continue;
    const cycle = (called: string) =>
      called === name || reaches(functions, functions.get(called)?.all ?? NONE, name);
    if ([...calls.multiplied].some(cycle))
      findings.block(`the function ${name} starts itself again and again (a fork bomb).`);
    else if ([...calls.forked].some(cycle))
      findings.ask(`The function ${name} starts itself in processes of their own.`);
  }
}

const MAX_FUNCTIONS = 100;

interface Calls {
  readonly all: ReadonlySet<string>;
  /** Called in the background, or more than once in one pipeline. */
  readonly multiplied: ReadonlySet<string>;
  /** Called in a subshell of any kind. */
  readonly forked: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

function collect(node: SyntaxNode, see: (node: SyntaxNode) => void): void {
  see(node);
  forEachChild(node, (child) => collect(child, see));
}

function callsOf({ body }: FunctionNode): Calls {
  const all = new Set<string>();
  const multiplied = new Set<string>();
  const forked = new Set<string>();
  collect(body, (node) => {
    const name = node.type === 'Command' ? node.name?.value : undefined;
    if (name !== undefined) all.add(name);
    if (node.type === 'Statement' && node.background === true)
      for (const one of namesIn(node)) multiplied.add(one);
    if (node.type === 'Pipeline') addPipeline(node, multiplied, forked);
    if (node.type === 'Subshell' || node.type === 'CommandExpansion')
      for (const one of namesIn(node)) forked.add(one);
    if (node.type === 'Coproc') for (const one of namesIn(node)) multiplied.add(one);
  });
  return { all, multiplied, forked };
}

function addPipeline({ commands }: Pipeline, multiplied: Set<string>, forked: Set<string>): void {
  const names = commands.map((command: CommandNode) => namesIn(command));
  names.forEach((own, index) => {
    for (const name of own) {
      forked.add(name);
      if (names.some((other, at) => at !== index && other.has(name))) multiplied.add(name);
    }
  });
}

function namesIn(node: SyntaxNode): ReadonlySet<string> {
  const names = new Set<string>();
  collect(node, (inner) => {
    if (inner.type === 'Command' && inner.name !== undefined) names.add(inner.name.value);
  });
  return names;
}

function reaches(functions: ReadonlyMap<string, Calls>, from: ReadonlySet<string>, target: string): boolean {
  const seen = new Set<string>();
  const open = [...from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === target) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    open.push(...(functions.get(name)?.all ?? NONE));
  }
  return false;
}

function isEndless({ commands }: { readonly commands: readonly Statement[] }): boolean {
  const [only] = commands;
  if (commands.length !== 1 || only === undefined) return false;
  const { command } = only;
  if (command.type === 'ArithmeticCommand') return /^\s*1\s*$/.test(command.body);
  if (command.type === 'TestCommand') return true;
  return command.type === 'Command' && /^(?::|true|\[|test|false)$/.test(command.name?.value ?? '');
}

/** In the background, and nothing in the loop waits or ends it. */
function startsWithoutEnd(statements: readonly Statement[]): boolean {
  const names = new Set(
    statements.filter(({ background }) => background !== true).flatMap((one) => [...namesIn(one)]),
  );
  const ends = ['wait', 'sleep', 'read', 'break', 'exit', 'return', 'inotifywait', 'usleep', 'select'].some(
    (name) => names.has(name),
  );
  return !ends && statements.some(({ background }) => background === true);
}

/** `$0 & $0 &`, `$0 | $0 &`. */
function isSelfStart(statement: Statement): boolean {
  if (statement.background !== true) return false;
  let count = 0;
  collect(statement, (node) => {
    if (node.type === 'Command' && /^["']?\$\{?(?:0|BASH_SOURCE)\}?["']?$/.test(node.name?.text ?? ''))
      count++;
  });
  return count > 0;
}
