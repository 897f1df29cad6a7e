import { forEachNode, type Script, type Statement, type SyntaxNode } from './parse-shell.js';

/** Endless loops that start one process after the other and wait for none, and scripts that start themselves. */
export function findEndlessStarts(script: Script): readonly string[] {
  const reasons: string[] = [];
  forEachNode(script, (node) => {
    const isEndlessLoop =
      (node.type === 'While' && isEndless(node.clause.commands)) ||
      (node.type === 'ArithmeticFor' && node.test === undefined);
    if (isEndlessLoop && startsWithoutEnd(node.body.commands))
      reasons.push('a loop without end starts processes and waits for none.');
    if (node.type === 'Statement' && node.background === true && holdsCommand(node, STARTS_ITSELF))
      reasons.push('a script that starts itself in the background multiplies without end.');
  });
  return reasons;
}

function isEndless([only, ...more]: readonly Statement[]): boolean {
  if (only === undefined || more.length > 0) return false;
  const { command } = only;
  if (command.type === 'ArithmeticCommand') return /^\s*1\s*$/.test(command.body);
  if (command.type === 'TestCommand') return true;
  return command.type === 'Command' && /^(?::|true|\[|test|false)$/.test(command.name?.value ?? '');
}

/** In the background, and nothing in the loop waits or ends it. */
function startsWithoutEnd(statements: readonly Statement[]): boolean {
  const inFront = statements.filter(({ background }) => background !== true);
  return inFront.length < statements.length && !inFront.some((one) => holdsCommand(one, ENDS_OR_WAITS));
}

const ENDS_OR_WAITS = /^(?:wait|sleep|read|break|exit|return|inotifywait|usleep|select)$/;

/** `$0 & $0 &`, `$0 | $0 &`. */
const STARTS_ITSELF = /^["']?\$\{?(?:0|BASH_SOURCE)\}?["']?$/;

function holdsCommand(node: SyntaxNode, name: RegExp): boolean {
  let isFound = false;
  forEachNode(node, (inner) => {
    isFound ||= inner.type === 'Command' && name.test(inner.name?.text ?? '');
  });
  return isFound;
}
