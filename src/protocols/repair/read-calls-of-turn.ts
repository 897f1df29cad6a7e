import type { KnownTools } from '../known-tools.js';
import type { RawCall } from '../raw-call.js';
import { settleCall } from '../settle-call.js';
import type { HistoryCall } from './piece.js';

/** The calls of one message or item, as the reader of its format gives them. */
export function readCallsOfTurn(raws: readonly RawCall[], at: number, tools: KnownTools): HistoryCall[] {
  return raws.map((raw, index) => {
    const settled = settleCall(raw, index, tools);
    const { origin } = settled;
    return {
      at,
      index,
      id: idOf(raw.id),
      byOrder: origin?.unnamed === true || origin?.item === 'legacy_function_call',
      name: typeof raw.name === 'string' ? raw.name : '',
      raw,
      asked: settled.kind === 'call' ? settled.call : undefined,
      origin,
    };
  });
}

/** What can be answered to. */
export function idOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
