import { parseListen } from '../../../base/parse-listen.js';
import type { FleetSettings } from '../../../config/configuration.js';
import {
  createFleetServer,
  type FleetServer,
  type FleetServerOptions,
} from '../../../fleet/create-fleet-server.js';
import { isLoopback } from '../../../platform/runtime/admit-request.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { createDisplay } from '../../display/display.js';
import { openStore } from '../../journal-store.js';
import { noteErrors } from '../../note-errors.js';
import { readHostName } from '../../options.js';
import { requireUsable } from '../../recorded-journal.js';
import { resolveServed } from '../../resolve-settings.js';
import { untilSignal } from '../../until-signal.js';

/** The options of `serve`, as commander passes them. */
interface ServeOptions {
  readonly listen?: string;
  readonly name?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
}

const LISTEN = '127.0.0.1:8787';

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Takes calls over HTTP, for workers that share the journal, and answers with their results. People can approve and ' +
        'cancel, and programs can watch. Every request needs a token: toolexec serve token create. Use a proxy for TLS. ' +
        'SIGTERM ends the server; calls continue.',
    )
    .option('--listen <[host:]port>', `where to listen (default: ${LISTEN})`)
    .option('--name <host...>', 'names under which a proxy serves it')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal that it shares with workers')
    .addHelpText(
      'before',
      `Examples:
  toolexec serve token create --tenant acme
  toolexec serve --journal /var/lib/app/journal.db
  toolexec serve --listen 10.0.0.5:8787 --name fleet.example.com
`,
    )
    .addHelpText(
      'after',
      '\nExit code: 0 ended by a signal; 2 wrong usage or configuration; 130 ended immediately.\n',
    )
    .action(async (options: ServeOptions) => {
      finish(await serveFleet(options, context));
    });
};

/** `toolexec serve`: runs until a signal. */
async function serveFleet(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env, exitNow } = context;
  const { listen = LISTEN } = options;
  const names = (options.name ?? []).map(readHostName);
  const address = parseListen(listen);
  if (address === undefined)
    throw new UsageError(
      `Cannot use --listen ${JSON.stringify(listen)}: [HOST:]PORT is expected, such as 8787.`,
    );
  const resolved = resolveServed(options, context);
  const display = createDisplay(stdio.stderr, false, env);
  for (const note of resolved.notes) display.note(note);
  const { path, ...more } = resolved.journal;
  await requireUsable(path, more);
  const logger = noteErrors(resolved.logger, display);
  const journal = await openStore(path, { ...more, logger });
  try {
    await using server = await listening(
      () => createFleetServer({ journal, logger, listen, names, ...limitsOf(resolved.fleet) }),
      listen,
    );
    display.note(`serving a fleet at ${server.url} from ${path}`);
    if (!isLoopback(address.host))
      display.note(`${address.host} can be reached from other machines, without encryption`);
    const { forget } = await untilSignal(context, () => exitNow(130));
    await server.close();
    forget();
    return 0;
  } finally {
    await journal.close();
  }
}

function limitsOf({
  startDeadlineMs,
  quotas,
}: FleetSettings): Pick<FleetServerOptions, 'startDeadlineMs' | 'quotas'> {
  return {
    ...(startDeadlineMs === undefined ? {} : { startDeadlineMs }),
    ...(quotas === undefined ? {} : { quotas }),
  };
}

async function listening(open: () => Promise<FleetServer>, listen: string): Promise<FleetServer> {
  try {
    return await open();
  } catch (error) {
    const isTaken =
      error instanceof Error &&
      'syscall' in error &&
      /^(?:listen|bind|getaddrinfo)/.test(String(error.syscall));
    if (!isTaken) throw error;
    throw new UsageError(`Cannot listen at ${listen}: ${error.message}.`, { cause: error });
  }
}
