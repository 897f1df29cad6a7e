import type { ToolResult } from '../../contract/call.js';
import type { Effect } from '../../contract/effect.js';
import { sanitize } from '../../output/sanitize.js';
import { outputInWords } from '../../protocols/content-words.js';
import type { RecordedBatch, RecordedCall } from '../commands/show-recorded.js';
import { cut, describeName, describeResult } from './describe-call.js';
import type { Palette } from './palette.js';
import { outcomeOf } from './recorded-outcome.js';
import { toSafeJson } from './to-safe-json.js';

/** A recorded batch for people: nothing in it can drive the terminal. */
export function describeRecorded(batch: RecordedBatch, palette: Palette): string {
  const { decisions, message } = batch;
  const lines = [
    `${palette.bold('batch')} ${inline(batch.id)}  conversation ${inline(batch.conversation)}  ${when(batch.at)}`,
    ...(message === undefined ? [] : [field('said', inline(message.text))]),
    ...(message?.model === undefined ? [] : [field('model', inline(message.model))]),
    ...decisions.map(({ kind, at, data }) => field('decided', `${kind} ${when(at)} ${json(data)}`)),
    ...batch.calls.flatMap((call) => describeRecordedCall(call, batch, palette)),
  ];
  return `${lines.join('\n')}\n`;
}

function describeRecordedCall(call: RecordedCall, batch: RecordedBatch, palette: Palette): readonly string[] {
  const { result, worker, startedAt, finishedAt } = call;
  const repeats =
    call.batchId === batch.id ? '' : palette.dim(` (delivered before, with ${inline(call.batchId)})`);
  const state =
    result === undefined ? `… ${describeName(call)} ${outcomeOf(call)}` : describeResult(result, palette);
  return [
    `  [${call.place}] ${state}${repeats}`,
    field('args', json(call.args)),
    field('effects', call.effects.map(describeEffect).join('; ') || 'none'),
    field('judged', `${call.disposition}: ${inline(call.reason)}`),
    ...(startedAt === undefined
      ? []
      : [field('started', `${when(startedAt)}${worker === undefined ? '' : ` by process ${worker.pid}`}`)]),
    ...call.notes.map(({ kind, at, data }) => field(kind, `${when(at)} ${json(data)}`)),
    ...(finishedAt === undefined ? [] : [field('ended', when(finishedAt))]),
    ...(result === undefined ? [] : describeOutput(result)),
  ];
}

function describeOutput(result: ToolResult): readonly string[] {
  const { truncated, outputRef } = result;
  const output = outputInWords(result);
  const more = truncated
    ? [field('cut', outputRef === undefined ? 'yes' : `all of it: ${inline(outputRef)}`)]
    : [];
  if (output === '') return more;
  const lines = cut(sanitize(output), MOST_SHOWN).trimEnd().split('\n');
  return [field('output', ''), ...lines.map((line) => `        ${line}`), ...more];
}

const MOST_SHOWN = 2000;

function describeEffect(effect: Effect): string {
  const [, target] = Object.values(effect);
  return inline(typeof target === 'string' ? `${effect.kind} ${target}` : effect.kind);
}

function field(name: string, text: string): string {
  return `      ${name.padEnd(8)} ${text}`.trimEnd();
}

function inline(text: string): string {
  return cut(sanitize(text, 'inline'), 200);
}

function json(value: unknown): string {
  return cut(toSafeJson(value), 400);
}

function when(at: number): string {
  return new Date(at).toISOString();
}
