import { Option } from 'commander';
import type { DefineCommand } from './command-group.js';
import { defineCrash } from './define-crash.js';

/** What `tools` commands take, as commander hands it over. */
export interface ToolsOptions {
  readonly config?: string;
  readonly json?: boolean;
}

export interface SchemaOptions {
  readonly config?: string;
  readonly for: 'native' | 'fenced' | 'anthropic' | 'openai' | 'openai-responses' | 'gemini';
}

const PROVIDERS = ['anthropic', 'openai', 'openai-responses', 'gemini', 'native', 'fenced'];

export const defineTools: DefineCommand = (program, context, finish) => {
  const tools = program
    .command('tools')
    .summary('what tools there are, and what a model is told of them')
    .addHelpText(
      'before',
      `Examples:
  toolexec tools list
  toolexec tools show bash
  toolexec tools schema --for anthropic > tools.json
`,
    );
  tools
    .command('list')
    .summary('every tool with its consent under the configuration')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec tools list\n  toolexec tools list --json\n')
    .action(async (options: ToolsOptions) => {
      const { listTools } = await import('../commands/tools/list.js');
      finish(listTools(options, context));
    });
  tools
    .command('show')
    .summary('one tool: its arguments, its consent, its time')
    .argument('<tool>', 'its name, or another name it answers to')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON, with the whole schema')
    .addHelpText('before', 'Examples:\n  toolexec tools show bash\n  toolexec tools show read_file --json\n')
    .action(async (name: string, options: ToolsOptions) => {
      const { showTool } = await import('../commands/tools/show.js');
      finish(await showTool(name, options, context));
    });
  tools
    .command('schema')
    .summary('the tools of a request, as a provider wants them')
    .description(
      'Writes what belongs into the `tools` of a request, sorted by name and the same bytes every time, so that prompt ' +
        'caches hold. For `fenced` it is text for the system prompt. Nothing is written for mode `disabled`.',
    )
    .addOption(new Option('--for <provider>', 'whose request').choices(PROVIDERS).makeOptionMandatory())
    .option('--config <file>', 'a toolexec.toml')
    .addHelpText(
      'before',
      'Examples:\n  toolexec tools schema --for anthropic\n  toolexec tools schema --for gemini > tools.json\n',
    )
    .action(async (options: SchemaOptions) => {
      const { writeToolSchemas } = await import('../commands/tools/schema.js');
      finish(await writeToolSchemas(options, context));
    });
  defineCrash(tools, context, finish);
};
