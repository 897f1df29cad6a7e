import type { Checker, CheckResult } from './checker.js';
import type { CheckerRole } from './compile-schema.js';
import { composeMessage, MAX_FINDINGS } from './compose-message.js';
import type { Finding } from './finding.js';
import { findValidator, type JsonValidator } from './json-validator.js';
import type { SettledSchema } from './settle-schema.js';

/** Checks against a JSON Schema. The value is handed on as it came. */
export class JsonChecker implements Checker {
  readonly jsonSchema: SettledSchema['schema'];
  readonly #settled: SettledSchema;
  readonly #role: CheckerRole;
  #validator: JsonValidator | undefined;

  constructor(settled: SettledSchema, role: CheckerRole) {
    this.jsonSchema = settled.schema;
    this.#settled = settled;
    this.#role = role;
  }

  /** Holds the schema against its dialect too. @throws ToolError `config_invalid` */
  compileNow(): void {
    this.#validator = findValidator(this.#settled, this.#role.owner, 'foreign');
  }

  check(value: unknown): CheckResult {
    this.#validator ??= findValidator(this.#settled, this.#role.owner, 'known');
    const validator = this.#validator;
    try {
      if (validator.accepts(value)) return { ok: true, value };
      return refuse(this.#role.title, validator.explain(value));
    } catch (error) {
      return refuse(this.#role.title, [couldNotCheck(this.#role.owner, error)]);
    }
  }
}

export function refuse(title: string, findings: readonly Finding[]): CheckResult {
  const issues = findings.slice(0, MAX_FINDINGS).map(({ about, message }) => ({ path: about, message }));
  return { ok: false, message: composeMessage(title, findings), issues };
}

/** A schema that fails on a value has not accepted it. */
export function couldNotCheck(owner: string, error: unknown): Finding {
  const why = error instanceof RangeError ? 'it does not come to an end' : 'it threw an error';
  return { path: '', about: '', message: `${owner} cannot judge this value (${why})` };
}
