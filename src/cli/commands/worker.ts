import { InvalidArgumentError } from 'commander';
import type { ExecutorOptions } from '../../executor/executor-options.js';
import { createWorker } from '../../fleet/create-worker.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { createDisplay } from '../display/display.js';
import { isDatabase } from '../journal-databases.js';
import { openStore } from '../journal-store.js';
import { noteErrors } from '../note-errors.js';
import { openExternal } from '../open-executor.js';
import { requireUsable } from '../recorded-journal.js';
import { resolveRun } from '../resolve-settings.js';
import { untilSignal } from '../until-signal.js';

interface WorkerCommandOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly label?: readonly string[];
  readonly concurrency?: number;
  readonly lease?: number;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Runs calls that hosts have queued in the journal (fleet.run "anywhere"), contained and recorded as usual. ' +
        'SIGTERM lets running calls end and takes no new ones; a second signal ends the worker immediately.',
    )
    .option(
      '--root <dir...>',
      'directories that tools may touch; calls for these roots run here (default: .)',
    )
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal that hosts and workers share; outside every root')
    .option('--label <name...>', 'also take calls that require these labels')
    .option('--concurrency <n>', 'how many calls run at the same time (default: 8)', wholeNumber)
    .option('--lease <seconds>', 'how long its claims are valid without a renewal (default: 30)', wholeNumber)
    .addHelpText(
      'before',
      `Examples:
  toolexec worker --journal /var/lib/app/journal.db --root ~/project
  toolexec worker --journal ../jobs.db --label gpu --label big --concurrency 2
`,
    )
    .addHelpText(
      'after',
      '\nExit code: 0 drained after a signal; 2 wrong usage or configuration; 130 ended immediately.\n',
    )
    .action(async (options: WorkerCommandOptions) => {
      finish(await runWorker(options, context));
    });
};

function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('A whole number from 1 is expected.');
}

/** `toolexec worker`: takes calls until a signal arrives. */
async function runWorker(options: WorkerCommandOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env, exitNow } = context;
  const resolved = resolveRun(options, context);
  const display = createDisplay(stdio.stderr, false, env);
  for (const note of resolved.notes) display.note(note);
  const { externalTools, ...settings } = resolved.executor;
  const world = externalTools === undefined ? settings : { ...settings, externalTools };
  const external = await openExternal(world);
  const {
    leaseMs: configuredMs,
    labels: configured = [],
    quotas: { open: _, ...quotas } = {},
  } = resolved.fleet;
  const { label: labels = configured, concurrency, lease } = options;
  const leaseMs = lease === undefined ? configuredMs : lease * 1_000;
  const { path, ...more } = settings.journal;
  await requireUsable(path, more);
  const store = isDatabase(path) ? await openStore(path, more) : undefined;
  const worker = createWorker({
    ...settings,
    logger: noteErrors(settings.logger, display),
    ...(store === undefined ? {} : { journal: store }),
    ...(external === undefined ? {} : { external }),
    labels,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(leaseMs === undefined ? {} : { leaseMs }),
    ...(Object.keys(quotas).length === 0 ? {} : { quotas }),
  });
  display.note(describeWorker(settings, labels, concurrency));
  const { forget } = await untilSignal(context, () => exitNow(130));
  await worker.drain();
  await store?.close();
  forget();
  display.note('drained');
  return 0;

  function describeWorker(
    { root, journal }: Pick<typeof settings, 'root' | 'journal'>,
    offered: readonly string[],
    most = 8,
  ): string {
    const said = offered.length === 0 ? 'no labels' : `labels ${offered.join(', ')}`;
    return `worker ${worker.id} serves ${[root].flat().map(rootName).join(', ')} from ${journal.path} (${said}, ${most} calls at once)`;
  }
}

function rootName(root: NonNullable<ExecutorOptions['root']>): string {
  if (typeof root === 'string') return root;
  return [root]
    .flat()
    .map((one) => (typeof one === 'string' ? one : one.path))
    .join(', ');
}
