import type { WaitingBatch } from '../../contract/executor.js';
import { createExecutor } from '../../executor/create-executor.js';
import { openArchive } from '../../journal/open-archive.js';
import { sanitize } from '../../output/sanitize.js';
import { describeRequest } from '../choose-approver.js';
import type { CliContext } from '../cli-context.js';
import type { ListWaitingOptions } from '../define/define-waiting.js';
import { createPalette, type Palette, shortIds, writeJson } from '../display/terminal-text.js';
import type { ExitCode } from '../exit-code.js';
import { describeMissing, isRecorded, readingJournal } from '../recorded-journal.js';
import { resolveRun } from '../resolve-settings.js';

/** `toolexec waiting`: the deferred approvals of a journal, and how each is decided. */
export async function listWaiting(options: ListWaitingOptions, context: CliContext): Promise<ExitCode> {
  const { stdout, stderr } = context.stdio;
  const settled = resolveRun(options, context).executor;
  const waiting = await readWaiting(settled, options, context);
  if (options.json === true) {
    writeJson(stdout, waiting);
    return 0;
  }
  if (waiting.length === 0) {
    stdout.write('Nothing waits for approval.\n');
    return 0;
  }
  const palette = createPalette(stdout.isTerminal, context.env);
  const archive = openArchive(settled.journal.path);
  try {
    const short = shortIds((prefix) => archive.batches({ prefix }).map(({ id }) => id));
    stdout.write(waiting.map((batch) => describe(batch, short(batch.batchId), palette)).join('\n'));
  } finally {
    archive.close();
  }
  stderr.write(
    'toolexec: decide with "toolexec approve ID"; "toolexec journal recover --discard ID" gives one up\n',
  );
  return 0;
}

async function readWaiting(
  settled: ReturnType<typeof resolveRun>['executor'],
  { conversation }: ListWaitingOptions,
  { stdio }: Pick<CliContext, 'stdio'>,
): Promise<readonly WaitingBatch[]> {
  if (!isRecorded(settled.journal.path)) {
    stdio.stderr.write(`toolexec: ${describeMissing(settled.journal.path)}\n`);
    return [];
  }
  await using executor = createExecutor(settled);
  return await readingJournal(() => executor.waiting(conversation === undefined ? {} : { conversation }));
}

function describe({ conversation, since, requests }: WaitingBatch, id: string, palette: Palette): string {
  const head = `${palette.bold(id)}  conversation ${sanitize(conversation, 'inline')}  since ${since}`;
  const asked = requests.map((request, at) => describeRequest(request, at + 1, palette));
  const lines = asked.flatMap((text) => text.split('\n')).map((line) => `  ${line}`);
  return `${[head, ...lines].join('\n')}\n`;
}
