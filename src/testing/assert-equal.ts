import { inspect, isDeepStrictEqual } from 'node:util';

/** @throws Error that shows both values, unless they are deeply and strictly equal. */
export function assertEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`);
}

/** @throws Error unless `value` is there. */
export function assertPresent<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what}: expected a value, got undefined`);
  return value;
}

function show(value: unknown): string {
  return inspect(value, { depth: 8, breakLength: 100 });
}
