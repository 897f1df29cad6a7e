import type { ApprovalRequest, Approver } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { Preview, RunOptions } from '../contract/executor.js';
import { CANCELLED_MESSAGE } from '../executor/answer/results.js';
import { deniedMessage } from '../executor/approve/ask-approval.js';
import { answerIn } from '../executor/approve/decision.js';
import { describeRequest } from '../executor/approve/describe-request.js';
import type { CliContext } from './cli-context.js';
import { resultAsTyped } from './display/as-typed.js';
import { describeResult } from './display/describe-call.js';
import { createPalette, toSafeJson } from './display/terminal-text.js';
import { type CancelWatch, watchCancel } from './run-batch.js';

/** A preview as one request, to show and approve. */
export function previewRequest({ parts, results, changes }: Preview): ApprovalRequest {
  const entries = parts.flatMap((part) => (part.kind === 'changes' ? part.entries : []));
  const effects = entries.map(({ path, change }) =>
    change === 'delete' ? ({ kind: 'delete', path } as const) : ({ kind: 'write', path } as const),
  );
  return {
    callId: 'preview',
    toolName: 'preview',
    summary: `${results.length === 1 ? 'what 1 call has' : `what ${results.length} calls have`} changed`,
    // All changes are committed together, and can be undone.
    risk: 'medium',
    containment: { transaction: true, network: false, undo: true },
    args: {},
    effects,
    reason: 'the changes of the calls are committed together, or not at all',
    shown: [],
    parts,
    changes,
    ...(changes.unexpected === undefined ? {} : { unexpected: changes.unexpected }),
  };
}

/** Whether a request is that of a whole preview. No rule can allow it, because it is not a call. */
export function isPreview({ toolName, changes }: ApprovalRequest): boolean {
  return toolName === 'preview' && changes !== undefined;
}

function countCommitted({ created, modified, deleted, more = 0 }: Preview['changes']): string {
  return `${created.length + more} created, ${modified.length} modified, ${deleted.length} deleted`;
}

/**
 * For people: the results and changes of the calls.
 * @param isAsked the question shows everything: then only the results are shown here
 */
export async function drawPreview(
  preview: Preview,
  { stdio, env }: CliContext,
  stream: 'stdout' | 'stderr',
  isAsked = false,
): Promise<string> {
  const { drawParts } = await import('../terminal/draw-picture.js');
  const { isTerminal, columns } = stdio[stream];
  const palette = createPalette(isTerminal, env);
  const picture = describeRequest(previewRequest(preview));
  return [
    ...preview.results.map((result) => describeResult(result, palette)),
    ...(isAsked
      ? []
      : [palette.bold(picture.title), ...drawParts(picture, { palette, columns, remedy: '--json has all' })]),
    '',
  ].join('\n');
}

export interface PreviewRun extends CancelWatch {
  readonly calls: readonly ToolCall[];
  readonly options: RunOptions;
  readonly approver: Approver | undefined;
  readonly isJson: boolean;
  /** The approver is the person at the terminal. */
  readonly isAsked: boolean;
  readonly context: CliContext;
}

interface PreviewAnswer {
  readonly results: readonly ToolResult[];
  readonly interrupted: boolean;
}

/**
 * `toolexec run --preview`: shows the effects of the calls, asks, commits or drops all of them, and reports
 * which. If the person cancels before the commit, nothing is committed.
 */
export async function runPreview(run: PreviewRun): Promise<PreviewAnswer> {
  const stop = new AbortController();
  const interrupts = watchCancel(run, () => stop.abort());
  try {
    const results = await previewAndCommit(run, stop.signal);
    return { results, interrupted: interrupts.happened() };
  } finally {
    interrupts.stop();
  }
}

async function previewAndCommit(
  { executor, calls, options, approver, isJson, isAsked, context }: PreviewRun,
  signal: AbortSignal,
): Promise<readonly ToolResult[]> {
  const { stdio } = context;
  await using preview = await executor.preview(calls, { ...options, signal });
  const { changes, parts, results } = preview;
  stdio.stderr.write(
    isJson
      ? `${toSafeJson({ type: 'preview', changes, parts, results: results.map(resultAsTyped) })}\n`
      : await drawPreview(preview, context, 'stderr', isAsked),
  );
  const refusal = await refusalOf(preview, approver, signal);
  if (refusal !== undefined) {
    noteCommit(0, preview, isJson, context);
    return results.map((result) => notMade(result, refusal));
  }
  const committed = await preview.commit();
  // Results from the preview are not shown again; a refusal by option is new.
  const palette = createPalette(stdio.stderr.isTerminal, context.env);
  for (const result of committed)
    if (result.error?.code === 'user_denied' && !isAsked && !isJson)
      stdio.stderr.write(`${describeResult(result, palette)}\n`);
  noteCommit(committed.filter(({ success }) => success).length, preview, isJson, context);
  return committed;
}

/** Why nothing is committed. */
interface Refusal {
  readonly code: 'cancelled' | 'approval_unavailable' | 'user_denied';
  /** The person's reason, which the model reads. */
  readonly reason?: string | undefined;
}

/** Undefined: commit. `commit` itself asks about calls that need approval. */
async function refusalOf(
  preview: Preview,
  approver: Approver | undefined,
  signal: AbortSignal,
): Promise<Refusal | undefined> {
  if (signal.aborted) return { code: 'cancelled' };
  if (preview.requests.length > 0) return undefined;
  // The others are committed only if a person or an option approved the shown changes.
  if (approver === undefined) return { code: 'approval_unavailable' };
  const request = previewRequest(preview);
  try {
    const answer = answerIn(await approver([request], { signal }), request.callId);
    return answer.approved ? undefined : { code: 'user_denied', reason: answer.reason };
  } catch (error) {
    if (signal.aborted) return { code: 'cancelled' };
    throw error;
  }
}

/** @param calls the number of committed calls */
function noteCommit(calls: number, { changes }: Preview, isJson: boolean, { stdio }: CliContext): void {
  if (isJson) {
    stdio.stderr.write(`${toSafeJson({ type: 'committed', calls, ...(calls === 0 ? {} : { changes }) })}\n`);
    return;
  }
  const said =
    calls === 0
      ? 'nothing was committed'
      : `committed: ${countCommitted(changes)}; to take a call back: toolexec undo CALL`;
  stdio.stderr.write(`toolexec: ${said}\n`);
}

function notMade({ callId, toolName }: ToolResult, { code, reason }: Refusal): ToolResult {
  const messages = {
    cancelled: CANCELLED_MESSAGE,
    approval_unavailable: `${toolName} was only previewed: the person cannot be asked now.`,
    user_denied: deniedMessage(toolName, reason),
  };
  return {
    callId,
    toolName,
    success: false,
    output: '',
    error: { code, message: messages[code], details: { executed: 'no' } },
    truncated: false,
    executionTimeMs: 0,
    metadata: { preview: true },
  };
}
