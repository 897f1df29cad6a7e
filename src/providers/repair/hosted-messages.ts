import type { KnownTools } from '../known-tools.js';
import type { RawCall } from '../raw-call.js';
import { isRecord } from '../unknown-value.js';
import type {
  ArrangedPiece,
  CallEdits,
  HistoryShape,
  Piece,
  ResultPiece,
  TurnPiece,
} from './history-shape.js';
import { readCallsOfTurn } from './history-shape.js';

/** A format whose messages hold calls, results and texts in one list. */
export interface HostFormat {
  /** The key of that list. */
  readonly parts: string;
  readonly modelRole: string;
  toPart(text: string): unknown;
  isCall(part: unknown): boolean;
  readCalls(message: unknown, tools: KnownTools): readonly RawCall[];
  withCallId(part: unknown, id: string): unknown;
  /** Whether a message with only this part makes sense. */
  standsAlone(part: unknown): boolean;
  /** Undefined for a part that is not a result. */
  readResult(part: unknown): Pick<ResultPiece, 'id' | 'name'> | undefined;
}

/** The common part of such formats. */
export function hostedMessages(
  format: HostFormat,
): Pick<HistoryShape, 'results' | 'read' | 'rewrite' | 'assemble'> {
  return {
    results: 'parts',
    read: (list, tools) => list.flatMap((message, at) => toPieces(message, at, format, tools)),
    rewrite: (turn, edits) => rewrite(turn, edits, format),
    assemble: (pieces, list) => assembleMessages(pieces, list, format),
  };
}

function toPieces(message: unknown, at: number, format: HostFormat, tools: KnownTools): readonly Piece[] {
  if (!isRecord(message)) return [{ kind: 'other', at, value: message, by: 'others' }];
  const parts = message[format.parts];
  if (message.role === format.modelRole) {
    if (Array.isArray(parts) && parts.some(format.isCall)) {
      const calls = readCallsOfTurn(format.readCalls(message, tools), at, tools);
      return [{ kind: 'turn', at, value: message, calls }];
    }
    return [{ kind: 'other', at, value: message, by: 'model' }];
  }
  if (!Array.isArray(parts) || !parts.some((part) => format.readResult(part) !== undefined)) {
    return [{ kind: 'other', at, value: message, by: 'others' }];
  }
  return parts.map((part: unknown): Piece => {
    const result = format.readResult(part);
    if (result !== undefined) return { kind: 'result', at, value: part, ...result };
    return { kind: 'other', at, value: part, by: 'others', part: true };
  });
}

function rewrite({ value }: TurnPiece, edits: CallEdits, format: HostFormat): unknown {
  const parts = isRecord(value) ? value[format.parts] : undefined;
  if (!isRecord(value) || !Array.isArray(parts)) return value;
  let index = -1;
  const kept = parts.flatMap((part: unknown) => {
    if (!format.isCall(part)) return [part];
    index += 1;
    const edit = edits.get(index);
    if (edit === undefined) return [part];
    return edit === 'drop' ? [] : [format.withCallId(part, edit.id)];
  });
  return kept.some((part) => format.standsAlone(part)) ? { ...value, [format.parts]: kept } : undefined;
}

/** Builds messages from pieces, in formats in which results are parts of a message. */
function assembleMessages(
  pieces: readonly ArrangedPiece[],
  list: readonly unknown[],
  format: HostFormat,
): readonly unknown[] {
  const slots: Slot[] = [];
  /** The message that receives further parts. */
  let open: OpenMessage | undefined;
  for (const piece of pieces) {
    if (piece.kind === 'gone') {
      slots.push({ kind: 'gap', at: piece.at });
      continue;
    }
    const home = homeOf(piece);
    const fits = open !== undefined && (open.home === undefined || home === undefined || open.home === home);
    if (piece.kind === 'turn' || (piece.kind === 'other' && piece.by === 'model')) {
      slots.push({ kind: 'whole', value: piece.value, isModel: true });
      open = undefined;
    } else if (isWhole(piece) && !(fits && canHost(piece.value, format))) {
      slots.push({ kind: 'whole', value: piece.value, isModel: false });
      open = undefined;
    } else {
      if (open === undefined || !fits) {
        open = { kind: 'open', home: undefined, parts: [] };
        slots.push(open);
      }
      open.home ??= home;
      open.parts.push(...(isWhole(piece) ? partsOf(piece.value, format) : [piece.value]));
    }
  }
  return fillGaps(slots, list, format);
}

/** A message under construction: it keeps everything of `home` except the parts. */
interface OpenMessage {
  readonly kind: 'open';
  home: number | undefined;
  readonly parts: unknown[];
}

type Slot =
  | OpenMessage
  | { readonly kind: 'whole'; readonly value: unknown; readonly isModel: boolean }
  | { readonly kind: 'gap'; readonly at: number };

type Standing = Exclude<ArrangedPiece, { readonly kind: 'gone' }>;

function homeOf(piece: Standing): number | undefined {
  return piece.kind === 'result' ? piece.home : piece.at;
}

function isWhole(piece: Standing): boolean {
  return piece.kind === 'other' && piece.part === undefined;
}

/** Some servers reject two consecutive messages of one side, so results join the text after them. */
function canHost(message: unknown, { parts }: HostFormat): boolean {
  if (!isRecord(message) || message.role === 'system') return false;
  return typeof message[parts] === 'string' || Array.isArray(message[parts]);
}

function partsOf(message: unknown, { parts, toPart }: HostFormat): readonly unknown[] {
  const content = isRecord(message) ? message[parts] : undefined;
  if (Array.isArray(content)) return content;
  return typeof content === 'string' && content !== '' ? [toPart(content)] : [];
}

const GONE =
  'Results of tool calls were here. They are now with their calls, or their calls are not part of this conversation.';

/** Drops messages without parts, unless the model would then speak twice in a row, or first. */
function fillGaps(slots: readonly Slot[], list: readonly unknown[], format: HostFormat): readonly unknown[] {
  const standing = slots.filter((slot) => slot.kind !== 'gap');
  const messages: unknown[] = [];
  let passed = 0;
  let filled = false;
  for (const slot of slots) {
    if (slot.kind !== 'gap') {
      messages.push(toMessage(slot, list, format));
      passed += 1;
      filled = false;
    } else if (!filled && isModel(standing[passed]) && (passed === 0 || isModel(standing[passed - 1]))) {
      messages.push(withParts(list[slot.at], [format.toPart(GONE)], format));
      filled = true;
    }
  }
  return messages;
}

function isModel(slot: Slot | undefined): boolean {
  return slot?.kind === 'whole' && slot.isModel;
}

function toMessage(
  slot: Exclude<Slot, { kind: 'gap' }>,
  list: readonly unknown[],
  format: HostFormat,
): unknown {
  if (slot.kind === 'whole') return slot.value;
  const host = slot.home === undefined ? undefined : list[slot.home];
  return withParts(host ?? { role: 'user' }, slot.parts, format);
}

function withParts(host: unknown, parts: readonly unknown[], { parts: key }: HostFormat): unknown {
  if (!isRecord(host)) return host;
  const before = host[key];
  const isSame =
    Array.isArray(before) && before.length === parts.length && parts.every((part, at) => part === before[at]);
  return isSame ? host : { ...host, [key]: parts };
}
