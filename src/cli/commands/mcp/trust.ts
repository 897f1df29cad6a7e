import { hidesText } from '../../../mcp/plain-definition.js';
import {
  comparePins,
  type Pins,
  pinHash,
  readPins,
  type SeenTool,
  writePins,
} from '../../../mcp/tool-pins.js';
import type { UpstreamState } from '../../../mcp/upstream-source.js';
import { sanitize } from '../../../output/sanitize.js';
import { askConsent } from '../../ask-consent.js';
import { type CliContext, type DefineCommand, type ExitCode, UsageError } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { openMcpGateway, requireServers } from '../../open-mcp-gateway.js';
import { resolveRun } from '../../resolve-settings.js';

/** The options of `mcp trust`, as commander passes them. */
interface TrustOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly yes?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      "Shows the descriptions of a server's tools, as a model would read them, and pins them: from then on a tool " +
        'that is new or has changed is hidden from models until you have seen it again. Invisible characters are shown ' +
        'as ‹U+200B›, and never reach a model.',
    )
    .argument('<name>', 'the server, as in [mcp.servers.NAME]')
    .option('--root <dir...>', 'directories that the server may touch, as for mcp (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--yes', 'pin without asking')
    .addHelpText('before', 'Examples:\n  toolexec mcp trust github\n  toolexec mcp trust github --yes\n')
    .addHelpText(
      'after',
      '\nExit code: 0 pinned, or nothing has changed; 1 the server does not answer, or you said no; 2 wrong usage or ' +
        'configuration; 3 no person to ask.\n',
    )
    .action(async (name: string, options: TrustOptions) => {
      finish(await trustServer(name, options, context));
    });
};

/** `toolexec mcp trust`: records that a person has seen the tools of a server. */
async function trustServer(name: string, options: TrustOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env } = context;
  const resolved = resolveRun(options, context);
  const display = createDisplay(stdio.stderr, false, env);
  for (const note of resolved.notes) display.note(note);
  const servers = requireServers(resolved.mcp.servers, name);
  const { offered, broken } = await offeredBy(name, servers, resolved, context);
  for (const [tool, why] of Object.entries(broken))
    display.note(
      `${sanitize(tool, 'inline')} cannot be used, and hides no other tool: ${sanitize(why, 'inline')}`,
    );
  const pins = readPins(name) ?? new Map();
  const { added, changed, gone } = comparePins(pins, offered);
  if (added.length + changed.length + gone.length === 0 && pins.size === offered.length) {
    stdio.stdout.write(`${name}: nothing has changed since it was trusted (${offered.length} tools)\n`);
    return 0;
  }
  const { toVisible } = await import('../../../terminal/visible-text.js');
  const show = (text: string): string =>
    text
      .split('\n')
      .map((line) => toVisible(line, { lookalikes: true }))
      .join('\n');
  for (const tool of offered)
    if (added.includes(tool.name) || changed.includes(tool.name))
      stdio.stdout.write(describe(tool, pins, show));
  for (const tool of gone) stdio.stdout.write(`- ${show(tool)}: gone\n`);
  const counts = `${added.length} new, ${changed.length} changed, ${gone.length} gone`;
  const agreed = await askConsent(`Show these to models (${counts})?`, options.yes, context);
  if (agreed === undefined) {
    display.note('nothing was pinned: there is no person to ask here; --yes pins without asking');
    return 3;
  }
  if (!agreed) return 1;
  writePins(name, offered);
  stdio.stdout.write(`${name}: ${offered.length} tools are pinned (${counts})\n`);
  return 0;
}

async function offeredBy(
  name: string,
  servers: ReturnType<typeof requireServers>,
  resolved: ReturnType<typeof resolveRun>,
  context: CliContext,
): Promise<{ readonly offered: readonly SeenTool[]; readonly broken: UpstreamState['broken'] }> {
  const silent = { ...createDisplay(context.stdio.stderr, false, context.env), note: () => {} };
  const gateway = await openMcpGateway({ servers }, resolved, context, silent);
  try {
    await gateway.connectAll();
    const offered = gateway.source.offeredBy(name);
    const [state] = gateway.source.states;
    if (offered === undefined || state === undefined || state.problem !== undefined)
      throw new UsageError(`Cannot look at ${name}: it does not answer: ${state?.problem ?? 'it was lost.'}`);
    return { offered, broken: state.broken };
  } finally {
    await gateway.close();
  }
}

function describe(tool: SeenTool, pins: Pins, show: (text: string) => string): string {
  const before = pins.get(tool.name);
  const part = (label: string, now: unknown, then: unknown): readonly string[] => {
    const [text, was] = [now, then].map((value) =>
      value === undefined
        ? undefined
        : show(typeof value === 'string' ? value : JSON.stringify(value, null, 2)),
    );
    if (text === undefined && was === undefined) return [];
    if (before === undefined || text === was) return indent(`${label}: ${text ?? ''}`, '    ');
    return [...indent(`${label}: ${was ?? ''}`, '  - '), ...indent(`${label}: ${text ?? ''}`, '  + ')];
  };
  const lines = [
    `${before === undefined ? '+' : '~'} ${show(tool.name)}: ${before === undefined ? 'new' : 'changed'} (sha256 ${pinHash(tool).slice(0, 16)}…)`,
    ...(hidesText(tool) ? ['  ⚠ it contains invisible characters'] : []),
    ...part('title', tool.title, before?.title),
    ...part('description', tool.description, before?.description),
    ...part('arguments', tool.inputSchema, before?.inputSchema),
    ...part('results', tool.outputSchema, before?.outputSchema),
    ...part('says of itself', tool.annotations, before?.annotations),
  ];
  return `${lines.join('\n')}\n`;
}

function indent(text: string, margin: string): readonly string[] {
  return text.split('\n').map((line) => `${margin}${line}`);
}
