import { isDeepStrictEqual } from 'node:util';
import { sanitize } from '../output/sanitize.js';
import type { SeenTool } from './tool-pins.js';

/** Texts of a schema that only inform: a change of them changes no call. */
const READ = new Set(['title', 'description', '$comment', 'default', 'examples']);

/** In JSON: a character that is not printable ASCII, or an escape of one (but line feeds and tabs). */
const SPECIAL = /[^\x20-\x7e]|\\[^"\\nt]/;

/** Whether a tool contains only characters that people see. @param json the tool as JSON; in doubt, false */
export function isPlain(json: string): boolean {
  return !SPECIAL.test(json);
}

/** A tool as shown to a model: without characters that models read but people do not see. */
export function plainDefinition(tool: SeenTool): SeenTool {
  const { title, description, inputSchema, outputSchema, ...rest } = tool;
  return {
    ...rest,
    ...(title === undefined ? {} : { title: sanitize(title, 'inline') }),
    ...(description === undefined ? {} : { description: sanitize(description) }),
    inputSchema: plainSchema(inputSchema) as SeenTool['inputSchema'],
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: plainSchema(outputSchema) as NonNullable<SeenTool['outputSchema']> }),
  };
}

/** Whether any text for a model contains such characters. */
export function hidesText(tool: SeenTool): boolean {
  const plain = plainDefinition(tool);
  return isHidden(tool.name) || hidesMore(plain) || !isDeepStrictEqual(asJson(plain), asJson(tool));
}

/**
 * Whether a schema contains such characters in other places: names of arguments, or values that they can have. Without
 * them, the server would not understand the call.
 */
export function hidesMore({ inputSchema, outputSchema }: SeenTool): boolean {
  return containsHidden(inputSchema) || containsHidden(outputSchema);
}

function containsHidden(schema: unknown): boolean {
  if (typeof schema === 'string') return isHidden(schema);
  if (typeof schema !== 'object' || schema === null) return false;
  return Object.entries(schema).some(([key, value]) => isHidden(key) || containsHidden(value));
}

function isHidden(text: string): boolean {
  return sanitize(text) !== text;
}

/** A copy without undefined members, and without the prototypes of the SDK's objects. */
function asJson(tool: SeenTool): unknown {
  return JSON.parse(JSON.stringify(tool));
}

function plainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      READ.has(key) ? plainText(value) : plainSchema(value),
    ]),
  );
}

/** An object is the schema of an argument with that name. */
function plainText(value: unknown): unknown {
  if (typeof value === 'string') return sanitize(value);
  return Array.isArray(value) ? value.map(plainText) : plainSchema(value);
}
