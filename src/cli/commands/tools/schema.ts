import { Option } from 'commander';
import { describeTools } from '../../../providers/describe/describe-tools.js';
import { WIRE_FORMATS, type WireFormat } from '../../../providers/registry.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { openExecutor } from '../../open-executor.js';
import { resolveNoted } from '../../resolve-settings.js';

interface SchemaOptions {
  readonly config?: string;
  readonly for: WireFormat;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Writes the `tools` of a request, sorted by name and with the same bytes every time, so that prompt ' +
        'caches work. For `fenced` it is text for the system prompt. Writes nothing in mode `disabled`.',
    )
    .addOption(
      new Option('--for <provider>', 'the provider of the request')
        .choices(WIRE_FORMATS)
        .makeOptionMandatory(),
    )
    .option('--config <file>', 'a toolexec.toml')
    .addHelpText(
      'before',
      'Examples:\n  toolexec tools schema --for anthropic\n  toolexec tools schema --for gemini > tools.json\n',
    )
    .action(async (options: SchemaOptions) => {
      finish(await writeToolSchemas(options, context));
    });
};

/** `toolexec tools schema --for PROVIDER`: the `tools` part of its request. */
export async function writeToolSchemas(options: SchemaOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const { executor: settings, external } = resolveNoted(options, context).configuration;
  await using executor = await openExecutor({
    ...settings,
    ...(external && { externalTools: external }),
    journal: false,
  });
  const described = describeTools(options.for, executor.definitions());
  if (typeof described === 'string') stdout.write(described.endsWith('\n') ? described : `${described}\n`);
  else writeJson(stdout, described);
  return 0;
}
