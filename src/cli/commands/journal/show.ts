import { Option } from 'commander';
import type { ToolResult } from '../../../contract/call.js';
import type { Effect } from '../../../contract/effect.js';
import type { JournalArchive } from '../../../journal/open-archive.js';
import { sanitize } from '../../../output/sanitize.js';
import { outputInWords } from '../../../providers/content-words.js';
import type { CliContext, DefineCommand, ExitCode } from '../../cli-context.js';
import { cut, describeName, describeResult, outcomeOf } from '../../display/describe-call.js';
import type { Palette } from '../../display/terminal-text.js';
import { createPalette, toSafeJson, writeJson } from '../../display/terminal-text.js';
import { addJournalOptions } from '../../options.js';
import { findRecorded, type RecordedBatch, type RecordedCall } from '../../recorded-batches.js';
import type { JournalChoice } from '../../recorded-journal.js';
import { openStored, readingJournal, requireJournal } from '../../recorded-journal.js';
import { originsOf } from '../../recorded-origins.js';

interface JournalShowOptions extends JournalChoice {
  readonly json?: boolean;
  /** The path of the HTML file. */
  readonly html?: string;
}

export const define: DefineCommand = (command, context, finish) => {
  addJournalOptions(command)
    .argument('<id>', 'the id of a batch, of a call or of a conversation, or 8 characters or more of a batch')
    .addOption(new Option('--json', 'as JSON, nothing shortened').conflicts('html'))
    .option('--html <file>', 'as a page for a browser, written into this file (- for standard output)')
    .addHelpText('before', 'Examples:\n  toolexec journal show toolu_01\n  toolexec journal show c1 --json\n')
    .action(async (id: string, options: JournalShowOptions) => {
      finish(await showRecorded(id, options, context));
    });
};

/**
 * `toolexec journal show ID`: everything recorded about a batch, a call or a conversation. @throws UsageError
 */
export async function showRecorded(
  id: string,
  options: JournalShowOptions,
  context: CliContext,
): Promise<ExitCode> {
  const path = requireJournal(options, context);
  return readingJournal(async () => {
    const archive = await openStored(path, context, { id });
    try {
      return await show(id, archive, options, context);
    } finally {
      archive.close();
    }
  });
}

async function show(
  id: string,
  archive: JournalArchive,
  options: JournalShowOptions,
  context: CliContext,
): Promise<ExitCode> {
  const { stdout } = context.stdio;
  const found = findRecorded(archive, id);
  if (options.html !== undefined) {
    const { toPageBatch, writeRecordedPage } = await import('../../journal-page.js');
    const page = { title: titleOf(id, found), about: '', batches: found.map(toPageBatch) };
    await writeRecordedPage(options.html, page, archive, context);
    return 0;
  }
  if (options.json === true) writeJson(stdout, { batches: found });
  else {
    const palette = createPalette(stdout.isTerminal, context.env);
    stdout.write(found.map((batch) => describeRecorded(batch, palette)).join('\n'));
  }
  return 0;
}

function titleOf(id: string, [first, ...others]: readonly RecordedBatch[]): string {
  if (first?.id === id) return `Batch ${id}`;
  if (first?.conversation === id) return `Conversation ${id}`;
  return others.length === 0 && first?.id.startsWith(id) === true ? `Batch ${first.id}` : `Call ${id}`;
}

/** A recorded batch for people, safe for the terminal. */
function describeRecorded(batch: RecordedBatch, palette: Palette): string {
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
    field('planned', `${call.disposition}: ${inline(call.reason)}`),
    ...(startedAt === undefined
      ? []
      : [field('started', `${when(startedAt)}${worker === undefined ? '' : ` by process ${worker.pid}`}`)]),
    ...call.notes.map(({ kind, at, data }) => field(kind, `${when(at)} ${json(data)}`)),
    ...(finishedAt === undefined ? [] : [field('ended', when(finishedAt))]),
    ...describeOrigin(result),
    ...(result === undefined ? [] : describeOutput(result)),
  ];
}

/** Where the text of a result may come from. */
function describeOrigin(result: ToolResult | undefined): readonly string[] {
  const origin = originsOf(result);
  return origin.length === 0 ? [] : [field('origin', inline(origin.join(', ')))];
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
