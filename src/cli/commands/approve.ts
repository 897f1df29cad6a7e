import { Option } from 'commander';
import type { Journal } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { findDeferred as requireDeferred } from '../../executor/approve/find-deferred.js';
import { readAsked } from '../../executor/approve/ticket.js';
import type { HistoryFormat } from '../../providers/registry.js';
import { writeResults } from '../../providers/write-results.js';
import { chooseAsker, holding } from '../ask-person.js';
import { chooseApprover } from '../choose-approver.js';
import {
  addModelOptions,
  agentsOf,
  type ModelChoice,
  NO_AGENTS,
  needsAgents,
  rememberedModel,
} from '../choose-model.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { decideQuestion } from '../decide-question.js';
import { createDisplay, noteResults } from '../display/display.js';
import { writeJson } from '../display/terminal-text.js';
import { exitCodeOf } from '../exit-code.js';
import { openStore } from '../journal-store.js';
import { openExecutor } from '../open-executor.js';
import { gatewayOfCalls, withGatewayTools } from '../open-mcp-gateway.js';
import {
  addFormatOption,
  type BatchOptions,
  EXIT_CODES_HELP,
  laterCodeOption,
  yesOption,
} from '../options.js';
import { requireRecorded } from '../recorded-journal.js';
import { resolveRun } from '../resolve-settings.js';
import { isPutOff, requireKnownIds, watchBatch } from '../run-batch.js';
import { absolute, type BatchOrigin, findNamedBatch, readOrigin } from '../waiting-batch.js';

/** The options of `approve`, in commander's form. */
interface ApproveOptions extends Omit<BatchOptions, 'dryRun'>, ModelChoice {
  readonly approve?: readonly string[];
  readonly format?: HistoryFormat;
  readonly parallel?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Decides about a batch that "toolexec run --defer" has deferred. Its calls are checked with the current ' +
        'configuration; approved calls run, and the results of the whole batch are written as by run. Without ' +
        'a decision it keeps waiting.',
    )
    .argument('<id>', 'the batch, 8 characters or more of its id, or its conversation')
    .option('--root <dir...>', 'directories that tools may touch, as for run (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'the journal of run')
    .addOption(yesOption())
    .addOption(
      new Option('--approve <id...>', 'approve these calls, refuse the others').conflicts(['yes', 'deny']),
    )
    .addOption(laterCodeOption())
    .addOption(new Option('--deny', 'refuse every call that needs approval').conflicts(['yes', 'approve']))
    .option('--parallel', 'run calls in parallel if they do not touch the same things')
    .option('--json', 'everything on standard error as JSON, one object per line')
    .addHelpText(
      'before',
      `Examples:
  toolexec run response.json --defer
  toolexec approve 0198c3f2
  toolexec approve thread-7 --approve toolu_01
  toolexec approve 0198c3f2 --model anthropic/claude-sonnet-4-5
`,
    )
    .addHelpText('after', EXIT_CODES_HELP);
  addFormatOption(
    addModelOptions(command, 'the model of sub-agents (default: the model when they were deferred)'),
  ).action(async (id: string, options: ApproveOptions) => {
    finish(await approveBatch(id, options, context));
  });
};

/** `toolexec approve`: decides a deferred batch, and answers like `run`. */
export async function approveBatch(
  named: string,
  options: ApproveOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio, env, exitNow } = context;
  const resolved = resolveRun(options, context);
  requireRecorded(resolved.executor.journal.path, `approve "${named}"`);
  const { path, ...more } = resolved.executor.journal;
  const journal = await openStore(path, { ...more, logger: resolved.executor.logger });
  try {
    const { id, isQuestion, origin, model } = await findDeferred(named, journal);
    const calls = await journal.batch(id);
    requireKnownIds(
      options.approve,
      calls.map(({ callId }) => ({ id: callId })),
      'batch',
    );
    requireRoots(origin.roots, absolute(resolved.executor.root));
    const display = createDisplay(stdio.stderr, options.json === true, env);
    const keepOpen = (why: string): void => display.note(why);
    const approver = chooseApprover(options, context, resolved.executor, keepOpen);
    const asker = chooseAsker(stdio, env);
    for (const note of resolved.notes) display.note(note);
    await using gateway = await gatewayOfCalls(calls, resolved, context, display);
    await using executor = await openExecutor({
      ...withGatewayTools(resolved.executor, gateway),
      journal,
      agents:
        needsAgents(calls) && options.deny !== true
          ? agentsOf(`approve "${named}"`, options, model)
          : NO_AGENTS,
      ...(approver === undefined ? {} : { approver: holding(display, approver) }),
      ...(asker === undefined ? {} : { asker: holding(display, asker) }),
    });
    const watch = { executor, display, stdio, exitNow: () => exitNow(exitCodeOf([], true)) };
    if (isQuestion) {
      const code = await decideQuestion(id, approver && holding(display, approver), watch);
      writeJson(stdio.stdout, []);
      return code;
    }
    const { results, interrupted } = await watchBatch(
      () => executor.approve(id, { parallel: options.parallel ?? resolved.parallel }),
      { ...watch, errors: origin.errors },
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

/** @throws ToolError `already_decided`, `bad_args` for a batch that does not wait for approval. */
async function findDeferred(
  named: string,
  journal: Journal,
): Promise<{
  readonly id: string;
  /** The program that asked about its call also runs it. */
  readonly isQuestion: boolean;
  readonly origin: BatchOrigin;
  readonly model: ModelChoice;
}> {
  const waiting = await journal.batches({ waiting: true });
  const id = await findNamedBatch(named, 'approve', journal, waiting);
  const isQuestion = (await readAsked(journal, id)) !== undefined;
  if (!isQuestion) await requireDeferred(journal, id);
  const kept = waiting.find((batch) => batch.id === id)?.origin;
  return { id, isQuestion, origin: readOrigin(kept), model: rememberedModel(kept) };
}

/** With other roots the same calls would touch other files. */
function requireRoots(planned: readonly string[], here: readonly string[]): void {
  if (planned.length === 0 || planned.join('\0') === here.join('\0')) return;
  const roots = planned.map((root) => JSON.stringify(root)).join(' ');
  throw new UsageError(`The batch was deferred for other directories: approve it with --root ${roots}.`);
}
