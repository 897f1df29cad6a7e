import { join, resolve } from 'node:path';
import { userConfigFile } from '../../../config/add-user-rule.js';
import { addUserServers, serversAsToml } from '../../../config/add-user-servers.js';
import { readClientServers } from '../../../config/client-servers.js';
import type { McpServerSettings } from '../../../config/mcp-servers.js';
import { sanitize } from '../../../output/sanitize.js';
import { configHome, homeOf } from '../../../platform/runtime/environment.js';
import { askConsent } from '../../ask-consent.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { resolveSettings } from '../../resolve-settings.js';

/** The options of `mcp import`, as commander passes them. */
interface ImportOptions {
  readonly from?: readonly string[];
  readonly yes?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Copies the MCP servers from the configuration of Claude Code, Cursor, VS Code and Gemini CLI, here and in ' +
        'your home directory, to your own configuration: shows the additions, and asks. The files of the clients are not changed.',
    )
    .option('--from <file...>', 'only these configuration files')
    .option('--yes', 'add without asking')
    .addHelpText(
      'before',
      'Examples:\n  toolexec mcp import\n  toolexec mcp import --from .mcp.json\n  toolexec mcp import --yes\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0 added, or there was nothing to add; 1 you said no; 2 wrong usage, or a file that cannot be read; 3 no ' +
        'person to ask.\n',
    )
    .action(async (options: ImportOptions) => {
      finish(await importServers(options, context));
    });
};

/** `toolexec mcp import`: the servers of other clients. */
async function importServers(options: ImportOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env } = context;
  const display = createDisplay(stdio.stderr, false, env);
  const files = options.from?.map((file) => resolve(file)) ?? clientFiles(env);
  const configured = resolveSettings({}, context).configuration.mcp?.servers ?? {};
  const added: Record<string, McpServerSettings> = {};
  for (const file of files) {
    const found = readClientServers(file, { required: options.from !== undefined, home: homeOf(env) });
    if (found === undefined) continue;
    for (const note of found.notes) display.note(`${file}: ${note}`);
    for (const [name, server] of Object.entries(found.servers)) {
      if (configured[name] !== undefined) display.note(`${file}: ${name} is configured already`);
      else if (added[name] === undefined) added[name] = server;
      else if (JSON.stringify(added[name]) !== JSON.stringify(server))
        display.note(`${file}: another server is called ${name}: left out`);
    }
  }
  if (Object.keys(added).length === 0) {
    stdio.stdout.write('There is no server to add.\n');
    return 0;
  }
  const target = userConfigFile(env);
  const text = serversAsToml(added);
  stdio.stdout.write(`${target}\n`);
  for (const line of text.trimEnd().split('\n')) stdio.stdout.write(`+ ${sanitize(line, 'inline')}\n`);
  const agreed = await askConsent(`Add them to ${target}?`, options.yes, context);
  if (agreed === undefined) {
    display.note('nothing was added: there is no person to ask here; --yes adds without asking');
    return 3;
  }
  if (!agreed) return 1;
  addUserServers(added, env);
  const names = Object.keys(added);
  stdio.stdout.write(`Added: ${names.join(', ')}.\n`);
  display.note(`their tools are hidden until you have seen them: toolexec mcp trust ${names[0] ?? 'NAME'}`);
  display.note('programs run without the network; add network = true for one that needs it');
  return 0;
}

/** Servers of the directory, then those of the person. */
function clientFiles(env: CliContext['env']): readonly string[] {
  const home = homeOf(env);
  const here = resolve('.');
  return [
    join(here, '.mcp.json'),
    join(here, '.cursor', 'mcp.json'),
    join(here, '.vscode', 'mcp.json'),
    join(here, '.gemini', 'settings.json'),
    join(home, '.claude.json'),
    join(home, '.cursor', 'mcp.json'),
    join(configHome(env), 'Code', 'User', 'mcp.json'),
    join(home, 'Library', 'Application Support', 'Code', 'User', 'mcp.json'),
    join(home, '.gemini', 'settings.json'),
  ].filter((file, at, all) => all.indexOf(file) === at);
}
