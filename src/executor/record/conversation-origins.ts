import type { ToolResult } from '../../contract/call.js';
import type { ConversationMemory } from '../../contract/context.js';
import type { ReadOutputOptions } from '../../contract/executor.js';
import type { Origin, OriginView } from '../../contract/origin.js';
import { ToolError } from '../../errors/tool-error.js';
import { isOriginPattern } from '../../patterns/origin.js';
import { CLEAN_MARK, ConversationOrigins, OUTPUT_MARK } from '../../provenance/conversation-origins.js';
import { sourceOf, stateKeptOutput } from '../../provenance/origin-of-call.js';
import type { TextBudget } from '../../provenance/text-budget.js';
import { outputInWords } from '../../providers/content-words.js';
import { notAnOutput } from '../call/run-options.js';
import type { AgentLineage, ExecutorSettings, PolicySettings } from '../call/settings.js';
import type { FactsRecord } from './conversation-memories.js';

const KEY = 'origin:';

/**
 * The origins of all results that a conversation has seen, stored by its memory object, out of reach of tools. For a
 * named conversation the journal also holds the origins and the results, for later processes.
 */
class TrackedOrigins {
  readonly origins: ConversationOrigins;
  readonly #journal: FactsRecord | undefined;
  /** The conversation continues after its memory was dropped, so its texts are missing. */
  readonly #isDropped: boolean;
  #mark: number | undefined;
  #isRecalled = false;
  /** The texts of earlier processes, while they are read or once they were. */
  #reading: Promise<void> | undefined;
  #begunWith: AgentLineage['prompt'];
  /** The reads of kept outputs whose whole text was added here. Of other processes, only the facts are known. */
  readonly #outputs = new Set<string>();

  constructor({ budget, dropped, journal }: OriginsToTrack, origins = new ConversationOrigins(budget)) {
    this.#journal = journal;
    this.#isDropped = dropped !== undefined;
    this.origins = origins;
    if (dropped !== undefined) this.origins.recallDropped(dropped);
  }

  /** @param isSearched whether a decision may depend on where the text appears */
  saw(result: ToolResult, isSearched: boolean): void {
    const { origin } = result.metadata;
    stateKeptOutput(result);
    // Most results come from the program's own tools: there is no text to search and no new origin.
    if (!Array.isArray(origin) || (origin.length === 1 && origin[0] === 'user')) return;
    this.#add(result.callId, origin as readonly Origin[], isSearched ? textOf(result) : '');
  }

  /**
   * A kept output was given to the model without a call.
   * @param read names the output and the part of it
   */
  sawOutput(ref: string, read: string, bytes: Uint8Array, isSearched: boolean): void | Promise<void> {
    const origin = sourceOf(ref);
    if (origin.every((one) => one === 'user')) return undefined;
    const text = isSearched ? new TextDecoder().decode(bytes.subarray(0, MOST_OF_OUTPUT)) : '';
    this.origins.add(ref, origin, this.origins.holds(ref, origin, text) ? '' : text);
    if (bytes.length > MOST_OF_OUTPUT) this.origins.recallDropped([]);
    else if (isSearched) this.#outputs.add(read);
    // Another process may have marked the conversation clean since the origins were new here.
    return this.#record([
      ...origin.map((one) => factOf(one, ref)),
      { key: `${OUTPUT_MARK}${read}`, value: true },
    ]);
  }

  /** A sub-agent sees its prompt before all results. */
  begin(prompt: NonNullable<AgentLineage['prompt']>): void {
    if (this.#begunWith === prompt) return;
    this.#begunWith = prompt;
    this.#add(prompt.callId, prompt.origin, prompt.text);
  }

  #add(callId: string, origin: readonly Origin[], text: string): void {
    const fresh = this.origins.add(callId, origin, text);
    if (fresh.length > 0) void this.#record(fresh.map((one) => factOf(one, callId)));
  }

  /** For a preview, in which nothing is recorded. */
  copy(): TrackedOrigins {
    return new TrackedOrigins({}, this.origins.copy());
  }

  clear(): void {
    this.origins.clear();
    this.#outputs.clear();
    void this.#record([{ key: CLEAN_MARK, value: true }]);
  }

  /**
   * Loads the origins that other processes have seen, and the texts that they had seen before this one. Returns a promise
   * only if a journal has to be read.
   */
  refresh(isSearched: boolean): void | Promise<void> {
    const journal = this.#journal;
    if (journal === undefined) return undefined;
    try {
      const recalled = journal.recall(this.#mark);
      if (!(recalled instanceof Promise)) return this.#take(recalled, isSearched);
      return recalled.then((facts) => this.#take(facts, isSearched)).catch(() => undefined);
    } catch {
      // If the journal cannot be read, no call runs: recording the batch reports the error.
      return undefined;
    }
  }

  #take(recalled: Awaited<ReturnType<FactsRecord['recall']>>, isSearched: boolean): void | Promise<void> {
    if (recalled === undefined) return this.#reading;
    this.#mark = recalled.mark;
    let cleanAt = 0;
    let isMissing = false;
    // Facts come in the order of writing, and a mark forgets all origins before it.
    for (const { key, at } of recalled.facts) {
      if (key === CLEAN_MARK) {
        cleanAt = at;
        isMissing = false;
      }
      if (key === CLEAN_MARK && !this.#isRecalled) this.origins.clear();
      else if (key.startsWith(OUTPUT_MARK)) isMissing ||= !this.#outputs.has(key.slice(OUTPUT_MARK.length));
      else if (key.startsWith(KEY) && isOriginPattern(key.slice(KEY.length)))
        this.origins.recall(key.slice(KEY.length) as Origin);
    }
    // A mark from before the memory was dropped has forgotten that the texts are missing.
    if (isMissing || (this.#isDropped && !this.#isRecalled)) this.origins.recallDropped([]);
    if (!this.#isRecalled && isSearched && !this.origins.isEmpty) this.#reading = this.#readTexts(cleanAt);
    this.#isRecalled = true;
    return this.#reading;
  }

  async #readTexts(cleanAt: number): Promise<void> {
    try {
      for (const { callId, origin, result } of (await this.#journal?.texts(cleanAt)) ?? []) {
        stateKeptOutput(result);
        this.origins.add(callId, origin, textOf(result));
      }
    } catch {
      // Then the model's arguments may occur in texts that are missing here.
      this.origins.recallDropped([]);
    }
    this.#reading = undefined;
  }

  /** Never throws, nor does the promise. */
  #record(facts: readonly Fact[]): void | Promise<void> {
    const journal = this.#journal;
    if (journal === undefined) return undefined;
    const at = journal.now();
    try {
      const written = journal.remember(facts.map((fact) => ({ ...fact, value: [fact.value, at], at })));
      if (written instanceof Promise) return written.catch((error: unknown) => journal.failed(error));
    } catch (error) {
      journal.failed(error);
    }
    return undefined;
  }
}

interface Fact {
  readonly key: string;
  readonly value: string | true;
}

function factOf(origin: Origin, callId: string): Fact {
  return { key: `${KEY}${origin}`, value: callId };
}

function textOf(result: ToolResult): string {
  const { error } = result;
  const output = outputInWords(result);
  return error === undefined ? output : `${error.message}\n${output}`;
}

const tracked = new WeakMap<ConversationMemory, TrackedOrigins>();

interface OriginsToTrack {
  readonly budget?: TextBudget;
  /** The origins of a conversation whose memory was dropped. */
  readonly dropped?: readonly Origin[] | undefined;
  /** Undefined: the conversation exists only in this process. */
  readonly journal?: FactsRecord;
}

export function trackOrigins(memory: ConversationMemory, parts: OriginsToTrack): void {
  tracked.set(memory, new TrackedOrigins(parts));
}

/**
 * The conversation's memory was dropped, so its texts no longer use any of the budget.
 * @returns the origins that it had seen
 */
export function forgetOrigins(memory: ConversationMemory, budget: TextBudget): readonly Origin[] {
  const known = tracked.get(memory);
  if (known === undefined) return [];
  budget.forget(known.origins);
  return known.origins.isEmpty ? [] : known.origins.seen;
}

/** Notes that the model receives this result. */
export function sawResult({ memory, settings }: SeeingScope, result: ToolResult): void {
  of(memory).saw(result, settings.policy?.searchesOrigins !== false);
  const { origin } = result.metadata;
  if (Array.isArray(origin)) settings.lineage?.saw(origin as readonly Origin[]);
}

/**
 * Bytes of an output that are searched. The rest of a longer one counts as a forgotten text: otherwise it would push the
 * texts of all results out.
 */
const MOST_OF_OUTPUT = 1_000_000;

/** Reads a kept output. If its conversation is named, notes that the model receives it, without a call. */
export async function readOutput(
  ref: string,
  { conversation, ...part }: ReadOutputOptions,
  settings: OriginSettings & Pick<ExecutorSettings, 'outputs'>,
  memoryOf: (conversation: string) => ConversationMemory,
): Promise<Uint8Array> {
  const { outputs, policy } = settings;
  if (typeof ref !== 'string' || !outputs.owns(ref)) throw notAnOutput(ref);
  const bytes = await outputs.read(ref, part);
  if (conversation === undefined) return bytes;
  const memory = memoryOf(conversation);
  // An earlier process may have made the output: its results state the origin.
  await originsFor(memory, settings);
  const isSearched = policy?.searchesOrigins !== false;
  const { offset = 0, length = '' } = part;
  await of(memory).sawOutput(ref, `${ref} ${offset} ${length}`, bytes, isSearched);
  return bytes;
}

interface SeeingScope {
  readonly memory: ConversationMemory;
  readonly settings: OriginSettings;
}

type OriginSettings = Pick<PolicySettings, 'policy' | 'lineage'>;

/** Lets a preview know what a conversation has seen. */
export async function copyOrigins(from: ConversationMemory, to: ConversationMemory): Promise<void> {
  const known = of(from);
  await known.refresh(true);
  tracked.set(to, known.copy());
}

/** Handles the host program's declaration that earlier origins no longer count. */
export function markClean(memory: ConversationMemory, state: unknown): void {
  if (state !== 'clean') {
    throw new ToolError('bad_args', 'Cannot mark: write executor.mark(conversation, "clean").');
  }
  of(memory).clear();
}

/**
 * The origins that may have influenced the calls of a conversation; undefined: there are none yet.
 * @param readsTexts whether to read the texts that earlier processes have seen, once
 */
export function originsFor(
  memory: ConversationMemory,
  { policy, lineage }: OriginSettings,
  readsTexts = true,
): OriginView | undefined | Promise<OriginView | undefined> {
  const known = of(memory);
  const refreshing = known.refresh(readsTexts && policy?.searchesOrigins !== false);
  if (lineage?.prompt !== undefined) known.begin(lineage.prompt);
  const view = (): OriginView | undefined => (known.origins.isEmpty ? undefined : known.origins);
  return refreshing instanceof Promise ? refreshing.then(view) : view();
}

function of(memory: ConversationMemory): TrackedOrigins {
  let known = tracked.get(memory);
  if (known === undefined) {
    known = new TrackedOrigins({});
    tracked.set(memory, known);
  }
  return known;
}

/** Adds the conversation's origins to the settings for planning its calls. */
export async function withOrigins<S extends OriginSettings & Pick<PolicySettings, 'origins'>>(
  settings: S,
  memory: ConversationMemory,
): Promise<S> {
  const origins = settings.policy === null ? undefined : await originsFor(memory, settings);
  return origins === undefined ? settings : { ...settings, origins };
}
