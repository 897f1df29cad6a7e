import type { ToolResult } from '../../contract/call.js';
import type { ToolEvent } from '../../contract/executor.js';
import { sanitize } from '../../output/sanitize.js';
import type { Palette } from './palette.js';

/** `✓` it ran and succeeded, `✗` it ran and failed, or may have, `⊘` it never ran. */
export function describeResult(result: ToolResult, palette: Palette): string {
  const { error } = result;
  const name = describeName(result);
  const took = palette.dim(describeDuration(result.executionTimeMs));
  const replayed = result.metadata.replayed === true ? palette.dim(' (from the journal)') : '';
  if (error === undefined) return `${palette.green('✓')} ${name} ${took}${replayed}`;
  const why = `${error.code}: ${sanitize(error.message, 'inline')}`;
  if (error.details?.executed === 'no') return `${palette.yellow('⊘')} ${name}${replayed} ${why}`;
  return `${palette.red('✗')} ${name} ${took}${replayed} ${why}`;
}

export function describeName({ toolName, callId }: Pick<ToolEvent, 'toolName' | 'callId'>): string {
  return `${inline(toolName, '(no name)')} (${inline(callId, 'no id')})`;
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
