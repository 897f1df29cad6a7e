import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import canonicalize from 'canonicalize';
import type { JsonSchema } from '../contract/json.js';
import { listChoices } from './explain-error.js';
import type { Dialect } from './freeze-schema.js';
import { compileLinearPattern } from './linear-pattern.js';
import { followPointer, mapSchema, withoutKeywords } from './map-schema.js';
import { showText, showValue } from './show-value.js';

export interface EngineOptions {
  readonly dialect: Dialect;
  /** Stop at the first error, or collect all of them with the values they are about. */
  readonly report: 'first' | 'all';
  /** Needed where a schema speaks of names that every object inherits (`constructor`); three times slower. */
  readonly ownProperties: boolean;
  /** Whether the dialect's own schema is known: to check schemas, or for one that refers to it. Takes 10 ms. */
  readonly dialectSchema: boolean;
}

type Engine = Ajv | Ajv2020;

/** An engine keeps a little of everything it has compiled: now and then it is replaced, so that memory stays flat. */
const MAX_COMPILED_BY_ONE = 500;
const engines = new Map<string, { readonly engine: Engine; compiled: number }>();

/**
 * A validator for a normalized schema. What an engine has compiled is not looked up again: `findValidator` does that.
 *
 * @throws Error when the schema cannot be compiled: an unresolvable reference, a pattern that is none, …
 */
export function compileWithAjv(schema: JsonSchema, options: EngineOptions): ValidateFunction {
  const engine = findEngine(options);
  try {
    return engine.compile(schema);
  } finally {
    engine.removeSchema(schema);
  }
}

/**
 * What the dialect's own schema finds wrong with a schema; undefined: nothing. Costs 50 ms the first time. The schema's
 * $schema is left out: ajv would look for the dialect under that name, in every spelling of it.
 */
export function checkAgainstDialect(schema: JsonSchema, dialect: Dialect): string | undefined {
  const engine = findEngine({ dialect, report: 'first', ownProperties: false, dialectSchema: true });
  if (engine.validateSchema(mapSchema(withoutKeywords(schema, '$schema'), dropEmptyLists)) === true)
    return undefined;
  const [error] = engine.errors ?? [];
  if (error === undefined) return 'it is not valid.';
  const { instancePath, message, keyword } = error;
  const came =
    instancePath === '' ? 'it' : `${instancePath} is ${showValue(followPointer(schema, instancePath))} and`;
  return showText(`${came} ${message ?? `fails "${keyword}"`}${listAllowed(error)}.`, 400);
}

/** Only the dialect's own schema minds them: they ask for nothing. */
function dropEmptyLists(node: JsonSchema): JsonSchema {
  const empty = ['allOf', 'prefixItems'].filter((keyword) => {
    const list = node[keyword];
    return Array.isArray(list) && list.length === 0;
  });
  return withoutKeywords(node, ...empty);
}

function listAllowed({ params }: ErrorObject): string {
  return Array.isArray(params.allowedValues) ? `: ${listChoices(params.allowedValues)}` : '';
}

function findEngine(options: EngineOptions): Engine {
  const key = Object.values(options).join(' ');
  let kept = engines.get(key);
  if (kept === undefined || kept.compiled === MAX_COMPILED_BY_ONE) {
    kept = { engine: createEngine(options), compiled: 0 };
    engines.set(key, kept);
  }
  kept.compiled++;
  return kept.engine;
}

function createEngine({ dialect, report, ownProperties, dialectSchema }: EngineOptions): Engine {
  const settings = {
    strict: false,
    meta: dialectSchema,
    // Schemas are held against their dialect once, before they come here.
    validateSchema: false,
    // A schema's $id must not become known to other tools' schemas.
    addUsedSchema: false,
    logger: false,
    allErrors: report === 'all',
    verbose: report === 'all',
    ownProperties,
    code: { regExp: Object.assign((pattern: string) => compileLinearPattern(pattern), { code: '' }) },
  } as const;
  const engine = dialect === '2020-12' ? new Ajv2020(settings) : new Ajv(settings);
  addFormats.default(engine as Ajv);
  // Ajv compares every item with every other: an array of 40,000 arrays would take seconds.
  engine.removeKeyword('uniqueItems');
  engine.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: hasUniqueItems,
  });
  return engine;
}

function hasUniqueItems(wanted: boolean, items: readonly unknown[]): boolean {
  return !wanted || new Set(items.map((item) => canonicalize(item))).size === items.length;
}
