import type { ApprovalRequest, Approver } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { Executor, Preview, RunOptions } from '../contract/executor.js';
import { approves } from '../executor/approve/decision.js';
import { describeRequest } from '../executor/approve/describe-request.js';
import type { CliContext } from './cli-context.js';
import { resultAsTyped } from './display/as-typed.js';
import { describeResult } from './display/describe-call.js';
import { createPalette, toSafeJson } from './display/terminal-text.js';

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
    reason: 'what the calls have changed is committed as one, or not at all',
    shown: [],
    parts,
    changes,
    ...(changes.unexpected === undefined ? {} : { unexpected: changes.unexpected }),
  };
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

export interface PreviewRun {
  readonly executor: Executor;
  readonly calls: readonly ToolCall[];
  readonly options: RunOptions;
  readonly approver: Approver | undefined;
  readonly isJson: boolean;
  /** The approver is the person at the terminal. */
  readonly isAsked: boolean;
  readonly context: CliContext;
}

/**
 * `toolexec run --preview`: shows the effects of the calls, asks, commits or drops all of them, and reports
 * which.
 */
export async function runPreview({
  executor,
  calls,
  options,
  approver,
  isJson,
  isAsked,
  context,
}: PreviewRun): Promise<readonly ToolResult[]> {
  const { stdio } = context;
  await using preview = await executor.preview(calls, options);
  const { changes, parts, results } = preview;
  stdio.stderr.write(
    isJson
      ? `${toSafeJson({ type: 'preview', changes, parts, results: results.map(resultAsTyped) })}\n`
      : await drawPreview(preview, context, 'stderr', isAsked),
  );
  const committed = (await isAgreed(preview, approver, options)) ? await preview.commit() : undefined;
  if (committed === undefined) {
    noteCommit(0, preview, isJson, context);
    return results.map((result) => notMade(result, approver === undefined));
  }
  // Results from the preview are not shown again; a refusal by option is new.
  const palette = createPalette(stdio.stderr.isTerminal, context.env);
  for (const result of committed)
    if (result.error?.code === 'user_denied' && !isAsked && !isJson)
      stdio.stderr.write(`${describeResult(result, palette)}\n`);
  noteCommit(committed.filter(({ success }) => success).length, preview, isJson, context);
  return committed;
}

/** `commit` itself asks about calls that need approval. */
async function isAgreed(
  preview: Preview,
  approver: Approver | undefined,
  { signal = new AbortController().signal }: RunOptions,
): Promise<boolean> {
  if (preview.requests.length > 0) return true;
  // The others are committed only if a person or an option approved the shown changes.
  if (approver === undefined) return false;
  const request = previewRequest(preview);
  const decision = await approver([request], { signal });
  return approves(decision, request.callId);
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

function notMade({ callId, toolName }: ToolResult, isUnasked: boolean): ToolResult {
  const [code, message] = isUnasked
    ? (['approval_unavailable', `${toolName} was only previewed: the person cannot be asked now.`] as const)
    : (['user_denied', `User denied permission to run ${toolName}`] as const);
  const error = { code, message, details: { executed: 'no' } };
  const metadata = { preview: true };
  return {
    callId,
    toolName,
    success: false,
    output: '',
    error,
    truncated: false,
    executionTimeMs: 0,
    metadata,
  };
}
