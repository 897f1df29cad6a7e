import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../contract/json.js';
import type { Finding } from './checker.js';
import { describeSchema, explainError } from './explain-error.js';
import { followPointer, isSchemaObject } from './map-schema.js';
import { showValue } from './show-value.js';

/** Keywords whose error summarizes the errors of their subschemas. */
const SUMMING = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames']);
const DEFINITIONS = /^\/(?:\$defs|definitions)\//;

/** Turns ajv's errors into findings that a model can act on: one per fault, alternatives summarized. */
export function explainErrors(
  errors: readonly ErrorObject[],
  schema: JsonSchema,
  value: unknown,
): readonly Finding[] {
  const findings: Finding[] = [];
  // A summary error follows the errors it summarizes, so read from the end.
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

/** `if` only repeats that `then` or `else` has failed, and their own errors are present. */
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
  // A path that starts elsewhere passes through a reference; one next to the summarizing keyword is a
  // separate fault.
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

const MAX_LISTED_FORMS = 6;

type AlternativesExplained =
  /** One form was clearly intended: its faults. */
  | { readonly kind: 'nearest'; readonly errors: readonly ErrorObject[] }
  | { readonly kind: 'summary'; readonly finding: Finding };

/** Finds the intended form of `anyOf` or `oneOf` and its faults; if it is not clear, lists the forms. */
function explainAlternatives(
  error: ErrorObject,
  inner: readonly ErrorObject[],
  root: JsonSchema,
): AlternativesExplained {
  const { instancePath: path } = error;
  const several: unknown = error.params.passingSchemas;
  if (Array.isArray(several)) {
    const message = `fits several of the allowed forms where exactly one must fit, got ${showValue(error.data)}`;
    return { kind: 'summary', finding: { path, about: path, message } };
  }
  const meant = findMeantForm(groupByForm(inner, error), path);
  if (meant !== undefined) return { kind: 'nearest', errors: meant };
  const forms = listForms(error.schema, root);
  return {
    kind: 'summary',
    finding: { path, about: path, message: `expected ${forms}, got ${showValue(error.data)}` },
  };
}

function groupByForm(inner: readonly ErrorObject[], sum: ErrorObject): readonly (readonly ErrorObject[])[] {
  const groups = new Map<string, ErrorObject[]>();
  for (const error of inner) {
    const key = formKey(error, sum);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [error]);
    else group.push(error);
  }
  return [...groups.values()];
}

/** The form's number if the path shows it, else the referenced definition. */
function formKey(error: ErrorObject, sum: ErrorObject): string {
  const prefix = `${sum.schemaPath}/`;
  return error.schemaPath.startsWith(prefix)
    ? `${error.schemaPath.slice(prefix.length).split('/', 1)[0]}`
    : (/^[^#]*#\/[^/]+\/[^/]+/.exec(error.schemaPath)?.[0] ?? error.schemaPath);
}

/** The only form with the kind (and the constant properties) of the value. */
function findMeantForm(
  groups: readonly (readonly ErrorObject[])[],
  path: string,
): readonly ErrorObject[] | undefined {
  const rightKind = groups.filter((group) => !group.some((error) => isWrongKind(error, path)));
  if (rightKind.length === 1) return rightKind[0];
  const rightTag = rightKind.filter((group) => !group.some((error) => isWrongTag(error, path)));
  return rightTag.length === 1 ? rightTag[0] : undefined;
}

function isWrongKind(error: ErrorObject, path: string): boolean {
  return error.instancePath === path && ['type', 'const', 'enum', 'false schema'].includes(error.keyword);
}

/** A constant property, such as `"kind": "file"`, has another value. */
function isWrongTag(error: ErrorObject, path: string): boolean {
  const below = error.instancePath.slice(path.length);
  return (error.keyword === 'const' || error.keyword === 'enum') && /^\/[^/]+$/.test(below);
}

function listForms(schemas: unknown, root: JsonSchema): string {
  const forms: readonly unknown[] = Array.isArray(schemas) ? schemas : [];
  const described = new Set(
    forms.slice(0, MAX_LISTED_FORMS).map((form) => describeSchema(resolve(form, root))),
  );
  const rest =
    forms.length > MAX_LISTED_FORMS ? ` or one of ${forms.length - MAX_LISTED_FORMS} more forms` : '';
  return `${[...described].join(' or ')}${rest}`;
}

function resolve(form: unknown, root: JsonSchema): JsonSchema {
  if (!isSchemaObject(form)) return {};
  const target =
    typeof form.$ref === 'string' && form.$ref.startsWith('#')
      ? followPointer(root, form.$ref.slice(1))
      : form;
  return isSchemaObject(target) ? target : {};
}
