import type { ErrorObject } from 'ajv';
import type { JsonSchema } from '../contract/json.js';
import { describeSchema } from './describe-schema.js';
import type { Finding } from './finding.js';
import { isSchemaObject } from './map-schema.js';
import { followPointer } from './pointer.js';
import { showValue } from './show-value.js';

const MAX_LISTED_FORMS = 6;

export type AlternativesExplained =
  /** One form was clearly meant: what is wrong with that one. */
  | { readonly kind: 'nearest'; readonly errors: readonly ErrorObject[] }
  | { readonly kind: 'summary'; readonly finding: Finding };

/** Which of `anyOf` or `oneOf` was meant, and what it lacks; or, when nobody can tell, what the forms are. */
export function explainAlternatives(
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

/** The form's number where the path shows it, else the definition that the form refers to. */
function formKey(error: ErrorObject, sum: ErrorObject): string {
  const prefix = `${sum.schemaPath}/`;
  return error.schemaPath.startsWith(prefix)
    ? `${error.schemaPath.slice(prefix.length).split('/', 1)[0]}`
    : (/^[^#]*#\/[^/]+\/[^/]+/.exec(error.schemaPath)?.[0] ?? error.schemaPath);
}

/** The only form whose kind (and whose fixed properties) the value has. */
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

/** A fixed property, such as `"kind": "file"`, has another value. */
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
