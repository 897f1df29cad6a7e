import type { ExternalToolInfo } from '../../../contract/external.js';
import { isToolError } from '../../../errors/tool-error.js';
import { discoverTools } from '../../../executor/discover-tools.js';
import { sanitize } from '../../../output/sanitize.js';
import { targetOf } from '../../../platform/fs/fs-entry.js';
import { drawTable } from '../../../terminal/draw-table.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { createPalette, type Palette, roomOn, writeJson } from '../../display/terminal-text.js';

interface ScanOptions {
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Asks every executable file in a directory for its description (--schema), and shows which of them would be tools. ' +
        'Stores nothing, and runs no call.',
    )
    .argument('<dir>', 'the directory')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec tools scan ~/tools\n  toolexec tools scan ./bin --json\n')
    .addHelpText(
      'after',
      '\nExit code: 0 all of them are ready; 1 one is not; 2 there is no such directory.\n',
    )
    .action(async (directory: string, options: ScanOptions) => {
      finish(await scanDirectory(directory, options, context));
    });
};

/** `toolexec tools scan DIR`. @throws UsageError */
export async function scanDirectory(
  directory: string,
  options: ScanOptions,
  { stdio: { stdout, stderr }, env }: CliContext,
): Promise<ExitCode> {
  if (targetOf(directory) === undefined)
    throw new UsageError(`Cannot scan "${directory}": it does not exist.`);
  const tools = await look(directory);
  if (options.json === true) writeJson(stdout, tools);
  else if (tools.length === 0) stderr.write('toolexec: there is no executable file in it\n');
  else stdout.write(describe(tools, roomOn(stdout, env), createPalette(stdout.isTerminal, env)));
  return tools.every(({ status }) => status === 'ready') ? 0 : 1;
}

async function look(directory: string): Promise<readonly ExternalToolInfo[]> {
  try {
    await using service = await discoverTools(directory, { stateDirectory: false });
    return service.list();
  } catch (error) {
    if (isToolError(error, 'config_invalid')) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function describe(tools: readonly ExternalToolInfo[], columns: number, palette: Palette): string {
  const { green, red, yellow } = palette;
  const paints = { ready: green, 'schema-unknown': yellow, error: red } as const;
  const rows = tools.map(({ name, status, version, description, errorMessage }) => [
    sanitize(name, 'inline'),
    paints[status](status),
    sanitize(version, 'inline'),
    sanitize(errorMessage ?? description, 'inline'),
  ]);
  return drawTable({ head: ['TOOL', 'STATUS', 'VERSION', 'WHAT IT DOES'], rows, columns, palette });
}
