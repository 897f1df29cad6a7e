import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
import type { JsonSchema } from '../contract/json.js';
import type { Checker, CheckerRole, CheckResult, Finding } from './checker.js';
import { couldNotCheck, refuse } from './checker.js';
import { type FrozenSchema, freezeSchema, unusable } from './freeze-schema.js';
import { findValidator, type JsonValidator } from './json-validator.js';
import { followPointer, isSchemaObject, mapSchema, toPointer, withoutKeywords } from './map-schema.js';
import { showText, showValue } from './show-value.js';

/** Checks with a Standard Schema, and uses its JSON Schema for explanations. */
export class StandardChecker implements Checker {
  readonly #schema: StandardSchemaV1;
  readonly #standard: StandardSchemaV1.Props;
  readonly #role: CheckerRole;
  #derived: FrozenSchema | undefined;
  #explainer: JsonValidator | 'none' | undefined;

  /** @throws ToolError `config_invalid` if the library gives no JSON Schema. */
  constructor(schema: StandardSchemaV1, role: CheckerRole) {
    requireConverter(schema, role.owner);
    this.#schema = schema;
    this.#standard = schema['~standard'];
    this.#role = role;
  }

  /** @throws ToolError `config_invalid` if the schema gives no JSON Schema. */
  get jsonSchema(): FrozenSchema['schema'] {
    this.#derived ??= deriveJsonSchema(this.#schema, this.#role, this.#role.direction);
    return this.#derived.schema;
  }

  checkNow(): void {
    this.#derived = deriveJsonSchema(this.#schema, this.#role, this.#role.direction);
  }

  check(value: unknown): CheckResult | Promise<CheckResult> {
    try {
      const result = this.#standard.validate(value);
      // Not `instanceof`: the promise may come from another realm.
      if (!('then' in result)) return this.#conclude(value, result);
      return result.then(
        (outcome) => this.#conclude(value, outcome),
        (error: unknown) => this.#giveUp(error),
      );
    } catch (error) {
      return this.#giveUp(error);
    }
  }

  #conclude(value: unknown, result: StandardSchemaV1.Result<unknown>): CheckResult {
    if (result.issues === undefined) return { ok: true, value: result.value };
    return refuse(this.#role.title, mergeFindings(this.#explain(value), result.issues, value));
  }

  #giveUp(error: unknown): CheckResult {
    return refuse(this.#role.title, [couldNotCheck(this.#role.owner, error)]);
  }

  /**
   * The findings of the derived JSON Schema, which explain more than most libraries do; empty if it accepts
   * the value.
   */
  #explain(value: unknown): readonly Finding[] {
    this.#explainer ??= this.#compileExplainer();
    if (this.#explainer === 'none') return [];
    try {
      return this.#explainer.accepts(value) ? [] : this.#explainer.explain(value);
    } catch {
      return [];
    }
  }

  #compileExplainer(): JsonValidator | 'none' {
    try {
      // Libraries differ in their formats and patterns, so the library's own message is used there. The input
      // schema is checked, for an output too.
      const { schema } = deriveJsonSchema(this.#schema, this.#role, 'input');
      const shape = mapSchema(schema, (node) => withoutKeywords(node, 'format', 'pattern'));
      return findValidator(freezeSchema(shape, this.#role), this.#role.owner, 'known');
    } catch {
      return 'none';
    }
  }
}

/** The findings, and the library's issues that no finding covers. */
function mergeFindings(
  findings: readonly Finding[],
  issues: readonly StandardSchemaV1.Issue[],
  value: unknown,
): readonly Finding[] {
  const own = issues
    .map((issue) => ({ issue, pointer: toPointer((issue.path ?? []).map(toKey)) }))
    .filter(({ issue, pointer }) => !findings.some((finding) => speaksOf(finding, issue, pointer)))
    .map(({ issue, pointer }) => toFinding(issue, pointer, value));
  return [...findings, ...own];
}

function speaksOf({ path, about }: Finding, issue: StandardSchemaV1.Issue, pointer: string): boolean {
  if (pointer === about || pointer.startsWith(`${about}/`)) return true;
  const code: unknown = 'code' in issue ? issue.code : undefined;
  if (code === 'unrecognized_keys') return pointer === path && about !== path;
  return code === 'invalid_union' && about.startsWith(`${pointer}/`);
}

function toKey(segment: PropertyKey | StandardSchemaV1.PathSegment): PropertyKey {
  return typeof segment === 'object' ? segment.key : segment;
}

function toFinding(issue: StandardSchemaV1.Issue, pointer: string, value: unknown): Finding {
  const said = showText(issue.message, 300);
  const came = followPointer(value, pointer);
  const shown =
    came === undefined || pointer === '' || said.includes('received') ? '' : `, got ${showValue(came)}`;
  return { path: pointer, about: pointer, message: `${said}${shown}` };
}

const REMEDY =
  'Use a schema library that gives JSON Schema (zod 4.2 or later, arktype, valibot with @valibot/to-json-schema), ' +
  'or give a plain JSON Schema.';

/**
 * The JSON Schema of a Standard Schema, without redundant parts from its library.
 *
 * @throws ToolError `config_invalid` if the schema gives none.
 */
function deriveJsonSchema(
  schema: StandardSchemaV1,
  role: CheckerRole,
  direction: 'input' | 'output',
): FrozenSchema {
  const { owner } = role;
  const { vendor } = schema['~standard'];
  const converter = requireConverter(schema, owner);
  let derived: unknown;
  try {
    derived = converter[direction]({ target: 'draft-2020-12' });
  } catch (cause) {
    const why = cause instanceof Error ? showText(cause.message, 200) : 'it gives none';
    throw unusable(owner, `its JSON Schema cannot be derived: ${why}. ${REMEDY}`, cause);
  }
  const plain = isSchemaObject(derived) ? mapSchema(derived, (node) => stripNoise(node, vendor)) : derived;
  return freezeSchema(isSchemaObject(plain) ? withoutKeywords(plain, '$schema') : plain, role);
}

function requireConverter(schema: StandardSchemaV1, owner: string): StandardJSONSchemaV1.Converter {
  const standard: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = schema['~standard'];
  if (standard.jsonSchema !== undefined) return standard.jsonSchema;
  throw unusable(owner, `this schema of ${showText(standard.vendor, 40)} gives no JSON Schema. ${REMEDY}`);
}

/** zod limits every integer to the safe range, and adds a pattern for every format. */
function stripNoise(node: JsonSchema, vendor: string): JsonSchema {
  const { minimum, maximum, pattern, ...rest } = node;
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
    ...(pattern === undefined || (vendor === 'zod' && rest.format !== undefined) ? {} : { pattern }),
  };
}
