import type { KnownTools } from '../known-tools.js';
import type { CallAssembler } from '../provider.js';
import type { RawCall } from '../raw-call.js';
import { parseArguments } from '../raw-call.js';
import { describeValue, isRecord } from '../unknown-value.js';
import { isToolUse, readToolUse, type ToolUse } from './read.js';

interface OpenBlock {
  /** The start of the block; its `input` holds the arguments if no delta follows. */
  readonly block: ToolUse;
  json: string;
  problem?: string;
}

type Event = { readonly [key: string]: unknown };

const EVENT_TYPES: ReadonlySet<unknown> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

export function isStreamEvent(event: unknown): boolean {
  return isRecord(event) && EVENT_TYPES.has(event.type);
}

const UNFINISHED = 'the stream ended inside it. Send the call again.';
const CUT_OFF =
  'the response was cut off (stop_reason "max_tokens") before its arguments. Send it again, shorter.';

/**
 * Uses the events `content_block_start`, `content_block_delta` (`input_json_delta`) and `content_block_stop`.
 */
export function createAnthropicAssembler(tools: KnownTools): CallAssembler {
  const blocks = new BlockAssembler(tools);
  const steps = new Map<unknown, (event: Event) => readonly RawCall[]>([
    ['content_block_start', (event) => blocks.start(event)],
    ['content_block_delta', (event) => blocks.extend(event)],
    ['content_block_stop', (event) => blocks.stop(event)],
    ['message_delta', ({ delta }) => blocks.release(isRecord(delta) && delta.stop_reason === 'max_tokens')],
    ['message_stop', () => blocks.release(false)],
  ]);
  return {
    push: (event) => (isRecord(event) ? (steps.get(event.type)?.(event) ?? []) : []),
    end: () => blocks.end(),
  };
}

class BlockAssembler {
  readonly #tools: KnownTools;
  // Blocks have an index and may be interleaved.
  readonly #open = new Map<unknown, OpenBlock>();
  /** A block that ended without arguments: the following events show whether it has none or was cut off. */
  #held: ToolUse | undefined;

  constructor(tools: KnownTools) {
    this.#tools = tools;
  }

  start({ index, content_block: block }: Event): readonly RawCall[] {
    const released = this.release(false);
    const replaced = this.#open.get(index);
    this.#open.delete(index);
    if (isToolUse(block)) this.#open.set(index, { block, json: '' });
    return replaced === undefined ? released : [...released, toUnfinished(replaced.block)];
  }

  extend({ index, delta }: Event): readonly RawCall[] {
    const open = this.#open.get(index);
    if (open === undefined || !isRecord(delta) || delta.type !== 'input_json_delta') return [];
    const piece = delta.partial_json;
    if (typeof piece === 'string') open.json += piece;
    else open.problem ??= `a piece of its arguments is ${describeValue(piece)}, a string was expected.`;
    return [];
  }

  stop({ index }: Event): readonly RawCall[] {
    const open = this.#open.get(index);
    if (open === undefined) return [];
    this.#open.delete(index);
    const released = this.release(false);
    const { block, json, problem } = open;
    const { id, name } = block;
    if (problem !== undefined) return [...released, { id, name, problem }];
    if (json === '' && isEmpty(block.input)) {
      this.#held = block;
      return released;
    }
    const parsed = parseArguments({ id, name, args: json === '' ? block.input : json, argsField: 'input' });
    if (!('args' in parsed)) return [...released, parsed];
    return [...released, readToolUse({ ...block, input: parsed.args }, this.#tools)];
  }

  release(cutOff: boolean): readonly RawCall[] {
    const held = this.#held;
    if (held === undefined) return [];
    this.#held = undefined;
    if (cutOff) return [{ id: held.id, name: held.name, problem: CUT_OFF }];
    return [readToolUse(held, this.#tools)];
  }

  end(): readonly RawCall[] {
    const released = this.release(false);
    const left = [...this.#open.values()].map(({ block }) => toUnfinished(block));
    this.#open.clear();
    return [...released, ...left];
  }
}

function isEmpty(input: unknown): boolean {
  return isRecord(input) && Object.keys(input).length === 0;
}

function toUnfinished({ id, name }: ToolUse): RawCall {
  return { id, name, problem: UNFINISHED, unfinished: true };
}
