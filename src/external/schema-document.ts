import { parseJson } from '../base/parse-json.js';
import type { JsonSchema } from '../contract/json.js';
import { compileInput, compileOutput } from '../schema/compile-schema.js';
import { type EffectTemplate, parseEffectTemplates } from './effect-templates.js';
import { plainText } from './plain-text.js';

/** A tool's checked answer to `--schema`. */
export interface SchemaDocument {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  /** Its declared effects; undefined if it declares none. Believed only in a trusted directory. */
  readonly effects?: readonly EffectTemplate[];
  /** It may be run again after a crash. Believed like `effects`. */
  readonly idempotent: boolean;
  /** Its default timeout; undefined: that of the class `external`. */
  readonly timeoutMs?: number;
  /** It writes lines while it works, see `ToolLine`. */
  readonly streaming: boolean;
  /** With `--serve` it answers many calls, one after the other. */
  readonly serve: boolean;
  /** Its limit for concurrent calls; undefined: no limit. */
  readonly maxConcurrent?: number;
}

/** The document is incomplete or invalid. The message is a clause: `input_schema is missing`. */
export class SchemaDocumentError extends Error {}

/**
 * Parses a tool's answer to `--schema`. Unknown members are ignored, because other programs may use them.
 * @param toolName the name for models.
 * @param options `isKnown`: its schemas compiled before, and need not be compiled now.
 * @throws SchemaDocumentError
 */
export function parseSchemaDocument(
  text: string,
  toolName: string,
  { isKnown = false }: { readonly isKnown?: boolean } = {},
): SchemaDocument {
  const given = parseObject(text);
  const inputSchema = schemaOf(given, 'input_schema');
  const outputSchema = schemaOf(given, 'output_schema');
  const name = textOf(given, 'name', '');
  if (!isKnown) checkSchemas(inputSchema, outputSchema);
  const effects = effectsOf(given, toolName, inputSchema);
  const title = textOf(given, 'title', '');
  const timeoutMs = wholeOf(given, 'timeout_ms');
  const maxConcurrent = wholeOf(given, 'max_concurrent');
  return {
    name,
    version: textOf(given, 'version', ''),
    ...(title === '' ? {} : { title }),
    description: textOf(given, 'description', ''),
    tags: tagsOf(given),
    inputSchema,
    outputSchema,
    ...(effects === undefined ? {} : { effects }),
    idempotent: booleanOf(given, 'idempotent'),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    streaming: booleanOf(given, 'streaming'),
    serve: booleanOf(given, 'serve'),
    ...(maxConcurrent === undefined ? {} : { maxConcurrent }),
  };
}

type Given = Readonly<Record<string, unknown>>;

function parseObject(text: string): Given {
  if (text.trim() === '') throw new SchemaDocumentError('it printed nothing');
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new SchemaDocumentError(
      `it printed no JSON: ${error instanceof Error ? error.message : 'unreadable'}`,
    );
  }
  if (!isRecord(value)) throw new SchemaDocumentError('it printed JSON that is not an object');
  return value;
}

function schemaOf(given: Given, key: string): JsonSchema {
  const schema = given[key];
  if (isMissing(schema)) throw new SchemaDocumentError(`${key} is missing`);
  if (!isRecord(schema)) throw new SchemaDocumentError(`${key} must be a JSON Schema object`);
  return schema;
}

function checkSchemas(input: JsonSchema, output: JsonSchema): void {
  for (const [key, compile] of [
    ['input_schema', () => compileInput(input, 'the tool')],
    ['output_schema', () => compileOutput(output, 'the tool')],
  ] as const) {
    try {
      compile();
    } catch (error) {
      throw new SchemaDocumentError(`${key} cannot be used: ${error instanceof Error ? error.message : ''}`);
    }
  }
}

function effectsOf(
  given: Given,
  toolName: string,
  inputSchema: JsonSchema,
): readonly EffectTemplate[] | undefined {
  const { effects } = given;
  if (!isMissing(effects)) {
    if (given.read_only === true)
      throw new SchemaDocumentError('effects and read_only are given both; keep one');
    try {
      return parseEffectTemplates(effects, inputSchema);
    } catch (error) {
      throw new SchemaDocumentError(`effects cannot be used: ${error instanceof Error ? error.message : ''}`);
    }
  }
  if (!booleanOf(given, 'read_only')) return undefined;
  // It does not say what it reads, so it counts as a reading call of a service.
  return parseEffectTemplates([{ kind: 'call', server: 'external', tool: toolName, access: 'read' }], {});
}

function tagsOf({ tags }: Given): readonly string[] {
  if (isMissing(tags)) return [];
  if (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')) return tags.map(plainText);
  throw new SchemaDocumentError('tags must be a list of texts');
}

function wholeOf(given: Given, key: string): number | undefined {
  const value = given[key];
  if (isMissing(value)) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new SchemaDocumentError(`${key} must be a whole number from 1`);
}

/** Go writes an empty list, and a member without a value, as null. */
function isMissing(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function textOf(given: Given, key: string, fallback: string): string {
  const value = given[key] ?? fallback;
  if (typeof value === 'string') return plainText(value);
  throw new SchemaDocumentError(`${key} must be a text`);
}

function booleanOf(given: Given, key: string): boolean {
  const value = given[key] ?? false;
  if (typeof value === 'boolean') return value;
  throw new SchemaDocumentError(`${key} must be true or false`);
}

function isRecord(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
