import type { Command } from 'commander';
import { JsonTextError } from '../../../base/json-text-error.js';
import { parseJson } from '../../../base/parse-json.js';
import type { Disposition } from '../../../contract/approval.js';
import type { ToolCall, ToolResult } from '../../../contract/call.js';
import type { Effect } from '../../../contract/effect.js';
import type { CallRecord, ConversationFact } from '../../../contract/journal.js';
import { parseEffects } from '../../../effects/parse-effects.js';
import { openArchive } from '../../../journal/open-archive.js';
import { isSqliteFile } from '../../../platform/sqlite/sqlite.js';
import { CLEAN_MARK } from '../../../provenance/conversation-origins.js';
import { readCalls } from '../../../providers/read-calls.js';
import type { CliContext } from '../../cli-context.js';
import { UsageError } from '../../cli-context.js';
import { readSource } from '../../read-input.js';
import { type JournalChoice, readingJournal, requireJournal } from '../../recorded-journal.js';
import { markedCleanAt, type SeenResult, seenResult } from '../../recorded-origins.js';
import type { SeenChanges } from './seen-writes.js';

/** The options of `policy replay` and `policy suggest`, in commander's form. */
export interface RecordedCallsOptions extends JournalChoice {
  readonly json?: boolean;
}

export function addRecordedCallsOptions(command: Command): Command {
  return command
    .argument(
      '[file]',
      'a journal, its export (JSON lines), a response, or - for standard input (default: the journal)',
    )
    .option('--journal <file>', 'the journal, if no file is named (default: the one that run would use)')
    .option('--root <dir...>', 'directories that tools may touch (default: .)')
    .option('--config <file>', 'a toolexec.toml')
    .option('--json', 'as JSON');
}

/** An earlier call and its outcome, if known. */
export interface RecordedCall {
  readonly call: ToolCall;
  /** Undefined: not recorded. */
  readonly disposition: Disposition | undefined;
  /** It ran and succeeded. */
  readonly succeeded: boolean;
  /** The error code of its result. */
  readonly code: string | undefined;
  /** The changes of its command, if it ran in a transaction and they are recorded. */
  readonly changes: SeenChanges | undefined;
  /** Empty for a call that comes from a response and was not recorded. */
  readonly conversation: string;
  /** The result that the model saw. Undefined: the call had none. */
  readonly seen: SeenResult | undefined;
  readonly batch: string;
  /** In milliseconds since the epoch, like the other times; undefined: not recorded. */
  readonly acceptedAt: number | undefined;
  readonly finishedAt: number | undefined;
  /** When its conversation was last marked clean; 0: never. */
  readonly cleanAt: number;
}

/**
 * Reads calls from a journal's file, from its export (JSON, one object per line, each with its `kind`), or
 * from a model's response. Without a name and input, the journal of `--journal` or the default one.
 * @throws UsageError if it is none of these, or contains no call.
 */
export async function readRecordedCalls(
  source: string | undefined,
  options: JournalChoice,
  context: CliContext,
): Promise<readonly RecordedCall[]> {
  const { name, recorded: all } = await readFrom(source, options, context);
  const recorded = all.filter(({ call }) => !isUndo(call));
  if (recorded.length === 0) throw new UsageError(`There is no call in ${name}.`);
  return recorded;
}

/** An undo is recorded like a call, but the person asks for it, and no policy decides about it. */
function isUndo({ id, name }: ToolCall): boolean {
  return name === 'undo' && id.startsWith('undo_');
}

interface NamedCalls {
  readonly name: string;
  readonly recorded: readonly RecordedCall[];
}

async function readFrom(
  source: string | undefined,
  options: JournalChoice,
  context: CliContext,
): Promise<NamedCalls> {
  const { stdio } = context;
  if (source !== undefined && options.journal !== undefined)
    throw new UsageError('Name a file or a --journal, not both.');
  if (source !== undefined && source !== '-' && isSqliteFile(source)) return fromJournal(source);
  const isAsked = source !== undefined || (options.journal === undefined && !stdio.stdin.isTerminal);
  if (isAsked) {
    const { name, text } = await readSource(source, stdio);
    if (source !== undefined || text.trim() !== '')
      return { name, recorded: readExport(name, text) ?? readFresh(name, text) };
  }
  return fromJournal(requireJournal(options, context));
}

async function fromJournal(path: string): Promise<NamedCalls> {
  return { name: `the journal "${path}"`, recorded: await readJournalCalls(path) };
}

function readExport(name: string, text: string): readonly RecordedCall[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const records: Fields[] = [];
  for (const [at, line] of lines.entries()) {
    const record = parseLine(line);
    if (typeof record?.kind === 'string') records.push(record);
    else if (at === 0) return undefined;
    else throw new UsageError(`Cannot read ${name}: ${lineFlaw(at, lines.length)}`);
  }
  if (records.length === 0) return undefined;
  const cleanAt = new Map(
    records.filter(isFact).map((fact) => [fact.conversation, markedCleanAt([fact])] as const),
  );
  return records.flatMap((record) => toRecorded(record, cleanAt.get(record.conversation) ?? 0));
}

function lineFlaw(at: number, count: number): string {
  const line = `line ${at + 1} of the export is not a JSON object with a "kind"`;
  return at === count - 1
    ? `${line}. It is the last one, so the export was cut off: write it again.`
    : `${line}. Write the export again.`;
}

function isFact(record: Fields): record is Fields & Pick<ConversationFact, 'key' | 'value'> {
  return record.kind === 'fact' && record.key === CLEAN_MARK;
}

type Fields = Readonly<Record<string, unknown>>;

function parseLine(line: string): Fields | undefined {
  try {
    return fieldsOf(parseJson(line));
  } catch (error) {
    if (error instanceof JsonTextError) return undefined;
    throw error;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function toRecorded(record: Fields, cleanAt: number): readonly RecordedCall[] {
  const { kind, callId, toolName, args, disposition, result, ...more } = record;
  const fields = fieldsOf(args);
  if (kind !== 'call' || typeof toolName !== 'string' || fields === undefined) return [];
  const answer = fieldsOf(result);
  const code = fieldsOf(answer?.error)?.code;
  return [
    {
      // Just parsed from JSON, so it contains nothing else.
      call: { id: String(callId), name: toolName, args: fields as ToolCall['args'] },
      disposition: isDisposition(disposition) ? disposition : undefined,
      succeeded: answer?.success === true,
      code: typeof code === 'string' ? code : undefined,
      changes: changesOf(fieldsOf(answer?.metadata)),
      conversation: String(more.conversation ?? ''),
      seen: isResult(answer)
        ? seenResult({
            callId: String(callId),
            toolName,
            effects: effectsOf(more.effects),
            result: answer,
          })
        : undefined,
      batch: String(more.batch ?? ''),
      acceptedAt: timeOf(more.at),
      finishedAt: timeOf(more.finishedAt),
      cleanAt,
    },
  ];
}

function timeOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** An export can come from another program: effects that cannot be read may have read anything. */
function effectsOf(value: unknown): readonly Effect[] {
  try {
    return parseEffects(value ?? []);
  } catch {
    return [{ kind: 'unknown' }];
  }
}

/** If it was examined. */
function isResult(answer: Fields | undefined): answer is Fields & ToolResult {
  return typeof answer?.output === 'string' && fieldsOf(answer.metadata) !== undefined;
}

/** Set only for a call that ran. */
function changesOf(metadata: Fields | undefined): SeenChanges | undefined {
  const changes = fieldsOf(metadata?.changes);
  if (changes === undefined || fieldsOf(metadata?.sandbox)?.transaction !== true) return undefined;
  const { more } = changes;
  return {
    created: textsOf(changes.created),
    modified: textsOf(changes.modified),
    deleted: textsOf(changes.deleted),
    unexpected: textsOf(changes.unexpected),
    ...(typeof more === 'number' ? { more } : {}),
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function isDisposition(value: unknown): value is Disposition {
  return value === 'execute_now' || value === 'requires_confirmation' || value === 'pre_resolved';
}

function readFresh(name: string, text: string): readonly RecordedCall[] {
  const { calls, errors } = readCalls(text);
  const [problem] = errors;
  if (problem !== undefined)
    throw new UsageError(
      `Cannot read ${name}: neither an export of a journal nor a response. ${problem.message}`,
    );
  return calls.map((call) => ({
    call,
    disposition: undefined,
    succeeded: false,
    code: undefined,
    changes: undefined,
    conversation: '',
    seen: undefined,
    batch: '',
    acceptedAt: undefined,
    finishedAt: undefined,
    cleanAt: 0,
  }));
}

/** All calls in a journal's file, conversation by conversation. @throws UsageError if it is not a journal. */
export function readJournalCalls(path: string): Promise<readonly RecordedCall[]> {
  return readingJournal(() => {
    const archive = openArchive(path);
    try {
      return archive.conversations().flatMap((conversation) => {
        const cleanAt = markedCleanAt(archive.facts(conversation));
        return archive
          .history(conversation)
          .flatMap((entry) =>
            entry.kind === 'batch' ? ownCalls(entry.id, archive.calls(entry.id), cleanAt) : [],
          );
      });
    } finally {
      archive.close();
    }
  });
}

/** A repeated delivery is a call of an earlier batch. */
function ownCalls(batchId: string, calls: readonly CallRecord[], cleanAt: number): readonly RecordedCall[] {
  return calls.filter((call) => call.batchId === batchId).map((call) => fromRecord(call, cleanAt));
}

function fromRecord(record: CallRecord, cleanAt: number): RecordedCall {
  const { callId, toolName, args, disposition, result, conversation, batchId, acceptedAt, finishedAt } =
    record;
  return {
    call: { id: callId, name: toolName, args },
    disposition,
    succeeded: result?.success === true,
    code: result?.error?.code,
    changes: changesOf(result?.metadata),
    conversation,
    seen: seenResult(record),
    batch: batchId,
    acceptedAt,
    finishedAt,
    cleanAt,
  };
}
