import { relative, resolve } from 'node:path';
import type { UndoReport } from '../../contract/executor.js';
import { isToolError } from '../../errors/tool-error.js';
import { createExecutor } from '../../executor/create-executor.js';
import { sanitize } from '../../output/sanitize.js';
import type { CliContext } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import type { UndoCallOptions } from '../define/define-undo.js';
import { writeJson } from '../display/terminal-text.js';
import type { ExitCode } from '../exit-code.js';
import { requireRecorded } from '../recorded-journal.js';
import { resolveRun } from '../resolve-settings.js';

/** `toolexec undo`: puts back what a call changed in files; 1 where something stays as it is. */
export async function undoCall(
  callId: string,
  options: UndoCallOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio } = context;
  const settled = resolveRun(options, context).executor;
  requireRecorded(settled.journal.path, `undo "${callId}"`);
  await using executor = createExecutor(settled);
  const { conversation, dryRun = false } = options;
  try {
    const report = await executor.undo(callId, {
      dryRun,
      ...(conversation === undefined ? {} : { conversation }),
    });
    if (options.json === true) writeJson(stdio.stdout, report);
    else stdio.stdout.write(describe(report, dryRun));
    return report.skipped.length === 0 ? 0 : 1;
  } catch (error) {
    if (!isToolError(error)) throw error;
    // What the file system refused is no mistake of usage.
    if (error.code === 'execution_failed') {
      stdio.stderr.write(`toolexec: ${sanitize(error.message, 'inline')}\n`);
      return 1;
    }
    throw new UsageError(error.message, { cause: error });
  }
}

function describe({ restored, skipped, undoId }: UndoReport, dryRun: boolean): string {
  const lines = [
    ...restored.map((path) => `${dryRun ? 'would put back' : 'put back'} ${shown(path)}`),
    ...skipped.map(({ path, reason }) => `left ${shown(path)}: ${reason}`),
  ];
  if (undoId !== undefined) lines.push(`to take this back: toolexec undo ${undoId}`);
  return lines.map((line) => `${sanitize(line, 'inline')}\n`).join('');
}

function shown(path: string): string {
  return relative(resolve('.'), path);
}
