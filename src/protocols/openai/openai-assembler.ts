import { isRecord, toRecords } from '../is-record.js';
import { parseArguments } from '../parse-arguments.js';
import type { RawCall } from '../raw-call.js';
import type { CallAssembler } from '../wire-protocol.js';

interface OpenCall {
  readonly id: unknown;
  name: unknown;
  json: string;
}

type Fragment = { readonly [key: string]: unknown };

/**
 * From `chat.completion.chunk` objects. Nothing marks the end of one call, only `finish_reason` that of all: until
 * then a fragment for any of them may come.
 */
export function createOpenaiAssembler(): CallAssembler {
  let calls: OpenCall[] = [];
  let current = new Map<unknown, OpenCall>();
  const takeAll = () => {
    const all = calls;
    calls = [];
    current = new Map();
    return all;
  };
  return {
    push: (event) => {
      const choice = isRecord(event) ? toRecords(event.choices)[0] : undefined;
      if (choice === undefined) return [];
      const fragments = isRecord(choice.delta) ? toRecords(choice.delta.tool_calls) : [];
      for (const fragment of fragments) extendCall(toCall(fragment, calls, current), fragment);
      return typeof choice.finish_reason === 'string' ? takeAll().map(toRawCall) : [];
    },
    end: () => takeAll().map(({ id, name }) => ({ id, name, problem: UNFINISHED })),
  };
}

const UNFINISHED = 'the stream ended before its finish_reason. Send the call again.';

/** The call that a fragment belongs to: that of its index, unless it brings an id of its own. */
function toCall({ index, id }: Fragment, calls: OpenCall[], current: Map<unknown, OpenCall>): OpenCall {
  const known = current.get(index);
  // Some servers number every call 0, or none, and send each in one piece.
  const isNew = known === undefined || (typeof id === 'string' && id !== '' && id !== known.id);
  if (!isNew) return known;
  const call: OpenCall = { id, name: undefined, json: '' };
  calls.push(call);
  current.set(index, call);
  return call;
}

function extendCall(call: OpenCall, fragment: Fragment): void {
  const wanted = fragment.function;
  if (!isRecord(wanted)) return;
  call.name ??= wanted.name;
  if (typeof wanted.arguments === 'string') call.json += wanted.arguments;
}

function toRawCall({ id, name, json }: OpenCall): RawCall {
  return parseArguments({ id, name, args: json, argsField: 'arguments' });
}
