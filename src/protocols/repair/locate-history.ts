import { ToolError } from '../../errors/tool-error.js';
import { describeValue } from '../describe-value.js';
import { isRecord, toRecords } from '../is-record.js';
import { KnownTools } from '../known-tools.js';
import type { WireFormat } from '../wire-format.js';
import { HISTORY_SHAPES, type HistoryFormat } from './history-shapes.js';

export interface LocatedHistory {
  readonly format: HistoryFormat;
  readonly list: readonly unknown[];
  /** The server holds what was before: a result may answer a call that is not in the list. */
  readonly continues: boolean;
  /** The same thing with another list in it. */
  put(list: readonly unknown[]): unknown;
}

/**
 * Finds the messages in what came, and the format they are in.
 * @throws ToolError `config_invalid` when it is no history, or in a format that has none.
 */
export function locateHistory(history: unknown, format: WireFormat | undefined): LocatedHistory {
  const wanted = format === undefined ? undefined : requireFormat(format);
  if (Array.isArray(history)) {
    const list: readonly unknown[] = history;
    const known = settleFormat(wanted, list, {});
    return { format: known, list, continues: refersElsewhere(list), put: (mended) => mended };
  }
  if (!isRecord(history)) throw refuse(`it is ${describeValue(history)}`);
  const key = KEYS.find((candidate) => candidate in history);
  if (key === undefined) throw refuse('it is an object without "messages", "input" or "contents"');
  const value = history[key];
  // One text, or one content, holds no calls.
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list === undefined && (key === 'messages' || !(typeof value === 'string' || isRecord(value)))) {
    throw refuse(`"${key}" is ${describeValue(value)}, a list was expected`);
  }
  return {
    format: settleFormat(wanted, list ?? [], history),
    list: list ?? [],
    continues:
      isGiven(history.previous_response_id) || isGiven(history.conversation) || refersElsewhere(list ?? []),
    put: (mended) => ({ ...history, [key]: mended }),
  };
}

type Body = { readonly [key: string]: unknown };

const KEYS = ['messages', 'contents', 'input'] as const;

const EXPECTED =
  'A list of messages, or a request body with "messages", "input" or "contents" was expected, as Anthropic, OpenAI and Gemini take it.';

function refuse(problem: string): ToolError {
  return new ToolError('config_invalid', `Cannot repair the history: ${problem}. ${EXPECTED}`);
}

function requireFormat(format: WireFormat): HistoryFormat {
  const known = HISTORY_FORMATS.find((candidate) => candidate === format);
  if (known !== undefined) return known;
  throw new ToolError(
    'config_invalid',
    `Cannot repair a history in the format ${JSON.stringify(format)}. Known: ${HISTORY_FORMATS.join(', ')}.`,
  );
}

/** What is marked most clearly is asked first. */
const HISTORY_FORMATS: readonly HistoryFormat[] = [
  'openai',
  'openai-responses',
  'gemini',
  'anthropic',
  'native',
];

/**
 * What was asked for counts where the list could be that.
 * @throws ToolError where nothing in it is, and something is clearly another's: "nothing to mend" would be no answer.
 */
function settleFormat(
  wanted: HistoryFormat | undefined,
  list: readonly unknown[],
  body: Body,
): HistoryFormat {
  if (wanted === undefined) return recognise(list, body);
  const most = mostSpoken(list);
  if (most.count === 0 || most.format === wanted) return wanted;
  if (holdsTools(list, wanted) || !holdsTools(list, most.format)) return wanted;
  const remedy = `Leave the format out, or name "${most.format}".`;
  throw new ToolError(
    'config_invalid',
    `Cannot repair the history: it is written in the format "${most.format}", not "${wanted}". ${remedy}`,
  );
}

/** Whether there are calls or results in it, read in a format. */
function holdsTools(list: readonly unknown[], format: HistoryFormat): boolean {
  return HISTORY_SHAPES[format]
    .read(list, new KnownTools(format, undefined))
    .some(({ kind }) => kind !== 'other');
}

function countSpoken(list: readonly unknown[], format: HistoryFormat): number {
  return toRecords(list).filter((element) => HISTORY_SHAPES[format].speaks(element)).length;
}

function mostSpoken(list: readonly unknown[]): { readonly format: HistoryFormat; readonly count: number } {
  const votes = HISTORY_FORMATS.map((format) => ({ format, count: countSpoken(list, format) }));
  return votes.reduce((best, vote) => (vote.count > best.count ? vote : best));
}

function recognise(list: readonly unknown[], body: Body): HistoryFormat {
  const stranger = list.findIndex((element) => !isRecord(element));
  if (stranger !== -1) throw refuse(`element ${stranger} is ${describeValue(list[stranger])}`);
  const most = mostSpoken(list);
  if (most.count > 0) return most.format;
  if ('contents' in body) return 'gemini';
  if ('input' in body) return 'openai-responses';
  if (list.length === 0) return 'messages' in body ? 'openai' : 'native';
  const mute = toRecords(list).findIndex(({ role, type }) => typeof (role ?? type) !== 'string');
  if (mute !== -1) throw refuse(`element ${mute} has the shape of no known message`);
  // There is no call in it, so that nothing depends on this.
  return toRecords(list).some(({ content }) => Array.isArray(content)) || 'system' in body
    ? 'anthropic'
    : 'openai';
}

function refersElsewhere(list: readonly unknown[]): boolean {
  return list.some((item) => isRecord(item) && item.type === 'item_reference');
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
