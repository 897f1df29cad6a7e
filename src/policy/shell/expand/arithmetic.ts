import { forEachChild, type SyntaxNode } from '../parse/parse-shell.js';
import type { Shell } from '../words/call.js';
import { Field, INHERITED, NUMBER, type Value } from '../words/field.js';
import { isSafeNumber, type Scope } from '../words/scope.js';
import { setVariable } from '../words/variables.js';
import type { Expander } from './expand-word.js';
import { fromStream } from './parameter.js';

/**
 * Walks an arithmetic expression: what stands in it runs, its values are evaluated once more, and what it assigns is a
 * number. What it comes to is not computed.
 */
export function walkArithmetic(expander: Expander, node: SyntaxNode, scope: Scope): void {
  const { shell } = expander;
  if (node.type === 'ArithmeticCommandExpansion') {
    if (node.script !== undefined)
      checkNumber(shell, fromStream(shell.runScript(node.script, scope.copy(), INHERITED)), scope);
  } else if (node.type !== 'ArithmeticWord')
    forEachChild(node, (child) => walkArithmetic(expander, child, scope));
  else if (node.parts !== undefined)
    checkNumber(shell, new Field(expander.parts(node.parts, scope), node.value).value, scope);
  else if (/^[A-Za-z_]\w*$/.test(node.value)) checkNumber(shell, scope.get(node.value) ?? NUMBER, scope);
  const isAssignment = node.type === 'ArithmeticBinary' && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator);
  const isStep = node.type === 'ArithmeticUnary' && /^(?:\+\+|--)$/.test(node.operator);
  const target = isAssignment ? node.left : isStep ? node.operand : undefined;
  if (target?.type === 'ArithmeticWord') setVariable({ shell, scope }, target.value, NUMBER);
}

export function checkNumber({ findings }: Shell, value: Value, scope: Scope): void {
  if (!isSafeNumber(value, scope)) findings.ask('Arithmetic evaluates a value that is not known.');
}

/** What stands in `[[ … ]]` is expanded as elsewhere; `[[ a[$(…)] -eq 1 ]]` runs what is in the index. */
export function walkTest(expander: Expander, node: SyntaxNode, scope: Scope): void {
  if (node.type !== 'TestUnary' && node.type !== 'TestBinary') {
    forEachChild(node, (child) => walkTest(expander, child, scope));
    return;
  }
  const words = node.type === 'TestUnary' ? [node.operand] : [node.left, node.right];
  const isEvaluated = /^-(?:[vR]|eq|ne|lt|le|gt|ge)$/.test(node.operator);
  for (const word of words) {
    const value = expander.value(word, scope);
    if (isEvaluated && !isSafeNumber(value, scope))
      expander.shell.findings.ask('A test evaluates a value that is not known.');
  }
}
