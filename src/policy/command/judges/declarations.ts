import { isSafeValue } from '../expand/is-safe-arithmetic.js';
import { exactText } from '../field.js';
import { judgeVariable } from '../judge-variable.js';
import type { Scope } from '../scope.js';
import type { Invocation, Judge } from '../shell.js';
import { NOTHING } from '../stream.js';
import { runSubstitutions } from './run-payload.js';

/** `declare`, `export`, `local`, `readonly`: assignments are words here. */
export const judgeDeclare: Judge = (call) => {
  const { words, findings } = call;
  const isInteger = words.some(({ shown }) => /^-\w*i/.test(shown));
  const isFixed = call.name === 'readonly' || words.some(({ shown }) => /^-\w*r/.test(shown));
  for (const word of words) {
    const text = exactText(word);
    if (text === undefined) {
      findings.ask(`The names that ${call.name} sets are computed: ${word.shown}`);
      continue;
    }
    if (text.startsWith('-') || text.startsWith('+')) {
      if (/^-\w*n/.test(text) && call.name !== 'export')
        findings.ask('A variable stands for another one (a nameref).');
      continue;
    }
    const match = /^([A-Za-z_]\w*)(\+?=)?/.exec(text);
    if (match === null || /^\w+\[/.test(text)) {
      findings.ask(`${call.name} evaluates ${word.shown}`);
      runSubstitutions(call, text);
    }
    if (match?.[1] === undefined) continue;
    declareOne(call, match[1], match[2] === undefined ? undefined : text.slice(match[0].length), isInteger);
    if (isFixed) call.scope.fixed.add(match[1]);
  }
  return NOTHING;
};

function declareOne(
  { scope, findings, shell, name: command }: Invocation,
  name: string,
  text: string | undefined,
  isInteger: boolean,
): void {
  // Outside of a function it fails, and what was set stays.
  const fails = command === 'local' && scope.calls.size === 0 && scope.variables.has(name);
  // An array written out was assigned already, as was whatever is not known.
  if (text !== undefined && !text.startsWith('(') && !fails) {
    const value = { kind: 'text', text, assumed: false } as const;
    if (!isDone(scope, name, text)) scope.set(name, value);
    judgeVariable(shell, name, scope.get(name) ?? value, scope);
  }
  if (isInteger) scope.integers.add(name);
  const value = scope.get(name);
  if (scope.integers.has(name) && value !== undefined && !isSafeValue(value, scope)) {
    findings.ask(`${command} evaluates the value of ${name}.`);
  }
}

function isDone(scope: Scope, name: string, text: string): boolean {
  const value = scope.variables.get(name);
  return value !== undefined && (value.kind !== 'text' || value.assumed || value.text === text);
}
