import canonicalize from 'canonicalize';
import type { ToolResult } from '../contract/call.js';
import type { Middleware } from '../contract/context.js';
import type { JsonObject } from '../contract/json.js';
import type { Registry, Tool, ToolDefinition } from '../contract/tool.js';
import { ToolError } from '../errors/tool-error.js';
import { hasLeftOut } from '../journal/redaction/left-out.js';
import { type TapeEntry, type TapeRecord, toTapeRecords } from './tape-entries.js';

export interface TapeOptions {
  /** Only the calls of this conversation. Default: all. */
  readonly conversation?: string;
}

/** A call that is not on the tape. */
export interface TapeMiss {
  readonly callId: string;
  readonly toolName: string;
  readonly args: JsonObject;
  readonly message: string;
}

/** Options for `createExecutor` that answer every call from the tape. */
export interface TapeExecutorOptions {
  readonly tools: Registry;
  readonly middleware: readonly Middleware[];
  readonly policy: null;
  readonly approver: null;
  readonly cache: false;
  readonly limits: { readonly maxToolCallsPerBatch: number; readonly maxToolArgsBytes: number };
  readonly output: { readonly maxBytes: number; readonly maxContentBytes: number };
}

export interface Tape extends Disposable {
  /**
   * Spread them: `createExecutor({ ...tape.options })`. Recorded refusals are answered too, without policy or
   * approval.
   */
  readonly options: TapeExecutorOptions;
  /**
   * For an executor with its own tools, policy and approval: calls that pass them are answered from the tape.
   * Use `cache: false`, because cached calls never reach the tape.
   */
  readonly middleware: Middleware;
  readonly misses: readonly TapeMiss[];
  /** Recorded answers that no call has used, in order. */
  readonly unused: readonly TapeEntry[];
  /** @throws Error that lists every call without an answer and every unused answer. */
  assertDone(): void;
}

/**
 * Creates a recording that answers calls, for tests of agents, from the output of `toolexec journal export`,
 * its lines as objects, or journal records. A call is matched by tool, arguments (canonical JSON) and its
 * repetition number; its id does not matter. Nothing runs: a call that is not on the tape fails
 * (`execution_failed`, `details.tapeMiss`), and `assertDone` throws. `using tape = createTape(…)` asserts it
 * at the end of the scope.
 *
 * @throws ToolError `config_invalid` if it is not a recording.
 */
export function createTape(recorded: string | Iterable<unknown>, options: TapeOptions = {}): Tape {
  const { conversation } = options;
  const records = toTapeRecords(recorded).filter(
    (record) => conversation === undefined || record.conversation === conversation,
  );
  return new RecordedTape(records);
}

class RecordedTape implements Tape {
  readonly options: TapeExecutorOptions;
  readonly misses: TapeMiss[] = [];
  readonly #unused: Set<TapeEntry>;
  readonly #waiting = new Map<string, TapeEntry[]>();
  readonly #recorded = new Map<string, number>();

  constructor(records: readonly TapeRecord[]) {
    const entries = records.filter(isSettled);
    this.#unused = new Set(entries);
    for (const record of records) {
      const key = keyOf(record.toolName, record.args);
      this.#recorded.set(key, (this.#recorded.get(key) ?? 0) + 1);
    }
    for (const entry of entries) {
      const key = keyOf(entry.toolName, entry.args);
      const alike = this.#waiting.get(key);
      if (alike === undefined) this.#waiting.set(key, [entry]);
      else alike.push(entry);
    }
    this.options = {
      tools: new TapeRegistry(records.map(({ toolName }) => toolName)),
      middleware: [this.middleware],
      policy: null,
      approver: null,
      cache: false,
      limits: { maxToolCallsPerBatch: Number.MAX_SAFE_INTEGER, maxToolArgsBytes: Number.MAX_SAFE_INTEGER },
      output: { maxBytes: Number.MAX_SAFE_INTEGER, maxContentBytes: Number.MAX_SAFE_INTEGER },
    };
  }

  get middleware(): Middleware {
    // Never calls `next`: nothing may run.
    return async ({ id, name, args }) => this.#take(name, args) ?? this.#miss(id, name, args);
  }

  get unused(): readonly TapeEntry[] {
    return [...this.#unused];
  }

  assertDone(): void {
    const missed = this.misses.map(({ message }) => message);
    const unasked = this.unused
      .filter(({ result }) => !isTheExecutorsOwn(result))
      .map(({ toolName, args }) => `No call asked for ${show(toolName, args)}, which is on the tape.`);
    if (missed.length + unasked.length === 0) return;
    throw new Error(['The tape does not match what was called.', ...missed, ...unasked].join('\n- '));
  }

  [Symbol.dispose](): void {
    this.assertDone();
  }

  #take(name: string, args: JsonObject): ToolResult | undefined {
    const entry = this.#waiting.get(keyOf(name, args))?.shift();
    if (entry !== undefined) this.#unused.delete(entry);
    return entry?.result;
  }

  #miss(callId: string, toolName: string, args: JsonObject): ToolResult {
    const message = `The tape has no answer for ${show(toolName, args)}: ${this.#explain(toolName, args)}`;
    this.misses.push({ callId, toolName, args, message });
    return {
      callId,
      toolName,
      success: false,
      output: '',
      error: { code: 'execution_failed', message, details: { executed: 'no', tapeMiss: true } },
      truncated: false,
      executionTimeMs: 0,
      metadata: {},
    };
  }

  #explain(name: string, args: JsonObject): string {
    const times = this.#recorded.get(keyOf(name, args)) ?? 0;
    if (times > 0)
      return `it was recorded ${times === 1 ? 'once' : `${times} times`}, and every answer is used.`;
    const ofTool = this.unused.filter(({ toolName }) => toolName === name);
    if (ofTool.some((entry) => hasLeftOut(entry.args))) {
      return 'calls of this tool are on it without their arguments, which were left out of the journal.';
    }
    const others = ofTool.map((entry) => show(name, entry.args));
    return others.length === 0
      ? 'no unused call of this tool is on it.'
      : `of this tool it still holds ${others.slice(0, 3).join(', ')}${others.length > 3 ? ', …' : '.'}`;
  }
}

function isSettled(record: TapeRecord): record is TapeEntry {
  return record.result !== undefined;
}

/** Refused before any tool lookup, both in the recording and in the replay. */
function isTheExecutorsOwn({ error }: ToolResult): boolean {
  return error?.code === 'duplicate_tool_call_id';
}

function keyOf(name: string, args: JsonObject): string {
  return `${name} ${canonicalize(args) ?? ''}`;
}

const MOST_SHOWN = 200;

function show(name: string, args: JsonObject): string {
  const text = canonicalize(args) ?? '';
  return `${name}(${text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text})`;
}

/**
 * Has a tool for every name: a call that is not on the tape must be reported as missing, not as
 * `unknown_tool`. Its tools accept any arguments and touch nothing.
 */
class TapeRegistry implements Registry {
  readonly revision = 0;
  readonly #tools = new Map<string, Tool>();
  readonly #names: readonly string[];

  constructor(names: Iterable<string>) {
    this.#names = [...new Set(names)].sort();
  }

  find(name: string): Tool {
    const known = this.#tools.get(name);
    if (known !== undefined) return known;
    const tool = toTapeTool(name);
    this.#tools.set(name, tool);
    return tool;
  }

  get(name: string): Tool {
    return this.find(name);
  }

  has(): boolean {
    return true;
  }

  list(): readonly Tool[] {
    return this.#names.map((name) => this.find(name));
  }

  definitions(): readonly ToolDefinition[] {
    return this.#names.map((name) => ({ name, description: 'On a tape.', inputSchema: { type: 'object' } }));
  }

  register({ name }: Tool): void {
    throw new ToolError('duplicate_tool', `Cannot register tool "${name}": a tape answers to every name.`);
  }
}

function toTapeTool(name: string): Tool {
  return Object.freeze({
    name,
    aliases: [],
    description: 'On a tape.',
    input: { type: 'object' },
    category: 'custom',
    timeoutClass: 'default',
    effects: () => [],
    execute: () => {
      throw new ToolError(
        'execution_failed',
        'A tape runs nothing. Give its middleware to the executor too.',
      );
    },
  } satisfies Tool);
}
