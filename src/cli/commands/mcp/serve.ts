import { resolve } from 'node:path';
import { isToolError } from '../../../errors/tool-error.js';
import type { McpServerOptions } from '../../../mcp/create-mcp-server.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { openExecutor } from '../../open-executor.js';
import { resolveRun } from '../../resolve-settings.js';

/** What `mcp` takes, as commander hands it over. */
interface ServeOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly conversation?: string;
  readonly readOnly?: boolean;
  readonly tools?: string;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Serves the tools to an MCP client on standard input and output: contained, approved, recorded and undoable as ' +
        'everywhere. A client starts this command itself; docs/mcp.md has the lines for its configuration.',
    )
    .option(
      '--root <dir...>',
      'directories that tools may touch; the first is the working directory (default: .)',
    )
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'where calls and results are recorded; outside of every root')
    .option(
      '--conversation <id>',
      'what the calls belong to: the same id in it is the same call (default: mcp/ and the client)',
    )
    .option('--read-only', 'serve only tools that change nothing')
    .option('--tools <names>', 'serve only these tools, separated by commas')
    .addHelpText(
      'before',
      `Examples:
  toolexec mcp
  toolexec mcp --root ~/project --read-only
  toolexec mcp --tools read_file,grep,glob
  claude mcp add toolexec -- toolexec mcp --root .
`,
    )
    .addHelpText(
      'after',
      '\nExit code: 0 the client has closed the connection; 2 wrong usage or configuration; 130 interrupted.\n',
    )
    .action(async (options: ServeOptions) => {
      finish(await serveMcp(options, context));
    });
};

/** `toolexec mcp`: one client, until it closes the connection. */
async function serveMcp(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env, exitNow } = context;
  const resolved = resolveRun(options, context);
  const display = createDisplay(stdio.stderr, false, env);
  for (const note of resolved.notes) display.note(note);
  const [{ createMcpServer }, { serveOverStdio }] = await Promise.all([
    import('../../../mcp/create-mcp-server.js'),
    import('../../../mcp/serve-stdio.js'),
  ]);
  const { keptUndelivered } = await import('../../../mcp/kept-undelivered.js');
  await using executor = await openExecutor(resolved.executor);
  const { path: journal } = resolved.executor.journal;
  const place = {
    decideWith: decideWith(options, resolved.executor.root),
    undelivered: keptUndelivered(`${journal}.mcp.json`),
    // The client has its own way to ask its person.
    hidden: ['ask_user_question'],
  };
  const shown = serverOptions(options);
  // Wrong options are found before a client waits for an answer.
  const create = (): ReturnType<typeof createMcpServer> => createMcpServer(executor, shown, place);
  try {
    await create().close();
  } catch (error) {
    if (isToolError(error, 'unknown_tool')) throw new UsageError(error.message, { cause: error });
    throw error;
  }
  let interrupted = false;
  const connection = serveOverStdio(create, (problem) => display.note(problem.message));
  const forget = stdio.onEndSignal(() => {
    if (interrupted) exitNow(130);
    interrupted = true;
    void connection.close();
  });
  await connection.ended;
  await executor.close();
  forget();
  return interrupted ? 130 : 0;
}

function serverOptions({ tools, readOnly, conversation }: ServeOptions): McpServerOptions {
  const names = tools?.split(',').map((name) => name.trim());
  if (names?.some((name) => name === ''))
    throw new UsageError(
      `Cannot use --tools ${JSON.stringify(tools)}: names of tools are expected, separated by commas.`,
    );
  if (conversation === '') throw new UsageError('Cannot use --conversation "": a name is expected.');
  return {
    ...(names === undefined ? {} : { tools: names }),
    ...(readOnly === undefined ? {} : { readOnly }),
    ...(conversation === undefined ? {} : { conversation }),
  };
}

/** The same journal and roots, wherever the person is. */
function decideWith(
  { journal, config }: ServeOptions,
  roots: readonly string[],
): (batchId: string) => string {
  const more = [
    ['--root', ...roots.map((root) => resolve(root))],
    ...(journal === undefined ? [] : [['--journal', resolve(journal)]]),
    ...(config === undefined ? [] : [['--config', resolve(config)]]),
  ];
  const words = more
    .flat()
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return (batchId) => `toolexec approve ${batchId} ${words.join(' ')}`;
}
