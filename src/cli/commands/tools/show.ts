import { nearestName } from '../../../base/nearest-name.js';
import type { JsonSchema } from '../../../contract/json.js';
import type { ToolDefinition } from '../../../contract/tool.js';
import { createExecutor } from '../../../executor/create-executor.js';
import { drawTable } from '../../../terminal/draw-table.js';
import { toWords } from '../../../terminal/visible-text.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { createPalette, type Palette, roomOn, writeJson } from '../../display/terminal-text.js';
import { resolveNoted } from '../../resolve-settings.js';
import { type OfferedTool, offeredTools } from './list.js';

/** The options of the `tools` commands, in commander's form. */
interface ToolsOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .argument('<tool>', 'the name of the tool, or an alias')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON, with the whole schema')
    .addHelpText('before', 'Examples:\n  toolexec tools show bash\n  toolexec tools show read_file --json\n')
    .action(async (name: string, options: ToolsOptions) => {
      finish(await showTool(name, options, context));
    });
};

/** `toolexec tools show NAME`: one tool. @throws UsageError for an unknown tool */
export async function showTool(name: string, options: ToolsOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const { offered } = await offeredTools(resolveNoted(options, context).configuration);
  const found = findTool(name, offered);
  await using executor = createExecutor({ tools: [found.tool], policy: null, journal: false });
  const [definition] = executor.definitions();
  const schema = definition?.inputSchema ?? {};
  if (options.json === true) writeJson(stdout, toJson(found, definition));
  else
    stdout.write(
      describeTool(found, schema, roomOn(stdout, context.env), createPalette(stdout.isTerminal, context.env)),
    );
  return 0;
}

function findTool(name: string, offered: readonly OfferedTool[]): OfferedTool {
  const found = offered.find(({ tool }) => tool.name === name || tool.aliases.includes(name));
  if (found !== undefined) return found;
  const nearest = nearestName(
    name,
    offered.flatMap(({ tool }) => [tool.name, ...tool.aliases]),
  );
  const hint = nearest === undefined ? 'toolexec tools list shows them.' : `Did you mean ${nearest}?`;
  throw new UsageError(`There is no tool ${JSON.stringify(name)}. ${hint}`);
}

function toJson({ tool, consent, reason }: OfferedTool, definition: ToolDefinition | undefined): unknown {
  const { name, aliases, category, timeoutClass, touches } = tool;
  return { ...definition, name, aliases, category, consent, reason, timeoutClass, touches };
}

function describeTool(
  { tool, consent, reason }: OfferedTool,
  schema: JsonSchema,
  columns: number,
  { bold }: Palette,
): string {
  const facts = [
    ...(tool.title === undefined ? [] : [['title', tool.title]]),
    ['kind', tool.category],
    ...(tool.touches === undefined ? [] : [['touches', tool.touches.join(', ') || 'nothing']]),
    ['consent', `${consent}: ${reason}`],
    ['time', `that of the class "${tool.timeoutClass}" in the configuration`],
    ...(tool.aliases.length === 0 ? [] : [['also called', tool.aliases.join(', ')]]),
  ];
  const args = describeArguments(schema);
  return [
    `${bold(tool.name)}\n`,
    `${toWords(tool.description, columns)
      .map((line) => `${line.trimEnd()}\n`)
      .join('')}\n`,
    drawTable({ rows: facts, columns }),
    args.length === 0
      ? '\nIt takes no arguments.\n'
      : `\n${bold('Arguments')}\n${drawTable({ rows: args, columns })}`,
  ].join('');
}

function describeArguments(schema: JsonSchema): string[][] {
  const properties = recordOf(schema.properties);
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(properties).map(([name, value]) => {
    const property = recordOf(value);
    const need = required.includes(name) ? 'required' : describeDefault(property.default);
    const description = typeof property.description === 'string' ? property.description : '';
    return [`  ${name}`, describeType(property), need, description];
  });
}

function describeType({ type, enum: choices }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(choices)) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  return Array.isArray(type) ? type.join(' | ') : String(type ?? 'any');
}

function describeDefault(value: unknown): string {
  return value === undefined ? 'optional' : `default ${JSON.stringify(value)}`;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}
