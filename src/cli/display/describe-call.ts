import type { Disposition, Plan, PlannedCall } from '../../contract/approval.js';
import type { ToolResult } from '../../contract/call.js';
import type { ToolEvent } from '../../contract/executor.js';
import type { CallRecord } from '../../contract/journal.js';
import { describeEffect } from '../../effects/traits.js';
import { sanitize } from '../../output/sanitize.js';
import { isUntrusted } from '../../patterns/origin.js';
import { describeContainment } from '../../terminal/describe-containment.js';
import type { Paint, Palette } from './terminal-text.js';

/**
 * `✓` it ran and succeeded, `✗` it ran and failed, or may have, `⊘` it never ran.
 * @param summary the purpose of the call, safe to show; left out if a line above shows it
 */
export function describeResult(result: ToolResult, palette: Palette, summary = ''): string {
  const { error } = result;
  const name = `${describeName(result)}${summary === '' ? '' : ` ${summary} ·`}`;
  const took = palette.dim(describeDuration(result.executionTimeMs));
  const replayed = result.metadata.replayed === true ? palette.dim(' (from the journal)') : '';
  if (error === undefined) return `${palette.green('✓')} ${name} ${took}${replayed}`;
  const why = `${error.code}: ${sanitize(error.message, 'inline')}`;
  const isStopped = wasStopped(result);
  if (error.details?.executed === 'no' && !isStopped)
    return `${palette.yellow('⊘')} ${name}${replayed} ${why}`;
  const how = isStopped && error.code === 'cancelled' ? 'ran, ' : '';
  const kept = isStopped && error.details?.executed === 'no' ? ' (none of it was kept)' : '';
  return `${palette.red('✗')} ${name} ${took}${replayed} ${how}${why}${kept}`;
}

/** It ran and was stopped. If the sandbox dropped its changes it counts as not executed, although it ran. */
function wasStopped({ error, executionTimeMs }: ToolResult): boolean {
  return (error?.code === 'cancelled' || error?.code === 'timeout') && executionTimeMs > 0;
}

export function describeName({ toolName, callId }: Pick<ToolEvent, 'toolName' | 'callId'>): string {
  const id = inline(callId, 'no id');
  // An id comes from the model: unusual characters could look like something else.
  return `${inline(toolName, '(no name)')} (${/^[A-Za-z0-9_-]*$/.test(callId) ? id : JSON.stringify(id)})`;
}

function inline(text: string, otherwise: string): string {
  const shown = sanitize(text, 'inline').trim();
  return shown === '' ? otherwise : cut(shown, 80);
}

export function cut(text: string, length: number): string {
  const characters = Array.from(text.slice(0, 2 * length + 2));
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : text;
}

export function describeDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

/**
 * A plan for people: a few lines per call.
 * @param draw the details of a call that would be asked about, as lines
 */
export function describePlan(
  { calls }: Plan,
  palette: Palette,
  draw: (call: PlannedCall) => readonly string[] = () => [],
): string {
  if (calls.length === 0) return 'No calls.\n';
  return `${calls.map((call) => [describeCall(call, palette), ...draw(call)].join('\n')).join('\n\n')}\n`;
}

function describeCall(call: PlannedCall, palette: Palette): string {
  const paints: Readonly<Record<Disposition, Paint>> = {
    execute_now: palette.green,
    requires_confirmation: palette.yellow,
    pre_resolved: palette.red,
  };
  const code = call.result?.error?.code;
  const head = [
    paints[call.disposition](call.disposition),
    palette.bold(describeName(call)),
    code ?? [`${call.risk} risk`, ...describeContainment(call)].join(' · '),
  ];
  return [
    head.join('  '),
    ...line('summary', call.summary),
    ...call.effects.flatMap((effect) => line('effect', describeEffect(effect))),
    ...describeOrigins(call.origins),
    ...line('reason', call.reason),
  ].join('\n');
}

/** The origins that the model has seen and the arguments with text from them, if any origin is untrusted. */
export function describeOrigins({ seen, args }: Partial<PlannedCall['origins']> = {}): string[] {
  if (seen === undefined || !seen.some(isUntrusted)) return [];
  const carried = Object.entries(args ?? {}).map(([pointer, found]) => `${pointer} from ${found.join(', ')}`);
  return [...line('seen', seen.join(', ')), ...carried.flatMap((said) => line('origin', said))];
}

function line(label: string, text: string): string[] {
  return text === '' ? [] : [`  ${label.padEnd(8)} ${cut(sanitize(text, 'inline'), 500)}`];
}

export type RecordedOutcome =
  | 'ok'
  | 'failed'
  | 'ran, cancelled'
  | 'not run'
  | 'unknown'
  | 'running'
  | 'queued';

/** The outcome of a recorded call in a word. */
export function outcomeOf({ state, result, startedAt }: RecordedState): RecordedOutcome {
  if (result === undefined) return state === 'running' ? 'running' : 'queued';
  if (result.error === undefined) return 'ok';
  const { code, details } = result.error;
  if (code === 'outcome_unknown') return 'unknown';
  // Recovery knows better than the claim whether a call took effect.
  const hasRun =
    result.executionTimeMs > 0 || (startedAt !== undefined && result.metadata.recovered !== true);
  if (code === 'cancelled' && hasRun) return 'ran, cancelled';
  if (code === 'timeout' && hasRun) return 'failed';
  return details?.executed === 'no' ? 'not run' : 'failed';
}

type RecordedState = Pick<CallRecord, 'state' | 'result' | 'startedAt'>;
