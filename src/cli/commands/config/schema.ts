import { configSchema } from '../../../config/config-schema.js';
import type { CliContext } from '../../cli-context.js';
import { toSafeJson } from '../../display/terminal-text.js';
import type { ExitCode } from '../../exit-code.js';

/** `toolexec config schema`: for the editor, so written to be read. */
export function writeConfigSchema({ stdio }: CliContext): ExitCode {
  stdio.stdout.write(`${toSafeJson(configSchema(), 2)}\n`);
  return 0;
}
