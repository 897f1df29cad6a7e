import type { ToolResult } from '../../contract/call.js';
import type { ConversationMemory } from '../../contract/context.js';
import type { Origin, OriginView } from '../../contract/origin.js';
import { ToolError } from '../../errors/tool-error.js';
import { isOriginPattern } from '../../patterns/origin.js';
import { ConversationOrigins } from '../../provenance/conversation-origins.js';
import type { PolicySettings } from '../call/settings.js';
import type { FactsRecord } from './conversation-memories.js';

const KEY = 'origin:';
const CLEAN = 'origins:clean';

/**
 * What a conversation has seen, by its memory and out of the reach of tools. Of a named conversation the journal holds the
 * origins as well, so that a later process goes on with them; the texts stay in this process.
 */
class TrackedOrigins {
  readonly origins = new ConversationOrigins();
  readonly #journal: FactsRecord | undefined;
  #mark: number | undefined;
  #isRecalled = false;

  constructor(journal: FactsRecord | undefined) {
    this.#journal = journal;
  }

  /** @param isSearched where its text stands may matter for a decision */
  saw(result: ToolResult, isSearched: boolean): void {
    const { origin } = result.metadata;
    // Most calls of a program's own tools: nothing to search, nothing new.
    if (!Array.isArray(origin) || (origin.length === 1 && origin[0] === 'user')) return;
    const text = isSearched ? textOf(result) : '';
    const fresh = this.origins.add(result.callId, origin as readonly Origin[], text);
    if (fresh.length > 0) this.#record(fresh.map((one) => ({ key: `${KEY}${one}`, value: result.callId })));
  }

  clear(): void {
    this.origins.clear();
    this.#record([{ key: CLEAN, value: true }]);
  }

  /** Takes in what other processes have seen. A promise only where a journal has to be read. */
  refresh(): void | Promise<void> {
    if (this.#journal === undefined) return undefined;
    try {
      const recalled = this.#journal.recall(this.#mark);
      if (!(recalled instanceof Promise)) return this.#take(recalled);
      return recalled.then((facts) => this.#take(facts)).catch(() => undefined);
    } catch {
      // A journal that cannot be read lets no call run: recording the batch says so.
      return undefined;
    }
  }

  #take(recalled: Awaited<ReturnType<FactsRecord['recall']>>): void {
    if (recalled === undefined) return;
    this.#mark = recalled.mark;
    // In the order of writing: what was seen before the mark is forgotten by it.
    for (const { key } of recalled.facts) {
      if (key === CLEAN && !this.#isRecalled) this.origins.clear();
      else if (key.startsWith(KEY) && isOriginPattern(key.slice(KEY.length)))
        this.origins.recall(key.slice(KEY.length) as Origin);
    }
    this.#isRecalled = true;
  }

  #record(facts: readonly { readonly key: string; readonly value: string | true }[]): void {
    const journal = this.#journal;
    if (journal === undefined) return;
    const at = journal.now();
    try {
      const written = journal.remember(facts.map((fact) => ({ ...fact, value: [fact.value, at], at })));
      if (written instanceof Promise) written.catch((error: unknown) => journal.failed(error));
    } catch (error) {
      journal.failed(error);
    }
  }
}

function textOf({ error, output }: ToolResult): string {
  return error === undefined ? output : `${error.message}\n${output}`;
}

const tracked = new WeakMap<ConversationMemory, TrackedOrigins>();

/** @param journal undefined: the conversation is one of this process alone */
export function trackOrigins(memory: ConversationMemory, journal?: FactsRecord): void {
  tracked.set(memory, new TrackedOrigins(journal));
}

/** A result goes to the model. */
export function sawResult({ memory, settings }: SeeingScope, result: ToolResult): void {
  of(memory).saw(result, settings.policy?.searchesOrigins !== false);
}

interface SeeingScope {
  readonly memory: ConversationMemory;
  readonly settings: Pick<PolicySettings, 'policy'>;
}

/** The host program declares that nothing seen so far counts any more. */
export function markClean(memory: ConversationMemory, state: unknown): void {
  if (state !== 'clean') {
    throw new ToolError('bad_args', 'Cannot mark: write executor.mark(conversation, "clean").');
  }
  of(memory).clear();
}

/** What the calls of a conversation may have been steered by; undefined: nothing was seen yet. */
export function originsFor(
  memory: ConversationMemory,
): OriginView | undefined | Promise<OriginView | undefined> {
  const known = of(memory);
  const refreshing = known.refresh();
  const view = (): OriginView | undefined => (known.origins.isEmpty ? undefined : known.origins);
  return refreshing instanceof Promise ? refreshing.then(view) : view();
}

function of(memory: ConversationMemory): TrackedOrigins {
  let known = tracked.get(memory);
  if (known === undefined) {
    known = new TrackedOrigins(undefined);
    tracked.set(memory, known);
  }
  return known;
}

/** The settings for planning calls of a conversation, with what it has seen. */
export async function withOrigins<S extends Pick<PolicySettings, 'policy' | 'origins'>>(
  settings: S,
  memory: ConversationMemory,
): Promise<S> {
  const origins = settings.policy === null ? undefined : await originsFor(memory);
  return origins === undefined ? settings : { ...settings, origins };
}
