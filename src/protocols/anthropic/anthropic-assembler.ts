import { describeValue } from '../describe-value.js';
import { isRecord } from '../is-record.js';
import { parseArguments } from '../parse-arguments.js';
import type { RawCall } from '../raw-call.js';
import type { CallAssembler } from '../wire-protocol.js';

interface OpenBlock {
  readonly id: unknown;
  readonly name: unknown;
  /** What the block began with: the arguments, when no delta follows. */
  readonly input: unknown;
  json: string;
  problem?: string;
}

type Event = { readonly [key: string]: unknown };

const UNFINISHED = 'the stream ended inside it. Send the call again.';

/** From the events `content_block_start`, `content_block_delta` (`input_json_delta`) and `content_block_stop`. */
export function createAnthropicAssembler(): CallAssembler {
  // Blocks carry an index, so that they need not come one after the other.
  const open = new Map<unknown, OpenBlock>();
  const steps = new Map<unknown, (event: Event) => readonly RawCall[]>([
    ['content_block_start', (event) => startBlock(open, event)],
    ['content_block_delta', (event) => extendBlock(open, event)],
    ['content_block_stop', (event) => stopBlock(open, event)],
  ]);
  return {
    push: (event) => (isRecord(event) ? (steps.get(event.type)?.(event) ?? []) : []),
    end: () => {
      const left = [...open.values()].map(toUnfinished);
      open.clear();
      return left;
    },
  };
}

function startBlock(open: Map<unknown, OpenBlock>, event: Event): readonly RawCall[] {
  const { index, content_block: block } = event;
  const replaced = open.get(index);
  open.delete(index);
  if (isRecord(block) && block.type === 'tool_use') {
    open.set(index, { id: block.id, name: block.name, input: block.input, json: '' });
  }
  return replaced === undefined ? [] : [toUnfinished(replaced)];
}

function extendBlock(open: Map<unknown, OpenBlock>, event: Event): readonly RawCall[] {
  const block = open.get(event.index);
  const delta = event.delta;
  if (block === undefined || !isRecord(delta) || delta.type !== 'input_json_delta') return [];
  const piece = delta.partial_json;
  if (typeof piece === 'string') block.json += piece;
  else block.problem ??= `a piece of its arguments is ${describeValue(piece)}, a string was expected.`;
  return [];
}

function stopBlock(open: Map<unknown, OpenBlock>, event: Event): readonly RawCall[] {
  const block = open.get(event.index);
  if (block === undefined) return [];
  open.delete(event.index);
  const { id, name, input, json, problem } = block;
  if (problem !== undefined) return [{ id, name, problem }];
  return [parseArguments({ id, name, args: json === '' ? input : json, argsField: 'input' })];
}

function toUnfinished({ id, name }: OpenBlock): RawCall {
  return { id, name, problem: UNFINISHED };
}
