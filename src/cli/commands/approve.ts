import type { Journal } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { findDeferred as requireDeferred } from '../../executor/approve/find-deferred.js';
import { createExecutor } from '../../executor/create-executor.js';
import { openJournal } from '../../journal/open-journal.js';
import { writeResults } from '../../protocols/write-results.js';
import { chooseApprover } from '../choose-approver.js';
import type { CliContext } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import type { ApproveOptions } from '../define/define-approve.js';
import { createDisplay, noteResults } from '../display/display.js';
import { writeJson } from '../display/terminal-text.js';
import { type ExitCode, exitCodeOf } from '../exit-code.js';
import { requireRecorded } from '../recorded-journal.js';
import { resolveRun } from '../resolve-settings.js';
import { requireKnownIds, watchBatch } from '../run-batch.js';
import { absolute, type BatchOrigin, findNamedBatch, readOrigin } from '../waiting-batch.js';
import { isPutOff } from './run.js';

/** `toolexec approve`: decides about a batch that was put off, and answers as `run` would have. */
export async function approveBatch(
  named: string,
  options: ApproveOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio, env, exitNow } = context;
  const settled = resolveRun(options, context);
  requireRecorded(settled.executor.journal.path, `approve "${named}"`);
  const { path, ...more } = settled.executor.journal;
  const journal = openJournal(path, { ...more, logger: settled.executor.logger });
  try {
    const { id, origin } = await findDeferred(named, journal);
    const calls = await journal.batch(id);
    requireKnownIds(
      options.approve,
      calls.map(({ callId }) => ({ id: callId })),
      'batch',
    );
    requireRoots(origin.roots, absolute(settled.executor.root));
    const approver = chooseApprover(options, stdio, env);
    const display = createDisplay(stdio.stderr, options.json === true, env);
    for (const note of settled.notes) display.note(note);
    await using executor = createExecutor({
      ...settled.executor,
      journal,
      ...(approver === undefined ? {} : { approver }),
    });
    const { results, interrupted } = await watchBatch(
      () => executor.approve(id, { parallel: options.parallel ?? settled.parallel }),
      { executor, errors: origin.errors, display, stdio, exitNow: () => exitNow(exitCodeOf([], true)) },
    );
    const { format = origin.format } = options;
    writeJson(stdio.stdout, writeResults(format, results, format === origin.format ? origin : {}));
    noteResults(results, display);
    return exitCodeOf(results, interrupted, results.some(isPutOff));
  } catch (error) {
    if (
      isToolError(error, 'journal_unavailable') ||
      isToolError(error, 'bad_args') ||
      isToolError(error, 'tools_disabled')
    )
      throw new UsageError(error.message, { cause: error });
    throw error;
  } finally {
    await journal.close();
  }
}

/** @throws ToolError `already_decided`, `bad_args` for one that does not wait for approval. */
async function findDeferred(
  named: string,
  journal: Journal,
): Promise<{ readonly id: string; readonly origin: BatchOrigin }> {
  const waiting = await journal.batches({ waiting: true });
  const id = await findNamedBatch(named, 'approve', journal, waiting);
  await requireDeferred(journal, id);
  return { id, origin: readOrigin(waiting.find((batch) => batch.id === id)?.origin) };
}

/** Elsewhere the same calls would touch other files. */
function requireRoots(planned: readonly string[], here: readonly string[]): void {
  if (planned.length === 0 || planned.join('\0') === here.join('\0')) return;
  const roots = planned.map((root) => JSON.stringify(root)).join(' ');
  throw new UsageError(`The batch was put off for other directories: approve it with --root ${roots}.`);
}
