import { forEachChild, type SyntaxNode, type Word } from '../parse/parse-shell.js';
import type { Shell } from '../words/call.js';
import { INHERITED } from '../words/field.js';
import { isSafeNumber, type Scope, toValue, UNKNOWN_NUMBER, type Value } from '../words/scope.js';
import { setVariable } from '../words/variables.js';
import type { Expander } from './expand-word.js';
import { fromStream } from './parameter.js';

/**
 * Walks an arithmetic expression: what stands in it runs, its values are evaluated once more, and what it assigns is a
 * number. What it comes to is not computed.
 */
export function walkArithmetic(shell: Shell, expander: Expander, node: SyntaxNode, scope: Scope): void {
  switch (node.type) {
    case 'ArithmeticCommandExpansion':
      if (node.script !== undefined)
        checkNumber(shell, fromStream(shell.runScript(node.script, scope.copy(), INHERITED)), scope);
      return;
    case 'ArithmeticWord':
      if (node.parts !== undefined) checkNumber(shell, toValue(expander.parts(node.parts, scope)), scope);
      else if (IS_NAME.test(node.value)) checkNumber(shell, scope.get(node.value) ?? UNKNOWN_NUMBER, scope);
      return;
    case 'ArithmeticBinary':
    case 'ArithmeticUnary':
    case 'ArithmeticTernary':
    case 'ArithmeticGroup':
      forEachChild(node, (child) => walkArithmetic(shell, expander, child, scope));
  }
  const target =
    node.type === 'ArithmeticBinary' && /^(?:[-+*/%&|^]|<<|>>)?=$/.test(node.operator)
      ? node.left
      : node.type === 'ArithmeticUnary' && /^(?:\+\+|--)$/.test(node.operator)
        ? node.operand
        : undefined;
  if (target?.type === 'ArithmeticWord') setVariable({ shell, scope }, target.value, UNKNOWN_NUMBER);
}

const IS_NAME = /^[A-Za-z_]\w*$/;

export function checkNumber({ findings }: Shell, value: Value, scope: Scope): void {
  if (!isSafeNumber(value, scope)) findings.ask('Arithmetic evaluates a value that is not known.');
}

/** What stands in `[[ … ]]` is expanded as elsewhere; `[[ a[$(…)] -eq 1 ]]` runs what is in the index. */
export function walkTest(shell: Shell, expander: Expander, node: SyntaxNode, scope: Scope): void {
  const check = (word: Word, isEvaluated: boolean): void => {
    const { pieces } = expander.single(word, scope);
    if (isEvaluated && !isSafeNumber(toValue(pieces), scope))
      shell.findings.ask('A test evaluates a value that is not known.');
  };
  if (node.type === 'TestUnary') check(node.operand, /^-[vR]$/.test(node.operator));
  else if (node.type === 'TestBinary') {
    const isArithmetic = /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator);
    for (const word of [node.left, node.right]) check(word, isArithmetic);
  } else forEachChild(node, (child) => walkTest(shell, expander, child, scope));
}
