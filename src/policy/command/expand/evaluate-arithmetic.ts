import type { ArithmeticExpression } from '../parse-shell.js';

/** The number an expression comes to; undefined: it depends on what is not known. `look` gives a word its text. */
export function evaluateArithmetic(
  node: ArithmeticExpression,
  look: (node: ArithmeticExpression) => string | undefined,
): number | undefined {
  switch (node.type) {
    case 'ArithmeticGroup':
      return evaluateArithmetic(node.expression, look);
    case 'ArithmeticWord':
    case 'ArithmeticCommandExpansion':
      return toNumber(look(node));
    case 'ArithmeticUnary':
      return evaluateUnary(node.operator, evaluateArithmetic(node.operand, look));
    case 'ArithmeticTernary': {
      const test = evaluateArithmetic(node.test, look);
      const consequent = evaluateArithmetic(node.consequent, look);
      const alternate = evaluateArithmetic(node.alternate, look);
      if (test === undefined) return undefined;
      return test === 0 ? alternate : consequent;
    }
    case 'ArithmeticBinary': {
      const left = evaluateArithmetic(node.left, look);
      const right = evaluateArithmetic(node.right, look);
      return left === undefined || right === undefined ? undefined : calculate(node.operator, left, right);
    }
  }
}

function toNumber(text: string | undefined): number | undefined {
  const trimmed = text?.trim();
  if (trimmed === undefined) return undefined;
  if (/^0[0-7]+$/.test(trimmed)) return Number.parseInt(trimmed, 8);
  const based = /^(\d{1,2})#([0-9a-z]{1,10})$/i.exec(trimmed);
  if (based !== null) return safe(Number.parseInt(based[2] ?? '', Number(based[1])));
  return /^(?:\d{1,15}|0x[0-9a-f]{1,12})$/i.test(trimmed) ? Number(trimmed) : undefined;
}

function evaluateUnary(operator: string, value: number | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (operator === '-') return -value;
  if (operator === '+') return value;
  if (operator === '~') return ~value;
  if (operator === '!') return value === 0 ? 1 : 0;
  return undefined;
}

function calculate(operator: string, left: number, right: number): number | undefined {
  switch (operator) {
    case '+':
      return safe(left + right);
    case '-':
      return safe(left - right);
    case '*':
      return safe(left * right);
    case '/':
      return right === 0 ? undefined : Math.trunc(left / right);
    case '%':
      return right === 0 ? undefined : left % right;
    case '<<':
      return left << right;
    case '>>':
      return left >> right;
    case '&':
      return left & right;
    case '|':
      return left | right;
    case '^':
      return left ^ right;
    case '**':
      return safe(left ** right);
    default:
      return undefined;
  }
}

function safe(value: number): number | undefined {
  return Number.isSafeInteger(value) ? value : undefined;
}
