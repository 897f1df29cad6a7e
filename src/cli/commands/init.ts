import { resolve } from 'node:path';
import { Argument } from 'commander';
import { showPath } from '../../base/show-setting.js';
import { writeNewFiles } from '../../platform/fs/write-new-files.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { HOSTS_OF_PROJECTS, type HostOfProject, projectFiles } from '../init/templates.js';

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Writes a working project: an agent for a framework, or an MCP server, with a test that runs offline, ' +
        'and a policy that keeps commands contained. Replaces no file.',
    )
    .addArgument(new Argument('<host>', 'the framework').choices(HOSTS_OF_PROJECTS))
    .argument('<dir>', 'the directory, created if needed')
    .addHelpText('before', 'Examples:\n  toolexec init ai-sdk my-agent\n  toolexec init mcp my-server\n')
    .action((host: HostOfProject, directory: string) => finish(initProject(host, directory, context)));
};

/** `toolexec init HOST DIR`. @throws UsageError */
export function initProject(
  host: HostOfProject,
  directory: string,
  { stdio, version }: CliContext,
): ExitCode {
  if (directory === '') throw new UsageError('Cannot write a project to "": name a directory.');
  const files = projectFiles(host, version);
  const place = resolve(directory);
  let taken: string | undefined;
  try {
    taken = writeNewFiles(place, files);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`Cannot write to "${directory}": ${why}.`, { cause: error });
  }
  if (taken !== undefined)
    throw new UsageError(`Cannot write "${taken}": it is there already. Name another directory.`);
  for (const { path } of files) stdio.stdout.write(`${path}\n`);
  stdio.stderr.write(`toolexec: next, in "${showPath(directory)}": npm install; npm test\n`);
  return 0;
}
