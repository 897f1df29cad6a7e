import { createExecutor } from '../../executor/create-executor.js';
import { describeTools } from '../../protocols/describe/describe-tools.js';
import type { SchemaOptions } from '../define/define-tools.js';
import type { ExitCode } from '../exit-code.js';
import { settleConfig } from '../settle-config.js';
import { writeJson } from '../show/write-json.js';
import type { Surroundings } from '../surroundings.js';

/** `toolexec tools schema --for PROVIDER`: what belongs into the `tools` of its request. */
export async function writeToolSchemas(
  options: SchemaOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdout } = surroundings.stdio;
  const { executor: settings } = settleConfig(options, surroundings).configuration;
  await using executor = createExecutor({ ...settings, journal: false });
  const described = describeTools(options.for, executor.definitions());
  if (typeof described === 'string') stdout.write(described.endsWith('\n') ? described : `${described}\n`);
  else writeJson(stdout, described);
  return 0;
}
