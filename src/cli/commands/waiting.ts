import type { WaitingBatch } from '../../contract/open-batch.js';
import { describeRequest } from '../../executor/approve/describe-request.js';
import { sanitize } from '../../output/sanitize.js';
import { NO_AGENTS } from '../choose-model.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { createPalette, type Palette, shortIds, writeJson, writeNote } from '../display/terminal-text.js';
import { openArchiveAt } from '../journal-store.js';
import { openExecutor } from '../open-executor.js';
import { conversationName } from '../options.js';
import type { JournalChoice } from '../recorded-journal.js';
import { describeMissing, isRecorded, readingJournal } from '../recorded-journal.js';
import { resolveRun } from '../resolve-settings.js';

/** The options of `waiting`, in commander's form. */
interface ListWaitingOptions extends JournalChoice {
  readonly conversation?: string;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Lists the batches that "toolexec run --defer" or a program has deferred, longest wait first, with every call ' +
        'that needs approval. Runs and changes nothing.',
    )
    .option('--conversation <id>', 'only batches of this conversation', conversationName)
    .option('--root <dir...>', 'directories that tools may touch, as for run (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal of run')
    .option('--json', 'the whole requests as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec waiting\n  toolexec waiting --conversation thread-7\n  toolexec waiting --json\n',
    )
    .addHelpText('after', '\nExit code: 0, even if nothing waits; 2 wrong usage, input or configuration.\n')
    .action(async (options: ListWaitingOptions) => {
      finish(await listWaiting(options, context));
    });
};

/** `toolexec waiting`: the deferred approvals of a journal, and how to decide each. */
export async function listWaiting(options: ListWaitingOptions, context: CliContext): Promise<ExitCode> {
  const { stdout, stderr } = context.stdio;
  const { executor: resolved, notes } = resolveRun(options, context);
  for (const note of notes) writeNote(context.stdio, note);
  const waiting = await readWaiting(resolved, options, context);
  if (options.json === true) {
    writeJson(stdout, waiting);
    return 0;
  }
  if (waiting.length === 0) {
    stdout.write('Nothing waits for approval.\n');
    return 0;
  }
  const palette = createPalette(stdout.isTerminal, context.env);
  const archive = await openArchiveAt(resolved.journal.path, { limit: 1 });
  try {
    const short = shortIds((prefix) => archive.batches({ prefix }).map(({ id }) => id));
    const { drawPicture } = await import('../../terminal/draw-picture.js');
    const described = waiting.map((batch) => {
      const drawn = batch.requests.flatMap((request, index) => {
        const head = { ...request, number: index + 1 };
        return drawPicture(describeRequest(request), head, {
          palette,
          columns: stdout.columns - 2,
          remedy: '--json has all',
        });
      });
      return describe(batch, short(batch.batchId), drawn, palette);
    });
    stdout.write(described.join('\n'));
  } finally {
    archive.close();
  }
  stderr.write(
    'toolexec: decide with "toolexec approve ID"; "toolexec journal recover --discard ID" discards one\n',
  );
  return 0;
}

async function readWaiting(
  resolved: ReturnType<typeof resolveRun>['executor'],
  { conversation }: ListWaitingOptions,
  { stdio }: Pick<CliContext, 'stdio'>,
): Promise<readonly WaitingBatch[]> {
  if (!isRecorded(resolved.journal.path)) {
    writeNote(stdio, describeMissing(resolved.journal.path));
    return [];
  }
  await using executor = await openExecutor({ ...resolved, agents: NO_AGENTS });
  return await readingJournal(() => executor.waiting(conversation === undefined ? {} : { conversation }));
}

function describe(
  { conversation, since }: WaitingBatch,
  id: string,
  drawn: readonly string[],
  palette: Palette,
): string {
  const head = `${palette.bold(id)}  conversation ${sanitize(conversation, 'inline')}  since ${since}`;
  return `${[head, ...drawn.map((line) => `  ${line}`)].join('\n')}\n`;
}
