import { ToolError } from '../../errors/tool-error.js';
import { KnownTools } from '../known-tools.js';
import {
  HISTORY_FORMATS,
  type HistoryFormat,
  historyOf,
  listTitles,
  PROVIDERS,
  type WireFormat,
} from '../registry.js';
import { describeValue, type Fields, isRecord, toRecords } from '../unknown-value.js';
import { isMessage } from './history-shape.js';

export interface LocatedHistory {
  readonly format: HistoryFormat;
  readonly list: readonly unknown[];
  /** The server holds the earlier part: a result may answer a call that is not in the list. */
  readonly continues: boolean;
  /** The same value with another list. */
  put(list: readonly unknown[]): unknown;
}

/**
 * Finds the messages in the input, and their format.
 * @throws ToolError `config_invalid` if it is not a history, or its format has none.
 */
export function locateHistory(history: unknown, format: WireFormat | undefined): LocatedHistory {
  const wanted = format === undefined ? undefined : requireFormat(format);
  if (Array.isArray(history)) {
    const list: readonly unknown[] = history;
    return {
      format: resolveFormat(wanted, list, {}),
      list,
      continues: isContinued(list, {}),
      put: (mended) => mended,
    };
  }
  if (!isRecord(history)) throw refuse(`it is ${describeValue(history)}`);
  const key = BODY_KEYS.find((candidate) => candidate in history);
  if (key === undefined) throw refuse(`it is an object without ${listKeys()}`);
  const value = history[key];
  const list: readonly unknown[] | undefined = Array.isArray(value) ? value : undefined;
  if (list === undefined && !(mayHoldOne(key) && (typeof value === 'string' || isRecord(value)))) {
    throw refuse(`"${key}" is ${describeValue(value)}, a list was expected`);
  }
  return {
    format: resolveFormat(wanted, list ?? [], history),
    list: list ?? [],
    continues: isContinued(list ?? [], history),
    put: (mended) => ({ ...history, [key]: mended }),
  };
}

const SHAPES = HISTORY_FORMATS.map(historyOf);

const BODY_KEYS = [...new Set(SHAPES.flatMap(({ bodyKey }) => bodyKey ?? []))];

/** A single text or content in place of a list. */
function mayHoldOne(key: string): boolean {
  return SHAPES.some(({ bodyKey, maySpeakAlone }) => bodyKey === key && maySpeakAlone === true);
}

function isContinued(list: readonly unknown[], body: Fields): boolean {
  return SHAPES.some((shape) => shape.continues?.(list, body) === true);
}

function listKeys(): string {
  const keys = BODY_KEYS.map((key) => `"${key}"`);
  return `${keys.slice(0, -1).join(', ')} or ${keys.at(-1)}`;
}

function refuse(problem: string): ToolError {
  const expected = `A list of messages, or a request body with ${listKeys()} was expected, as ${listTitles('and')} take it.`;
  return new ToolError('config_invalid', `Cannot repair the history: ${problem}. ${expected}`);
}

function requireFormat(format: WireFormat): HistoryFormat {
  const known = HISTORY_FORMATS.find((candidate) => candidate === format);
  if (known !== undefined) return known;
  throw new ToolError(
    'config_invalid',
    `Cannot repair a history in the format ${JSON.stringify(format)}. Known: ${HISTORY_FORMATS.join(', ')}.`,
  );
}

/**
 * The requested format, if the list can have it.
 * @throws ToolError if no element has it and some clearly have another: "nothing to repair" would be wrong.
 */
function resolveFormat(
  wanted: HistoryFormat | undefined,
  list: readonly unknown[],
  body: Fields,
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

/** Whether it contains calls or results in this format. */
function holdsTools(list: readonly unknown[], format: HistoryFormat): boolean {
  return historyOf(format)
    .read(list, new KnownTools(PROVIDERS[format].names))
    .some(({ kind }) => kind !== 'other');
}

function countSpoken(list: readonly unknown[], format: HistoryFormat): number {
  return toRecords(list).filter((element) => historyOf(format).speaks(element)).length;
}

function mostSpoken(list: readonly unknown[]): { readonly format: HistoryFormat; readonly count: number } {
  const votes = HISTORY_FORMATS.map((format) => ({ format, count: countSpoken(list, format) }));
  return votes.reduce((best, vote) => (vote.count > best.count ? vote : best));
}

function recognise(list: readonly unknown[], body: Fields): HistoryFormat {
  const stranger = list.findIndex((element) => !isRecord(element));
  if (stranger !== -1) throw refuse(`element ${stranger} is ${describeValue(list[stranger])}`);
  const most = mostSpoken(list);
  if (most.count > 0) return most.format;
  const format = HISTORY_FORMATS.find((candidate) => historyOf(candidate).mayBe(list, body));
  if (format !== undefined) return format;
  const mute = toRecords(list).findIndex((element) => !isMessage(element));
  throw refuse(mute === -1 ? 'it has no known shape' : `element ${mute} has the shape of no known message`);
}
