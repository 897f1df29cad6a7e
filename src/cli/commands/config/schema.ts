import { configSchema } from '../../../config/config-schema.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { toSafeJson } from '../../display/terminal-text.js';

export const define: DefineCommand = (command, context, finish) => {
  command
    .addHelpText('before', 'Examples:\n  toolexec config schema > toolexec.schema.json\n')
    .action(async () => {
      finish(writeConfigSchema(context));
    });
};

/** `toolexec config schema`: for editors, in readable form. */
export function writeConfigSchema({ stdio }: CliContext): ExitCode {
  stdio.stdout.write(`${toSafeJson(configSchema(), 2)}\n`);
  return 0;
}
