import { toValue } from './expand/expand-parameter.js';
import { isSafeValue } from './expand/is-safe-arithmetic.js';
import type { Interpreter } from './interpreter.js';
import type { ArithmeticExpression, TestExpression, Word } from './parse-shell.js';
import type { Scope } from './scope.js';

/** Whatever an arithmetic command assigns is a number that is not known. */
export function checkArithmetic(
  shell: Interpreter,
  expression: ArithmeticExpression | undefined,
  scope: Scope,
): void {
  if (expression === undefined) return;
  shell.expander.arithmetic(expression, scope);
  for (const name of assignedNames(expression)) scope.set(name, { kind: 'unknown', numeric: true });
}

/** What stands in `[[ … ]]` is expanded as elsewhere. */
export function checkTest(shell: Interpreter, expression: TestExpression, scope: Scope): void {
  switch (expression.type) {
    case 'TestUnary':
      checkOperand(
        shell,
        expression.operator === '-v' || expression.operator === '-R',
        expression.operand,
        scope,
      );
      return;
    case 'TestBinary': {
      const isArithmetic = /^-(?:eq|ne|lt|le|gt|ge)$/.test(expression.operator);
      checkOperand(shell, isArithmetic, expression.left, scope);
      checkOperand(shell, isArithmetic, expression.right, scope);
      return;
    }
    case 'TestLogical':
      for (const operand of expression.operands) checkTest(shell, operand, scope);
      return;
    case 'TestNot':
      checkTest(shell, expression.operand, scope);
      return;
    case 'TestGroup':
      checkTest(shell, expression.expression, scope);
  }
}

/** `[[ a[$(…)] -eq 1 ]]` runs what is in the index. */
function checkOperand(shell: Interpreter, isEvaluated: boolean, word: Word, scope: Scope): void {
  const field = shell.expander.single(word, scope);
  if (!isEvaluated) return;
  if (!isSafeValue(toValue(field.pieces), scope))
    shell.findings.ask('A test evaluates a value that is not known.');
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
