import type { Plan, PlannedCall } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';
import { describeRequest } from '../../executor/approve/describe-request.js';
import { answerReadErrors } from '../../providers/response-calls.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { describePlan } from '../display/describe-call.js';
import { createDisplay } from '../display/display.js';
import { createPalette, writeJson } from '../display/terminal-text.js';
import { openExecutor } from '../open-executor.js';
import { addResponseOptions, RESPONSE_HELP, type ResponseOptions } from '../options.js';
import { type ModelResponse, readResponse } from '../read-input.js';
import { resolveRun } from '../resolve-settings.js';
import { requireKnownIds } from '../run-batch.js';

export const define: DefineCommand = (command, context, finish) => {
  command
    .description(
      'Says for every call whether it would run, need approval or be refused, and why. Touches and records nothing. ' +
        'Takes the options of run, so that the same command line works for both.',
    )
    .argument('[file]', 'the response')
    .addHelpText(
      'before',
      `Examples:
  toolexec plan response.json
  toolexec plan response.json --config toolexec.toml --json
  toolexec plan response.json --preview
`,
    )
    .addHelpText('after', RESPONSE_HELP);
  addResponseOptions(command).action(async (file: string | undefined, options: ResponseOptions) => {
    finish(await planResponse(file, options, context));
  });
};

/** `toolexec plan`: what `run` would do with the same options. Opens no journal and asks no question. */
export async function planResponse(
  source: string | undefined,
  options: ResponseOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdio, env } = context;
  const { executor: resolved, notes } = resolveRun(options, context);
  // A separate journal in memory: `run` has one, and reports that its changes can be undone.
  const { journal: _, ...settings } = resolved;
  const display = createDisplay(stdio.stderr, options.json === true, env);
  for (const note of notes) display.note(note);
  const response = await readResponse(source, stdio);
  requireKnownIds(options.approve, [...response.calls, ...response.errors], 'response');
  await using executor = await openExecutor(settings);
  if (options.preview === true) {
    const { drawPreview } = await import('../preview-response.js');
    await using preview = await executor.preview(response.calls);
    const { results, changes, parts, requests } = preview;
    if (options.json === true) writeJson(stdio.stdout, { results, changes, parts, requests });
    else stdio.stdout.write(await drawPreview(preview, context, 'stdout'));
    return 0;
  }
  const plan = withReadErrors(await executor.plan(response.calls), response);
  if (options.json === true) writeJson(stdio.stdout, plan);
  else {
    const { drawParts } = await import('../../terminal/draw-picture.js');
    const { stdout } = stdio;
    const palette = createPalette(stdout.isTerminal, env);
    const options = { palette, columns: stdout.columns, remedy: '--json has all' };
    stdout.write(
      describePlan(plan, options.palette, (call) =>
        call.parts === undefined ? [] : drawParts(describeRequest(call), options),
      ),
    );
  }
  return 0;
}

/** Every call has its place in the plan, even an unreadable one. */
function withReadErrors(plan: Plan, { errors }: ModelResponse): Plan {
  const calls = [...plan.calls];
  const ordered = [...errors].sort((one, other) => one.index - other.index);
  for (const error of ordered) {
    for (const result of answerReadErrors([], [error]))
      calls.splice(error.index, 0, toPlannedCall(result, error.message));
  }
  return { calls };
}

function toPlannedCall(result: ToolResult, reason: string): PlannedCall {
  const { callId, toolName } = result;
  return {
    callId,
    toolName,
    disposition: 'pre_resolved',
    effects: [],
    risk: 'low',
    origins: { seen: [], args: {} },
    containment: { transaction: false, network: false, undo: false },
    summary: '',
    reason,
    result,
  };
}
