import { nearestName } from '../../../base/nearest-name.js';
import type { Configuration } from '../../../config/configuration.js';
import type { ExternalToolInfo } from '../../../contract/external.js';
import { sanitize } from '../../../output/sanitize.js';
import { type CliContext, type DefineCommand, type ExitCode, UsageError } from '../../cli-context.js';
import { writeJson } from '../../display/terminal-text.js';
import { openExternal } from '../../open-executor.js';
import { resolveSettings } from '../../resolve-settings.js';

interface ApproveOptions {
  readonly all?: boolean;
  readonly config?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Accepts changed programs. If the description, schemas or effects of a program have changed, every call of it needs ' +
        'approval until then; "toolexec tools list" names such programs, and "toolexec tools show" shows the new description.',
    )
    .argument('[tools...]', 'their names')
    .option('--all', 'every program that has changed')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec tools approve slug\n  toolexec tools approve --all\n')
    .action(async (names: readonly string[], options: ApproveOptions) => {
      finish(await approveTools(names, options, context));
    });
};

/** `toolexec tools approve NAME…`. @throws UsageError for an unknown program, or without a name */
export async function approveTools(
  names: readonly string[],
  options: ApproveOptions,
  context: CliContext,
): Promise<ExitCode> {
  if ((options.all === true) === names.length > 0) {
    throw new UsageError('Cannot approve: name the tools, or give --all.');
  }
  const { configuration } = resolveSettings(options, context);
  const before = await changesAfter(configuration, (found) => {
    if (options.all === true) return found.filter(({ changed }) => changed !== undefined);
    return names.map((name) => findTool(name, found));
  });
  const { stdout, stderr } = context.stdio;
  if (options.json === true) {
    writeJson(
      stdout,
      before.map(({ name, path, changed = [] }) => ({ name, path, approved: changed })),
    );
  } else {
    for (const tool of before) stdout.write(`${sanitize(describe(tool), 'inline')}\n`);
    if (before.length === 0) stderr.write('toolexec: no program has changed\n');
  }
  return 0;
}

/**
 * Approves, and checks that the next start recognizes it. @returns the earlier state of the chosen programs
 */
async function changesAfter(
  configuration: Configuration,
  choose: (found: readonly ExternalToolInfo[]) => readonly ExternalToolInfo[],
): Promise<readonly ExternalToolInfo[]> {
  const chosen = await withTools(configuration, (service) => {
    const tools = choose(service?.list() ?? []);
    for (const { name } of tools) service?.approve(name);
    return tools;
  });
  const isApproved = (name: string): boolean => chosen.some((tool) => tool.name === name);
  const left = await withTools(configuration, (service) =>
    (service?.list() ?? []).filter(({ name, changed }) => changed !== undefined && isApproved(name)),
  );
  if (left.length === 0) return chosen;
  const shown = left.map(({ name }) => name).join(', ');
  throw new Error(
    `the approval of ${shown} could not be recorded. Check that the state directory can be written.`,
  );
}

async function withTools<T>(
  { executor, external: externalTools }: Configuration,
  look: (service: Awaited<ReturnType<typeof openExternal>>) => T,
): Promise<T> {
  await using service = await openExternal({ ...executor, ...(externalTools && { externalTools }) });
  return look(service);
}

function findTool(name: string, found: readonly ExternalToolInfo[]): ExternalToolInfo {
  const tool = found.find((one) => one.name === name);
  if (tool === undefined) {
    const nearest = nearestName(
      name,
      found.map((one) => one.name),
    );
    const hint = nearest === undefined ? 'toolexec tools list shows them.' : `Did you mean ${nearest}?`;
    throw new UsageError(
      `Cannot approve ${JSON.stringify(name)}: no program in tools.external has this name. ${hint}`,
    );
  }
  if (tool.status === 'ready') return tool;
  throw new UsageError(
    `Cannot approve "${name}": it does not describe itself (${tool.errorMessage ?? tool.status}).`,
  );
}

function describe({ name, path, version, changed = [] }: ExternalToolInfo): string {
  const shown = `${name} ${version} (${path})`;
  if (changed.length === 0) return `${shown}: nothing about it has changed`;
  return `${shown}: its ${changed.join(' and ')} ${changed.length === 1 ? 'is' : 'are'} approved`;
}
