import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../contract/json.js';
import { explainAlternatives } from './explain-alternatives.js';
import { explainError } from './explain-error.js';
import type { Finding } from './finding.js';

/** Keywords whose error sums up the errors of schemas below them. */
const SUMMING = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames']);
const DEFINITIONS = /^\/(?:\$defs|definitions)\//;

/** What ajv found, for a model to repair: one finding a fault, alternatives summed up instead of listed. */
export function explainErrors(
  errors: readonly ErrorObject[],
  schema: JsonSchema,
  value: unknown,
): readonly Finding[] {
  const findings: Finding[] = [];
  // A summing error comes after those it sums up: read from the end.
  for (let at = errors.length - 1; at >= 0; at--) {
    const error = errors[at];
    if (error === undefined || isSpokenFor(error, errors)) continue;
    const inner = SUMMING.has(error.keyword) ? errors.slice(findFirstInner(errors, at), at) : [];
    at -= inner.length;
    findings.push(...explainOne(error, inner, schema, value).toReversed());
  }
  return dropRepeated(findings.reverse());
}

function explainOne(
  error: ErrorObject,
  inner: readonly ErrorObject[],
  schema: JsonSchema,
  value: unknown,
): readonly Finding[] {
  if (error.keyword !== 'anyOf' && error.keyword !== 'oneOf') return [explainError(error, value)];
  const nearest = explainAlternatives(error, inner, schema);
  return nearest.kind === 'summary' ? [nearest.finding] : explainErrors(nearest.errors, schema, value);
}

/** `if` only repeats that `then` or `else` has failed, whose own errors are there. */
function isSpokenFor(error: ErrorObject, errors: readonly ErrorObject[]): boolean {
  return error.keyword === 'if' && errors.some((other) => other !== error && isAtOrBelow(other, error));
}

function findFirstInner(errors: readonly ErrorObject[], summing: number): number {
  const sum = errors[summing];
  let first = summing;
  while (first > 0 && sum !== undefined && belongsTo(errors[first - 1], sum)) first--;
  return first;
}

function belongsTo(error: ErrorObject | undefined, sum: ErrorObject): boolean {
  if (error === undefined || !isAtOrBelow(error, sum)) return false;
  if (error.schemaPath.startsWith(`${sum.schemaPath}/`)) return true;
  // A path that starts elsewhere comes through a reference; one beside the summing keyword is a fault of its own.
  const parent = sum.schemaPath.slice(0, sum.schemaPath.lastIndexOf('/'));
  return (
    !error.schemaPath.startsWith(`${parent}/`) || DEFINITIONS.test(error.schemaPath.slice(parent.length))
  );
}

function isAtOrBelow(error: ErrorObject, other: ErrorObject): boolean {
  return error.instancePath === other.instancePath || error.instancePath.startsWith(`${other.instancePath}/`);
}

function dropRepeated(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ path, message }) => {
    const key = `${path}\n${message}`;
    return !seen.has(key) && seen.add(key);
  });
}
