import { Option } from 'commander';
import type { Executor } from '../../../contract/executor.js';
import type { Settlement } from '../../../contract/journal.js';
import type { RecoveredBatch } from '../../../contract/open-batch.js';
import { isToolError } from '../../../errors/tool-error.js';
import { asDecided } from '../../../executor/record/attach.js';
import { askAboutLeft } from '../../ask-recovery.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { describeLeft } from '../../describe-left.js';
import { shortIds, writeJson, writeNote } from '../../display/terminal-text.js';
import { openArchiveAt, openStore } from '../../journal-store.js';
import { openExecutor } from '../../open-executor.js';
import { describeMissing, isRecorded, requireRecorded } from '../../recorded-journal.js';
import { decideUnlessDecided } from '../../recover-left.js';
import { resolveRun } from '../../resolve-settings.js';
import { findNamedBatch } from '../../waiting-batch.js';

/** The options of `journal recover`, in commander's form. */
interface RecoverOptions {
  readonly root?: readonly string[];
  readonly config?: string;
  readonly journal?: string;
  readonly resume?: string;
  readonly discard?: string;
  readonly applied?: readonly string[];
  readonly notApplied?: readonly string[];
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Gives the calls of dead processes their results: a call that never started is cancelled, a started one is unknown unless the ' +
        'files show more. No call runs again. An interrupted batch waits, and so does its conversation; at a ' +
        'terminal you are asked about it.',
    )
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal')
    .addOption(
      new Option(
        '--resume <id>',
        'a batch (8 characters of its id are enough), or its conversation: continue with the known results',
      ).conflicts('discard'),
    )
    .addOption(
      new Option(
        '--discard <id>',
        'a batch (8 characters of its id are enough), or its conversation: all of it counts as failed; calls that wait for approval do not run',
      ),
    )
    .option('--applied <call...>', 'with --resume: these calls with an unknown outcome took effect')
    .option('--not-applied <call...>', 'with --resume: these calls did not take effect')
    .option('--json', 'as JSON')
    .addHelpText(
      'before',
      'Examples:\n  toolexec journal recover\n  toolexec journal recover --resume BATCH --applied toolu_02\n' +
        '  toolexec journal recover --discard BATCH\n',
    )
    .action(async (options: RecoverOptions) => {
      finish(await recoverCalls(options, context));
    });
};

/**
 * `toolexec journal recover`: recovers calls of dead processes, lists them, and takes the person's decision
 * (D089).
 */
export async function recoverCalls(options: RecoverOptions, context: CliContext): Promise<ExitCode> {
  const { stdio } = context;
  const { executor: resolved, notes } = resolveRun(options, context);
  for (const note of notes) writeNote(stdio, note);
  const decision = options.resume === undefined ? 'discard' : 'resume';
  const named = options.resume ?? options.discard;
  const settled = readSettled(options);
  if (named !== undefined) requireRecorded(resolved.journal.path, `decide about "${named}"`);
  // A program that recovers before its first run is correct; but a wrong name must not look like success.
  if (!isRecorded(resolved.journal.path)) {
    writeNote(stdio, describeMissing(resolved.journal.path));
    stdio.stdout.write(options.json === true ? '[]\n' : NOTHING);
    return 0;
  }
  await using executor = await openExecutor(resolved);
  let batches = await recover(executor);
  if (named !== undefined) {
    const id = await findId(named, decision, batches, resolved.journal.path);
    const found = batches.find(({ batchId, waits }) => waits && batchId === id);
    if (found !== undefined) requireDecision(found, decision);
    await decide(executor, id, decision, settled);
    const decided = await readDecided(id, resolved.journal.path);
    batches = [...batches.filter((batch) => batch !== found), decided];
  } else if (options.json !== true) {
    batches = await askAboutEach(batches, executor, resolved.journal.path, context);
  }
  if (options.json === true) writeJson(stdio.stdout, batches);
  else stdio.stdout.write(await describe(batches, resolved.journal.path));
  if (named !== undefined && options.json !== true) {
    stdio.stderr.write(`toolexec: ${decision === 'resume' ? RESUMED : DISCARDED}\n`);
  }
  return 0;
}

/** @throws UsageError for calls that are settled twice, or without a batch. */
function readSettled({ resume, applied = [], notApplied = [] }: RecoverOptions): Record<string, Settlement> {
  const twice = applied.find((id) => notApplied.includes(id));
  if (twice !== undefined)
    throw new UsageError(`Cannot decide about "${twice}": --applied and --not-applied exclude each other.`);
  if (resume === undefined && applied.length + notApplied.length > 0)
    throw new UsageError('Cannot decide about calls: name their batch with --resume.');
  return Object.fromEntries([
    ...applied.map((id) => [id, 'applied'] as const),
    ...notApplied.map((id) => [id, 'not_applied'] as const),
  ]);
}

/** At a terminal, the person decides each waiting batch now or later. */
async function askAboutEach(
  batches: readonly RecoveredBatch[],
  executor: Executor,
  journal: string,
  context: CliContext,
): Promise<readonly RecoveredBatch[]> {
  const after: RecoveredBatch[] = [];
  let isAsking = true;
  for (const batch of batches) {
    const answer =
      isAsking && batch.waitsFor === 'recovery' ? await askAboutLeft(batch, journal, context) : undefined;
    if (answer?.kind === 'interrupt') isAsking = false;
    if (answer?.kind !== 'resume' && answer?.kind !== 'discard') {
      after.push(batch);
      continue;
    }
    await decideUnlessDecided(executor, batch.batchId, answer);
    after.push(await readDecided(batch.batchId, journal));
  }
  return after;
}

async function decide(
  executor: Executor,
  batchId: string,
  kind: 'resume' | 'discard',
  settled: Readonly<Record<string, Settlement>>,
): Promise<void> {
  try {
    await executor.decide(batchId, kind, { settled });
  } catch (error) {
    if (isToolError(error)) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

const RESUMED = 'resumed: the calls are answered with their known results';
const DISCARDED = 'discarded: if a call of the batch is delivered again, it is answered as failed';

/** @throws UsageError for an unusable journal. */
async function recover(executor: Executor): Promise<readonly RecoveredBatch[]> {
  try {
    return await executor.recover();
  } catch (error) {
    if (isToolError(error, 'journal_unavailable')) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

/** A discarded batch gets its answers only now. */
async function readDecided(batchId: string, path: string): Promise<RecoveredBatch> {
  const journal = await openStore(path);
  try {
    const recorded = await journal.batch(batchId);
    const calls = recorded.map((call) => {
      const { callId, toolName, state, result, settled } = call;
      // A discarded call is listed with its known outcome.
      const told = result === undefined || settled === undefined ? result : asDecided(call, result);
      return { callId, toolName, state, ...(told === undefined ? {} : { result: told }) };
    });
    const own = recorded.find((call) => call.batchId === batchId);
    return { batchId, conversation: own?.conversation ?? '', waits: false, calls };
  } finally {
    await journal.close();
  }
}

/** @throws UsageError for a name without a match, or with several. */
async function findId(
  named: string,
  decision: 'resume' | 'discard',
  batches: readonly RecoveredBatch[],
  path: string,
): Promise<string> {
  const waiting = batches.filter(({ waits }) => waits);
  const journal = await openStore(path);
  try {
    const ids = waiting.map(({ batchId: id, conversation }) => ({ id, conversation }));
    return await findNamedBatch(named, decision, journal, ids);
  } finally {
    await journal.close();
  }
}

/** @throws UsageError: a batch that waits for approval cannot be resumed. */
function requireDecision({ batchId: id, waitsFor }: RecoveredBatch, decision: 'resume' | 'discard'): void {
  if (decision === 'discard' || waitsFor === 'recovery') return;
  throw new UsageError(
    `Batch ${id} waits for approval, and has not begun: toolexec approve ${id}, or --discard it.`,
  );
}

const WAITS = {
  recovery: 'waits: --resume or --discard it',
  approval: 'waits for approval: toolexec approve, or --discard it',
};

const LEFT =
  'left unchanged: a living process runs it, or it has changed files outside these roots (recover it with their --root)';

const NOTHING = 'Nothing was left unfinished.\n';

async function describe(batches: readonly RecoveredBatch[], path: string): Promise<string> {
  if (batches.length === 0) return NOTHING;
  const archive = await openArchiveAt(path, { limit: batches.length });
  try {
    const short = shortIds((prefix) => archive.batches({ prefix }).map(({ id }) => id));
    return batches.map((batch) => describeBatch(batch, short(batch.batchId))).join('');
  } finally {
    archive.close();
  }
}

function describeBatch(batch: RecoveredBatch, id: string): string {
  const { conversation, waitsFor } = batch;
  const isLeft = batch.calls.some(({ result }) => result === undefined);
  const state = waitsFor !== undefined ? WAITS[waitsFor] : isLeft ? LEFT : 'recovered';
  return `${id}  ${conversation}\n  ${state}\n  ${describeLeft(batch)}\n`;
}
