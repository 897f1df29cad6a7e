import { createHash } from 'node:crypto';
import { quoteWord } from '../../base/quote-word.js';
import type { ToolCall } from '../../contract/call.js';
import type { RunOptions } from '../../contract/executor.js';
import { readMessage } from '../../providers/read-message.js';
import { answerReadErrors } from '../../providers/response-calls.js';
import { writeResults } from '../../providers/write-results.js';
import { chooseAsker, holding } from '../ask-person.js';
import { chooseApprover, isDecided } from '../choose-approver.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { resultAsTyped } from '../display/as-typed.js';
import { describeName } from '../display/describe-call.js';
import type { Display } from '../display/display.js';
import { createDisplay, noteResults } from '../display/display.js';
import { toSafeJson, writeJson } from '../display/terminal-text.js';
import { exitCodeOf } from '../exit-code.js';
import { openExecutor } from '../open-executor.js';
import { addResponseOptions, EXIT_CODES_HELP, RESPONSE_HELP, type ResponseOptions } from '../options.js';
import { type ModelResponse, readResponse } from '../read-input.js';
import { recoverLeft } from '../recover-left.js';
import { type ResolvedRun, resolveRun } from '../resolve-settings.js';
import { isPutOff, requireKnownIds, runBatch } from '../run-batch.js';
import { toOrigin } from '../waiting-batch.js';

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Runs the calls of a response and writes their results to standard output, in the same format.',
    )
    .argument('[file]', 'the response')
    .addHelpText(
      'before',
      `Examples:
  toolexec run response.json
  toolexec run response.json --root ./workspace --yes
  toolexec run response.json --approve toolu_01 --approve toolu_03
  toolexec run response.json --preview
  curl -s … | toolexec run --format native
`,
    )
    .addHelpText('after', `${RESPONSE_HELP}${EXIT_CODES_HELP}`);
  addResponseOptions(command).action(async (file: string | undefined, options: ResponseOptions) => {
    finish(await runResponse(file, options, context));
  });
};

/** `toolexec run`: reads the calls of a response and writes their results in its format. */
export async function runResponse(
  source: string | undefined,
  options: ResponseOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio, env, exitNow } = context;
  const resolved = resolveRun(options, context);
  const response = await readResponse(source, stdio);
  requireKnownIds(options.approve, [...response.calls, ...response.errors], 'response');
  const approver = chooseApprover(options, context, resolved.executor);
  const asker = chooseAsker(stdio, env);
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of resolved.notes) display.note(note);
  await using executor = await openExecutor({
    ...resolved.executor,
    ...(approver === undefined ? {} : { approver: holding(display, approver) }),
    ...(asker === undefined ? {} : { asker: holding(display, asker) }),
  });
  const turn = createHash('sha256').update(response.text).digest('hex');
  const { conversation = `response:${turn}` } = options;
  const isReal = options.dryRun !== true && (resolved.executor.mode ?? 'enabled') === 'enabled';
  const waits =
    isReal && (await recoverLeft(executor, conversation, display, resolved.executor.journal.path, context));
  // The same bytes are the same delivery, even if the calls have no ids.
  const runOptions = { ...toRunOptions(options, resolved, response), conversation, turn };
  if (resolved.executor.mode === 'parse_only' && options.json !== true)
    notePending(response.calls, options.root, display);
  const watch = { executor, display, stdio, exitNow: () => exitNow(exitCodeOf([], true)) };
  if (options.preview === true) {
    const { runPreview } = await import('../preview-response.js');
    const isJson = options.json === true;
    const { calls } = response;
    const isAsked = approver !== undefined && !isDecided(options);
    const preview = { ...watch, calls, options: runOptions, approver, isJson, isAsked, context };
    const { results: previewed, interrupted } = await runPreview(preview);
    const all = answerReadErrors(previewed, response.errors);
    writeJson(
      stdio.stdout,
      writeResults(options.format ?? response.format, all.map(resultAsTyped), response),
    );
    noteResults(all, display);
    return exitCodeOf(all, interrupted, waits);
  }
  const { results, interrupted } = await runBatch({
    ...watch,
    calls: response.calls,
    errors: response.errors,
    options: runOptions,
  });
  const { format = response.format } = options;
  // The origins of calls do not apply to another format.
  const written =
    format === response.format ? writeResults(format, results, response) : writeResults(format, results);
  writeJson(stdio.stdout, written);
  noteResults(results, display);
  return exitCodeOf(results, interrupted, waits || results.some(isPutOff));
}

/** The record includes the model's text next to its calls (D081). */
function withMessage({ format, text }: ModelResponse): Pick<RunOptions, 'message'> {
  const message = readMessage(format, text);
  return message === undefined ? {} : { message };
}

function toRunOptions(
  options: ResponseOptions,
  { parallel, executor }: ResolvedRun,
  response: ModelResponse,
): RunOptions {
  return {
    parallel,
    dryRun: options.dryRun === true,
    again: options.again === true,
    failFast: options.failFast === true,
    defer: options.defer === true,
    origin: toOrigin(response, executor.root),
    ...withMessage(response),
  };
}

/** Mode parse_only (D013, D093): the calls to answer by hand, and how. */
function notePending(
  calls: readonly ToolCall[],
  roots: readonly string[] | undefined,
  display: Display,
): void {
  const root = (roots ?? []).map((path) => ` --root ${quoteWord(path)}`).join('');
  for (const { id, name, args } of calls) {
    const byHand = `toolexec call${root} ${quoteWord(name)} ${quoteWord(toSafeJson(args))}`;
    display.note(`pending: ${describeName({ toolName: name, callId: id })}. By hand: ${byHand}`);
  }
}
