import type { ConversationMemory } from '../contract/context.js';
import type { RunOptions } from '../contract/executor.js';
import type { Placement } from '../contract/worker.js';
import type { BatchScope, TakenCall } from './call/batch-scope.js';
import type { ExecutorSettings } from './call/settings.js';
import { currentScope } from './call/unhandled-errors.js';
import { Observer } from './events/observer.js';
import type { Known } from './executor-parts.js';
import { sessionOf } from './journal-session.js';
import type { BatchPart } from './preview-calls.js';
import { ConversationQueue, type ReservedPlace } from './queue.js';
import { ConversationMemories } from './record/conversation-memories.js';

interface ScopeParts {
  readonly known: Known | undefined;
  readonly observer: Observer | undefined;
  readonly part: BatchPart | undefined;
}

/** A reserved place in the queue of a conversation. */
export interface KeptPlace {
  readonly place: ReservedPlace;
  /** Has no effect once a batch has taken the place. */
  giveUp(): void;
}

/** The conversations of an executor: what each one knows, and the queue in which its calls run. */
export class Conversations {
  /** The conversation of callers that name none. */
  readonly own: string;
  readonly #covers: ExecutorSettings['covers'];
  readonly #ownMemory: ConversationMemory = new Map();
  readonly #ownQueue: ConversationQueue;
  readonly #memories: ConversationMemories;
  /** Only for conversations in which calls are running; shared by the executors over this journal. */
  readonly #queues: Map<string, ConversationQueue>;

  constructor(settings: ExecutorSettings) {
    this.own = `executor:${settings.createId()}`;
    this.#covers = settings.covers;
    this.#ownQueue = new ConversationQueue(settings.covers);
    this.#queues = sessionOf(settings.journal).queues;
    this.#memories = new ConversationMemories(settings);
  }

  /** @param conversation undefined: the executor's own. */
  memoryOf(conversation: string | undefined): ConversationMemory {
    if (conversation === undefined || conversation === this.own) return this.#ownMemory;
    return this.#memories.of(conversation);
  }

  /** The parts that the calls of one batch share. */
  scopeOf(
    settings: ExecutorSettings,
    options: RunOptions,
    { known, observer, part }: ScopeParts,
  ): BatchScope {
    const conversation = options.conversation ?? this.own;
    const id = known?.id ?? settings.createId();
    const taken = known?.taken;
    const own = part?.settings ?? settings;
    // A batch that was recorded earlier keeps its place.
    const placement = known?.calls === undefined ? placementOf(settings) : known.placement;
    return {
      id,
      settings: taken === undefined ? own : ofWorker(own, taken),
      conversation,
      memory: part?.memory ?? this.memoryOf(conversation),
      dryRun: options.dryRun === true,
      message: options.message,
      origin: options.origin,
      deferred: known?.calls && { calls: known.calls, shown: known.shown ?? [], decision: known.decision },
      observer: traced({ id, conversation, options }, observer, settings),
      preview: part?.preview,
      taken,
      // A preview is committed in the place where it was shown.
      placement: part === undefined && taken === undefined ? placement : undefined,
      capacityBytes: options.availableCapacityBytes ?? Number.POSITIVE_INFINITY,
    };
  }

  queueOf(conversation: string): ConversationQueue {
    if (conversation === this.own) return this.#ownQueue;
    let queue = this.#queues.get(conversation);
    if (queue === undefined) {
      queue = new ConversationQueue(this.#covers);
      this.#queues.set(conversation, queue);
    }
    return queue;
  }

  /** Undefined inside a call of the conversation: its batches are not in the queue. */
  reserve(conversation: string = this.own): KeptPlace | undefined {
    const queue = this.queueOf(conversation);
    if (currentScope()?.queue === queue) return undefined;
    const place = queue.reserve();
    const giveUp = (): void => {
      queue.giveUp(place);
      this.left(conversation);
    };
    return { place, giveUp };
  }

  /** Called when a batch has left its queue. A queue in which nothing runs is dropped. */
  left(conversation: string): void {
    if (conversation === this.own) return;
    if (this.#queues.get(conversation)?.isEmpty === true) this.#queues.delete(conversation);
  }
}

/** Telemetry also watches a batch whose events have no reader. */
function traced(
  { id, conversation, options }: Pick<BatchScope, 'id' | 'conversation'> & { readonly options: RunOptions },
  observer: Observer | undefined,
  { telemetry, clock }: ExecutorSettings,
): Observer | undefined {
  if (telemetry === undefined) return observer;
  const { trace: parent } = options;
  try {
    const trace = telemetry.batch({ id, conversation, ...(parent === undefined ? {} : { parent }) });
    const watching = observer ?? new Observer(undefined, clock);
    watching.trace = trace;
    return watching;
  } catch {
    // As in `Observer`: the calls continue without a trace.
    return observer;
  }
}

function placementOf({ placement, approver }: ExecutorSettings): Placement | undefined {
  return placement === undefined || approver !== null ? placement : { ...placement, unasked: true };
}

/** A worker has no person to ask, and consent of another process covers only the changes that it named. */
function ofWorker(
  settings: ExecutorSettings,
  {
    worker,
    keepsUnexpected,
  }: Pick<TakenCall, 'keepsUnexpected'> & { readonly worker: ExecutorSettings['worker'] },
): ExecutorSettings {
  if (keepsUnexpected === undefined) return { ...settings, worker };
  return { ...settings, worker, lateApprover: keepsUnexpected ? null : undefined };
}
