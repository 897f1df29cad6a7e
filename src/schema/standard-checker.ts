import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { Checker, CheckResult } from './checker.js';
import type { CheckerRole } from './compile-schema.js';
import { deriveJsonSchema } from './derive-json-schema.js';
import type { Finding } from './finding.js';
import { couldNotCheck, refuse } from './json-checker.js';
import { findValidator, type JsonValidator } from './json-validator.js';
import { mapSchema, withoutKeywords } from './map-schema.js';
import { followPointer, toPointer } from './pointer.js';
import { type SettledSchema, settleSchema } from './settle-schema.js';
import { showText, showValue } from './show-value.js';

/** Checks with a Standard Schema, and explains with the help of its JSON Schema. */
export class StandardChecker implements Checker {
  readonly #schema: StandardSchemaV1;
  readonly #standard: StandardSchemaV1.Props;
  readonly #role: CheckerRole;
  #derived: SettledSchema | undefined;
  #explainer: JsonValidator | 'none' | undefined;

  constructor(schema: StandardSchemaV1, role: CheckerRole) {
    this.#schema = schema;
    this.#standard = schema['~standard'];
    this.#role = role;
  }

  /** @throws ToolError `config_invalid` when the schema gives no JSON Schema. */
  get jsonSchema(): SettledSchema['schema'] {
    this.#derived ??= deriveJsonSchema(this.#schema, this.#role, this.#role.direction);
    return this.#derived.schema;
  }

  /** @throws ToolError `config_invalid` when the schema gives no JSON Schema. */
  deriveNow(): void {
    this.#derived = deriveJsonSchema(this.#schema, this.#role, this.#role.direction);
  }

  check(value: unknown): CheckResult | Promise<CheckResult> {
    try {
      const result = this.#standard.validate(value);
      // Not `instanceof`: it may come from another realm.
      if (!('then' in result)) return this.#conclude(value, result);
      return result.then(
        (settled) => this.#conclude(value, settled),
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

  /** What the derived JSON Schema finds, which says more than most libraries do; nothing where it accepts. */
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
      // Formats and patterns differ between libraries in what they accept: there the library speaks for itself.
      // What is checked is always what goes in, for an output too.
      const { schema } = deriveJsonSchema(this.#schema, this.#role, 'input');
      const shape = mapSchema(schema, (node) => withoutKeywords(node, 'format', 'pattern'));
      return findValidator(settleSchema(shape, this.#role), this.#role.owner, 'known');
    } catch {
      return 'none';
    }
  }
}

/** The findings, and those issues of the library that none of them speaks of. */
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
