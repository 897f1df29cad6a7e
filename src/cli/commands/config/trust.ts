import { relative, resolve } from 'node:path';
import { findProjectFile } from '../../../config/read-config-file.js';
import { distrustProject, trustProject } from '../../../config/trust-project.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { resolveSettings } from '../../resolve-settings.js';

interface TrustOptions {
  readonly revoke?: boolean;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      "A project's file may only tighten the settings, because a cloned repository is not trusted. This records the hash of the " +
        'current file: if the file changes, it has to be trusted again.',
    )
    .argument('[file]', "the file (default: the project's toolexec.toml)")
    .option('--revoke', 'stop trusting the file')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec config trust\n  toolexec config trust --revoke\n')
    .action(async (file: string | undefined, options: TrustOptions) => {
      finish(trustConfig(file, options, context));
    });
};

/**
 * `toolexec config trust`: the file counts as trusted from now on. @throws UsageError, ToolError
 * `config_invalid`
 */
export function trustConfig(
  named: string | undefined,
  { revoke, json }: TrustOptions,
  { stdio, env }: CliContext,
): ExitCode {
  const file = named === undefined ? findProjectFile(resolve('.')) : resolve(named);
  if (file === undefined) {
    throw new UsageError('Cannot find a toolexec.toml here or above, up to the repository. Name the file.');
  }
  const shown = relative(resolve('.'), file);
  if (revoke === true) {
    const trusted = distrustProject(file, env);
    if (json === true) writeJson(stdio.stdout, { file, trusted: false, changed: trusted });
    else stdio.stdout.write(`${shown} ${trusted ? 'is no longer trusted' : 'was not trusted'}\n`);
    return 0;
  }
  // An unusable file is not trusted, and its faults are reported here.
  resolveSettings({ config: file }, { env });
  const { sha256 } = trustProject(file, env);
  if (json === true) writeJson(stdio.stdout, { file, sha256, trusted: true });
  else stdio.stdout.write(`${shown} is trusted as it is now (sha256 ${sha256.slice(0, 16)}…)\n`);
  return 0;
}
