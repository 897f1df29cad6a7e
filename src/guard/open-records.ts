import { DEFAULT_LOGGER } from '../executor/default-logger.js';
import type { ExecutorOptions, JournalFile } from '../executor/executor-options.js';
import { journalFor } from '../executor/journal-for.js';
import { loadOwnTool } from '../executor/load-own-tool.js';
import { createSandbox } from '../files/create-sandbox.js';
import type { CallingProgram } from '../platform/process/calling-program.js';
import type { RecordWorld } from './change-record.js';

export interface RecordsPlace {
  readonly options: ExecutorOptions;
  readonly journal: JournalFile;
  readonly root: string;
  readonly caller: CallingProgram;
  readonly now: () => number;
}

/** Opens the journal of a root for a moment. @throws ToolError `journal_unavailable`, `config_invalid` */
export async function withRecords<T>(
  { options, journal: file, root, caller, now }: RecordsPlace,
  use: (world: RecordWorld) => Promise<T>,
): Promise<T> {
  const { journal, close } = journalFor(file, DEFAULT_LOGGER);
  if (journal === null) throw new Error('a journal in a file is never left out');
  const {
    deniedPatterns = [],
    deniedWritePatterns = [],
    includeDefaultDenies = true,
  } = options.sandbox ?? {};
  try {
    const sandbox = createSandbox({
      ...{ roots: [options.root ?? root].flat(), allowAbsolute: true },
      ...{ deniedPatterns, deniedWritePatterns, includeDefaultDenies },
    });
    return await use({
      ...{ journal, sandbox, worker: caller.worker, now },
      loadTool: (name) => loadOwnTool(name, options.builtins),
    });
  } finally {
    await close();
  }
}
