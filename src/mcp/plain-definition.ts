import { isDeepStrictEqual } from 'node:util';
import { sanitize } from '../output/sanitize.js';
import type { SeenTool } from './tool-pins.js';

/** The texts of a tool that a model reads. */
const READ = new Set(['title', 'description', '$comment']);

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
  return !isDeepStrictEqual(asJson(plainDefinition(tool)), asJson(tool));
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
      READ.has(key) && typeof value === 'string' ? sanitize(value) : plainSchema(value),
    ]),
  );
}
