import { readPins } from '../../../mcp/tool-pins.js';
import type { UpstreamState } from '../../../mcp/upstream-source.js';
import { sanitize } from '../../../output/sanitize.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { writeJson } from '../../display/terminal-text.js';
import { NO_SERVERS, openMcpGateway } from '../../open-mcp-gateway.js';
import { resolveRun } from '../../resolve-settings.js';

/** The options of `mcp list`, as commander passes them. */
interface ListOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Connects to every server in [mcp.servers.NAME], and says whether it answers, which of its tools are shown to models, ' +
        'and which wait for a person to accept them.',
    )
    .option('--root <dir...>', 'directories that the servers may touch, as for mcp (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON')
    .addHelpText('before', 'Examples:\n  toolexec mcp list\n  toolexec mcp list --json\n')
    .addHelpText(
      'after',
      '\nExit code: 0 every server answers, or there is none; 1 one does not; 2 wrong usage or configuration.\n',
    )
    .action(async (options: ListOptions) => {
      finish(await listServers(options, context));
    });
};

/** `toolexec mcp list`: the servers of the gateway, their state and their pins. */
async function listServers(options: ListOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env } = context;
  const resolved = resolveRun(options, context);
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of resolved.notes) display.note(note);
  const servers = resolved.mcp.servers ?? {};
  if (Object.keys(servers).length === 0) {
    if (options.json === true) writeJson(stdio.stdout, []);
    display.note(NO_SERVERS);
    return 0;
  }
  // The list below already contains these notes.
  const gateway = await openMcpGateway({ servers }, resolved, context, { ...display, note: () => {} });
  try {
    await gateway.connectAll();
    const { states } = gateway.source;
    if (options.json === true) writeJson(stdio.stdout, states);
    else for (const state of states) stdio.stdout.write(describe(state));
    return states.every(({ problem }) => problem === undefined) ? 0 : 1;
  } finally {
    await gateway.close();
  }
}

function describe({ name, shown, difference, broken, problem }: UpstreamState): string {
  const { added, changed, gone } = difference;
  const lines = [
    `${name}: ${problem === undefined ? 'answers' : `does not answer: ${problem}`}`,
    `  shown to models: ${shown.length === 0 ? 'none' : shown.join(', ')}`,
    ...(added.length === 0 ? [] : [`  new, not shown: ${added.join(', ')}`]),
    ...(changed.length === 0 ? [] : [`  changed, not shown: ${changed.join(', ')}`]),
    ...(gone.length === 0 ? [] : [`  gone: ${gone.join(', ')}`]),
    ...Object.entries(broken).map(([tool, why]) => `  cannot be used: ${tool}: ${why}`),
    ...(readPins(name) === undefined || added.length + changed.length > 0
      ? [`  look at them: toolexec mcp trust ${name}`]
      : []),
  ];
  return `${lines.map((line) => sanitize(line, 'inline')).join('\n')}\n`;
}
