import { randomBytes } from 'node:crypto';
import { Option } from 'commander';
import type { ApprovalDecision, ApprovalRequest, Approver } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';
import type { CommandChanges } from '../../contract/changes.js';
import type { JsonObject, JsonValue } from '../../contract/json.js';
import type { ExecutorOptions } from '../../executor/executor-options.js';
import { sanitize } from '../../output/sanitize.js';
import { systemClock } from '../../platform/clock/clock.js';
import {
  hasPipeNeighbour,
  isTerminalTaken,
  keepTerminalModes,
} from '../../platform/process/attached-terminal.js';
import { openKeyboard } from '../../platform/runtime/open-keyboard.js';
import { endOutput, isPiped } from '../../platform/runtime/stdio.js';
import { attachedCommandTool } from '../attached-command.js';
import type { CliContext, DefineCommand } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { isAutomated } from '../display/display.js';
import { createPalette, writeJson, writeNote } from '../display/terminal-text.js';
import { commandExitCode } from '../exit-code.js';
import { openExecutor } from '../open-executor.js';
import { questionScreen } from '../question-screen.js';
import { matchesTyped } from '../try/matches-typed.js';
import {
  commandLine,
  shellFor,
  type TrySettings,
  trySettings,
  workingDirectory,
} from '../try/try-settings.js';
import { watchInterrupts } from '../watch-interrupts.js';

interface TryOptions extends TrySettings {
  readonly keep?: boolean;
  readonly discard?: boolean;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Runs your own command on an overlay of the roots, shows its changes when it has ended, and asks whether to ' +
        'keep them. Without a command it opens your shell. The exit code is that of the command.',
    )
    .argument(
      '[command...]',
      'the command, after --; a single argument with spaces in it is a whole command line',
    )
    .option(
      '--root <dir...>',
      'directories whose changes are kept apart; others are not writable (default: .)',
    )
    .option('--config <file>', 'a toolexec.toml')
    .option('--journal <file>', 'where the call is recorded; outside every root')
    .addOption(new Option('--keep', 'keep the changes without a question').conflicts('discard'))
    .option('--discard', 'discard the changes without a question')
    .option('--no-network', 'run the command without network')
    .option(
      '--show-secrets',
      'show .env, keys and secret variables to the command, which are hidden by default',
    )
    .option(
      '--json',
      'the changes as JSON on standard output; the output of the command goes to standard error',
    )
    .addHelpText(
      'before',
      `Examples:
  toolexec try -- npm update
  toolexec try -- 'make && make test'
  toolexec try --keep --no-network -- ./generate.sh
  toolexec try
`,
    )
    .addHelpText(
      'after',
      `
Keys at the end: k keep, d discard, p choose paths, space shows the differences.
Without a terminal, and without --keep, nothing is kept.
Exit code: that of the command; 128 plus the number of the signal that ended it; 1 if changes were to be kept and none\nwas, or the disk refused some; 2 if the command cannot be tried here, and nothing ran.
`,
    )
    .action(async (words: readonly string[], options: TryOptions) => {
      finish(await tryCommand(words, options, context));
    });
};

/** `toolexec try`. */
export async function tryCommand(
  words: readonly string[],
  options: TryOptions,
  context: CliContext,
): Promise<number> {
  const { stdio } = context;
  const { notes, ...settings } = trySettings(options, context);
  for (const note of notes) writeNote(stdio, note);
  const isInteractive = stdio.stdin.isTerminal && stdio.stdout.isTerminal && options.json !== true;
  if (words.length === 0 && !isInteractive)
    throw new UsageError(
      'Cannot open a shell: there is no terminal. Name a command: toolexec try -- COMMAND.',
    );
  const roots = [settings.root ?? '.'].flat().map((root) => (typeof root === 'string' ? root : root.path));
  const keeper = new Keeper(options, context);
  const id = `try_${randomBytes(4).toString('hex')}`;
  const tool = attachedCommandTool({
    name: 'try',
    attached: {
      kind: isInteractive ? 'terminal' : 'streams',
      isAttended: true,
      ...(options.json === true ? { output: 'error' } : {}),
    },
    approval: 'after_online',
    keepsRest: true,
  });
  await using executor = await openExecutor({ ...settings, tools: [tool], approver: keeper.approver });
  const args = {
    command: commandLine(words, context),
    shell: shellFor(context),
    working_dir: workingDirectory(roots),
  };
  const restore = isInteractive ? keepTerminalModes() : () => {};
  const run = executor.start([{ id, name: tool.name, args }], { conversation: id, timeoutMs: LONGEST_MS });
  const interrupts = watchInterrupts(stdio, { first: () => run.cancel(), second: () => {} });
  keeper.interrupt = () => run.cancel();
  try {
    const [result] = await run.results;
    if (result === undefined) throw new Error('a batch of one call has one result');
    if (keeper.isTooEarly) throw await notKeptApart(roots, settings);
    return report(result, keeper, interrupts.happened(), options, context);
  } finally {
    interrupts.stop();
    restore();
  }
}

/** About 24.8 days: a person's own command has no time limit. */
const LONGEST_MS = 2 ** 31 - 1;

/** Decides about the changes of the command, and remembers them. */
class Keeper {
  /** The changes. Undefined: there are none, or the command never ended. */
  changes: CommandChanges | undefined;
  outcome: 'kept' | 'discarded' | undefined;
  /** It was asked before the command ran, because its changes cannot be kept apart. */
  isTooEarly = false;
  isUnasked = false;
  isInterrupted = false;
  interrupt: () => void = () => {};
  readonly #options: TryOptions;
  readonly #context: CliContext;

  constructor(options: TryOptions, context: CliContext) {
    this.#options = options;
    this.#context = context;
  }

  readonly approver: Approver = async (requests, { signal }) => {
    const [request] = requests;
    if (request?.changes === undefined) {
      this.isTooEarly = true;
      return { kind: 'deny_all' };
    }
    this.changes = request.changes;
    const decision = await this.#decide(request, signal);
    this.outcome = decision.kind === 'deny_all' ? 'discarded' : 'kept';
    return decision;
  };

  async #decide(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const { keep, discard, json } = this.#options;
    const { stdio, env } = this.#context;
    if (keep === true) return { kind: 'approve_all', by: '--keep' };
    if (discard === true) return { kind: 'deny_all', by: '--discard' };
    const isAsked = json !== true && stdio.stderr.isTerminal && !isAutomated(env);
    if (isAsked) await pagerLeft(signal);
    const keyboard = isAsked ? openKeyboard() : undefined;
    if (keyboard === undefined) {
      this.isUnasked = true;
      return { kind: 'deny_all', reason: 'there is no terminal to ask on' };
    }
    try {
      const { askKeep } = await import('../../terminal/ask-keep.js');
      const answer = await askKeep({
        parts: request.parts ?? [],
        screen: questionScreen(stdio.stderr, keyboard),
        palette: createPalette(true, env),
        signal,
        matches: matchesTyped,
      });
      if (answer.kind === 'discard') {
        this.isInterrupted = answer.isInterrupted;
        return { kind: 'deny_all' };
      }
      const { paths } = answer;
      if (paths === undefined) return { kind: 'approve_all' };
      return { kind: 'approve_selected', ids: [request.callId], paths: { [request.callId]: paths } };
    } finally {
      keyboard.close();
    }
  }
}

const LOOK_MS = 200;

/**
 * `toolexec try … | less`: the person reads the output to its end and leaves the pager, and then answers the question.
 * A command that died may have left the terminal in the same modes, so the wait also ends when no pager runs.
 */
async function pagerLeft(signal: AbortSignal): Promise<void> {
  if (!isPiped() || !isTerminalTaken()) return;
  endOutput();
  while (hasPipeNeighbour() && isTerminalTaken()) {
    await new Promise<void>((resolve) => {
      systemClock.after(LOOK_MS, resolve);
    });
    signal.throwIfAborted();
  }
}

async function report(
  result: ToolResult,
  keeper: Keeper,
  isInterrupted: boolean,
  options: TryOptions,
  context: CliContext,
): Promise<number> {
  const { stdio } = context;
  const { metadata, error } = result;
  if (metadata.exit_code === undefined && error !== undefined) {
    if (isInterrupted) return 130;
    throw new UsageError(`Cannot try this here: ${whyNotRun(error)} Nothing was run.`);
  }
  const changes = changesOf(result, keeper);
  const kept = keeper.outcome === 'kept' && isKept(result) && holdsAny(changes, keeper);
  const exitCode = exitCodeOf({ result, keeper, kept, changes, isInterrupted });
  if (options.json === true) {
    const { exit_code = null, signal = null } = metadata;
    writeJson(stdio.stdout, {
      call: result.callId,
      exit_code,
      signal,
      kept,
      changes,
      ...(kept || error === undefined ? {} : { reason: error.message }),
    });
    return exitCode;
  }
  for (const line of describe(result, keeper, kept, changes))
    stdio.stderr.write(`toolexec: ${sanitize(line, 'inline')}\n`);
  return exitCode;
}

async function notKeptApart(
  roots: readonly string[],
  { sandbox }: Pick<ExecutorOptions, 'sandbox'>,
): Promise<UsageError> {
  const { checkTransactions } = await import('../doctor/check-programs.js');
  const { found } = await checkTransactions(roots, sandbox);
  return new UsageError(`Cannot try this here: ${found}. Nothing was run.`);
}

function whyNotRun({ code, message, hint, details }: NonNullable<ToolResult['error']>): string {
  const why = details?.why;
  if (typeof why === 'string') return `${why.replace(/[.]+$/, '')}.`;
  // The message is for a model.
  if (code === 'journal_unavailable' && hint !== undefined) return hint;
  return `${message} ${hint ?? ''}`.replaceAll(/ *Nothing was run\./g, '').trim();
}

/** Changes that the person agreed to were committed too. */
function isKept({ error }: ToolResult): boolean {
  return (
    error === undefined ||
    error.code === 'execution_failed' ||
    error.details?.executed === 'yes' ||
    error.code === 'conflict'
  );
}

/** Whether a change was committed, or will be before the next command. */
function holdsAny(changes: JsonObject, keeper: Keeper): boolean {
  const isMade = ['created', 'modified', 'deleted'].some((name) => listIn(changes, name).length > 0);
  return isMade || unlisted(changes, keeper) > 0 || isWaiting(changes);
}

/** The number of changes that did not fit into the lists. `more` also counts the writes outside of the roots, of which nothing is kept. */
function unlisted({ more }: JsonObject, { changes: found }: Keeper): number {
  return typeof more === 'number' ? Math.min(more, found?.more ?? 0) : 0;
}

/** Whether a change could not be written yet, for example because the disk is full. */
function isWaiting(changes: JsonObject): boolean {
  return listIn(changes, 'refused').some((one) => Object(one).later === true);
}

function listIn(changes: JsonObject, name: string): readonly JsonValue[] {
  const list = changes[name];
  return Array.isArray(list) ? list : [];
}

/** If nothing was committed, the result names only the obstacles. */
function changesOf({ metadata }: ToolResult, { changes, outcome }: Keeper): JsonObject {
  const found = outcome === 'kept' || changes === undefined ? metadata.changes : changes;
  return JSON.parse(JSON.stringify(found ?? { created: [], modified: [], deleted: [] }));
}

interface Reported {
  readonly result: ToolResult;
  readonly keeper: Keeper;
  readonly kept: boolean;
  readonly changes: JsonObject;
  readonly isInterrupted: boolean;
}

function exitCodeOf({ result, keeper, kept, changes, isInterrupted }: Reported): number {
  if (isInterrupted || keeper.isInterrupted) return 130;
  const code = commandExitCode(result.metadata);
  if (code !== undefined && code !== 0) return code;
  // Changes were to be committed, but none was, or some are not written yet.
  const isShort = result.error !== undefined || !kept || isWaiting(changes);
  return keeper.outcome === 'kept' && isShort ? 1 : 0;
}

function describe(result: ToolResult, keeper: Keeper, kept: boolean, changes: JsonObject): readonly string[] {
  if (keeper.outcome === undefined) {
    const { error } = result;
    const isStopped = error !== undefined && error.code !== 'execution_failed';
    return [isStopped ? `nothing was kept: ${error.message}` : 'nothing was changed'];
  }
  const count = (name: string): number => listIn(changes, name).length;
  const more = unlisted(changes, keeper);
  const counts = `${count('created')} created, ${count('modified')} modified, ${count('deleted')} deleted${more > 0 ? `, ${more} more` : ''}`;
  if (keeper.outcome === 'kept') {
    const why = result.error?.message;
    const left = why === undefined || kept ? unkeptIn(changes) : [];
    const undo = `toolexec undo ${result.callId}`;
    if (!kept) return [...left, `nothing was kept${why === undefined ? '' : `: ${why}`}`];
    const rest = isWaiting(changes)
      ? '; the rest is written before the next command here, if that is possible then'
      : '';
    return [...left, `kept: ${counts}${rest}; to take it back: ${undo}`];
  }
  const how = keeper.isUnasked ? ': there is no terminal to ask on. Run it again with --keep to keep it' : '';
  return [`discarded: ${counts}${how}`, ...(keeper.isUnasked ? namesIn(changes) : [])];
}

function unkeptIn(changes: JsonObject): readonly string[] {
  return ['refused', 'conflicts'].flatMap((name) =>
    listIn(changes, name).map((one) => {
      const { path, reason, later } = Object(one);
      return `${later === true ? 'not written yet' : 'not kept'}: ${String(path)}: ${String(reason)}`;
    }),
  );
}

/** Deletions first, because the person must see them. */
function namesIn(changes: JsonObject): readonly string[] {
  const named = (list: unknown, sign: string): string[] =>
    Array.isArray(list) ? list.slice(0, 20).map((path) => `  ${sign} ${String(path)}`) : [];
  return [...named(changes.deleted, '-'), ...named(changes.modified, '~'), ...named(changes.created, '+')];
}
