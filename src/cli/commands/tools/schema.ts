import { createExecutor } from '../../../executor/create-executor.js';
import { describeTools } from '../../../protocols/describe/describe-tools.js';
import type { CliContext } from '../../cli-context.js';
import type { SchemaOptions } from '../../define/define-tools.js';
import { writeJson } from '../../display/terminal-text.js';
import type { ExitCode } from '../../exit-code.js';
import { resolveSettings } from '../../resolve-settings.js';

/** `toolexec tools schema --for PROVIDER`: what belongs into the `tools` of its request. */
export async function writeToolSchemas(options: SchemaOptions, context: CliContext): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const { executor: settings } = resolveSettings(options, context).configuration;
  await using executor = createExecutor({ ...settings, journal: false });
  const described = describeTools(options.for, executor.definitions());
  if (typeof described === 'string') stdout.write(described.endsWith('\n') ? described : `${described}\n`);
  else writeJson(stdout, described);
  return 0;
}
