import type { ApprovalRequest, Approver } from '../contract/approval.js';
import type { ToolCall, ToolResult } from '../contract/call.js';
import type { Executor, Preview, RunOptions } from '../contract/executor.js';
import { describeRequest } from '../executor/approve/describe-request.js';
import type { CliContext } from './cli-context.js';
import { describeResult } from './display/describe-call.js';
import { createPalette, toSafeJson } from './display/terminal-text.js';

/** What a preview has shown, as one request: what there is to see of it, and to agree to. */
export function previewRequest({ changes, parts, results }: Preview): ApprovalRequest {
  const { created, modified, deleted, more = 0 } = changes;
  const counts = [created.length + more, modified.length, deleted.length].map(String);
  const effects = [
    ...[...created, ...modified].map((path) => ({ kind: 'write', path }) as const),
    ...deleted.map((path) => ({ kind: 'delete', path }) as const),
  ];
  return {
    callId: 'preview',
    toolName: 'preview',
    summary: `${results.length} calls: ${counts[0]} created, ${counts[1]} modified, ${counts[2]} deleted`,
    risk: deleted.length > 0 ? 'high' : 'medium',
    args: {},
    effects,
    reason: 'what the calls have changed becomes real as one, or not at all',
    shown: [],
    parts,
  };
}

/** For people: what the calls gave, and what they changed. */
export async function drawPreview(
  preview: Preview,
  { stdio, env }: CliContext,
  stream: 'stdout' | 'stderr',
): Promise<string> {
  const { drawParts } = await import('../terminal/draw-picture.js');
  const { isTerminal, columns } = stdio[stream];
  const palette = createPalette(isTerminal, env);
  const { refused, conflicts } = preview.changes;
  const picture = describeRequest(previewRequest(preview));
  return [
    ...preview.results.map((result) => describeResult(result, palette)),
    palette.bold(picture.title),
    ...drawParts(picture, { palette, columns }),
    ...[...refused, ...conflicts].map(({ path, reason }) => `  not kept: ${JSON.stringify(path)}: ${reason}`),
    '',
  ].join('\n');
}

export interface PreviewRun {
  readonly executor: Executor;
  readonly calls: readonly ToolCall[];
  readonly options: RunOptions;
  readonly approver: Approver | undefined;
  readonly isJson: boolean;
  readonly context: CliContext;
}

/** `toolexec run --preview`: shows what the calls would do, asks, and makes it real as one, or drops it. */
export async function runPreview({
  executor,
  calls,
  options,
  approver,
  isJson,
  context,
}: PreviewRun): Promise<readonly ToolResult[]> {
  const { stdio } = context;
  await using preview = await executor.preview(calls, options);
  const { changes, results, requests } = preview;
  stdio.stderr.write(
    isJson
      ? `${toSafeJson({ type: 'preview', changes, results })}\n`
      : await drawPreview(preview, context, 'stderr'),
  );
  // Calls that need no approval become real only when a person, or an option, has agreed to what was shown.
  if (requests.length > 0) return preview.commit();
  const request = previewRequest(preview);
  const decision =
    approver === undefined
      ? undefined
      : await approver([request], { signal: options.signal ?? new AbortController().signal });
  if (decision?.kind === 'approve_all') return preview.commit();
  if (decision?.kind === 'approve_selected' && decision.ids.includes(request.callId)) return preview.commit();
  return results.map((result) => notMade(result, decision === undefined));
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
