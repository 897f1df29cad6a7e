import type { ToolDefinition } from '../../contract/tool.js';
import { ToolError } from '../../errors/tool-error.js';
import type { ToolLike } from '../tool-like.js';
import type { WireFormat } from '../wire-format.js';
import { protocolOf } from '../wire-protocols.js';
import { describeFenced } from './describe-fenced.js';
import { type GeminiSchema, toGeminiSchema } from './gemini-schema.js';
import { settleDefinition } from './settle-definition.js';
import { type ObjectSchema, toObjectSchema } from './to-object-schema.js';
import { wireNames } from './wire-names.js';

/**
 * What `describeTools` gives for each format: the `tools` of a request, or a text for the system prompt (fenced). The
 * lists are the caller's own, as the clients of the providers want them.
 */
export interface ToolDescriptions {
  readonly native: ToolDefinition[];
  readonly fenced: string;
  readonly anthropic: {
    readonly name: string;
    readonly description: string;
    readonly input_schema: ObjectSchema;
  }[];
  readonly openai: {
    readonly type: 'function';
    readonly function: FunctionDescription;
  }[];
  readonly 'openai-responses': (FunctionDescription & {
    readonly type: 'function';
    readonly strict: false;
  })[];
  readonly gemini: { readonly functionDeclarations: GeminiDeclaration[] }[];
}

interface FunctionDescription {
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
}

export interface GeminiDeclaration {
  readonly name: string;
  readonly description: string;
  /** Left out when the tool takes no arguments: the API refuses an object without properties. */
  readonly parameters?: GeminiSchema;
}

/**
 * The tools as a model of that provider is shown them, sorted by name. The same tools give the same bytes, in
 * whatever order they and the keys of their schemas come: a prompt cache lives from that (D112). Names and schemas
 * keep to the provider's rules; a name that does not is shortened, and `readCalls(response, { tools })` turns it back.
 * Changes nothing that is handed in.
 *
 * @throws ToolError `config_invalid` for what is no format, no tool or no JSON Schema; `duplicate_tool`.
 */
export function describeTools<F extends WireFormat>(
  format: F,
  tools: readonly ToolLike[],
): ToolDescriptions[F] {
  protocolOf(format);
  const definitions = tools.map(settleDefinition);
  const names = wireNames(
    format,
    definitions.map(({ name }) => name),
  );
  if (names.size < definitions.length) throw duplicate(definitions);
  const named = definitions.map(
    (tool): ToolDefinition => ({ ...tool, name: names.get(tool.name) ?? tool.name }),
  );
  return DESCRIBERS[format](named.sort((one, other) => (one.name < other.name ? -1 : 1)));
}

const DESCRIBERS: { readonly [F in WireFormat]: (tools: readonly ToolDefinition[]) => ToolDescriptions[F] } =
  {
    native: (tools) => [...tools],
    fenced: describeFenced,
    anthropic: (tools) =>
      tools.map((tool) => {
        const { schema, description } = toObjectSchema(tool, ANTHROPIC_PROPERTY);
        return { name: tool.name, description, input_schema: schema };
      }),
    openai: (tools) =>
      tools.map((tool) => {
        const { schema, description } = toObjectSchema(tool);
        return { type: 'function', function: { name: tool.name, description, parameters: schema } };
      }),
    'openai-responses': (tools) =>
      tools.map((tool) => {
        const { schema, description } = toObjectSchema(tool);
        return { type: 'function', name: tool.name, description, parameters: schema, strict: false };
      }),
    gemini: (tools) =>
      tools.length === 0 ? [] : [{ functionDeclarations: tools.map((tool) => toDeclaration(tool)) }],
  };

const ANTHROPIC_PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/;
const GEMINI_PROPERTY = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

function toDeclaration(tool: ToolDefinition): GeminiDeclaration {
  const { schema, description } = toObjectSchema(tool, GEMINI_PROPERTY);
  const parameters = toGeminiSchema(schema, GEMINI_PROPERTY);
  const isEmpty = parameters.properties === undefined;
  return { name: tool.name, description, ...(isEmpty ? {} : { parameters }) };
}

function duplicate(definitions: readonly ToolDefinition[]): ToolError {
  const names = definitions.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index) ?? '';
  return new ToolError(
    'duplicate_tool',
    `Cannot describe the tools: two of them are called ${JSON.stringify(twice.slice(0, 80))}. Rename one.`,
  );
}
