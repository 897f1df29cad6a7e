import { isDeepStrictEqual } from 'node:util';
import type { Effect } from '../../contract/effect.js';
import type { Tool } from '../../contract/tool.js';
import { changesMetadata } from '../../tools/command-changes.js';
import { refuseReady } from '../answer/refuse-ready.js';
import { dryRunResult } from '../answer/results.js';
import { NothingDone } from '../answer/thrown.js';
import { describeUnexpected } from '../approve/describe-unexpected.js';
import type { PreviewedCall, PreviewRole, UnexpectedEntry } from '../call/batch-scope.js';
import type { EvaluatedCall, ReadyCall } from '../call/evaluated-call.js';
import type { NothingMade } from '../call/settings.js';
import { runsProcesses, tellUnmade, type Unmade } from './tell-unmade.js';

/** The value that a tool returned, or threw, in the trial. */
type Given = { readonly value: unknown } | { readonly thrown: unknown };

/** Thrown for an operation that cannot be tried. The call then answers as in a dry run. */
export class NotInPreview extends Error {}

/** Tries the calls of a preview and keeps the values that their tools return or throw. */
export class PreviewTrial implements PreviewRole {
  /** By the index of the call. */
  readonly given = new Map<number, Given>();
  /** By the index of the call: changes of its commands beyond the declared and allowed ones. */
  readonly unexpected = new Map<number, readonly UnexpectedEntry[]>();
  #evaluated: readonly EvaluatedCall[] = [];
  readonly #fileToolEnded: () => Promise<void>;

  readonly #isConfined: (tool: Tool) => boolean;

  /** @param isConfined whether the tool is a program that runs in the OS sandbox */
  constructor(fileToolEnded: () => Promise<void>, isConfined: (tool: Tool) => boolean) {
    this.#fileToolEnded = fileToolEnded;
    this.#isConfined = isConfined;
  }

  /** The calls as they were planned. */
  get evaluated(): readonly EvaluatedCall[] {
    return this.#evaluated;
  }

  runs({ onlyReads, tool, declared }: ReadyCall): boolean {
    if (onlyReads || this.#isConfined(tool)) return true;
    return tool.contained === true && declared.every(isContained);
  }

  sawUnexpected(index: number, entries: readonly UnexpectedEntry[]): void {
    this.unexpected.set(index, [...(this.unexpected.get(index) ?? []), ...entries]);
  }

  planned(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[] {
    return evaluated;
  }

  unexpectedById(): ReadonlyMap<string, readonly string[]> {
    return new Map(
      [...this.unexpected].flatMap(([index, entries]) => {
        const call = this.#evaluated[index];
        return call === undefined ? [] : [[call.call.id, entries.map(({ path }) => path)] as const];
      }),
    );
  }

  /** The calls for the question: a call that changed more than it was allowed now needs approval too. */
  asked(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[] {
    return evaluated.map((call, index) => {
      const entries = this.unexpected.get(index);
      return entries === undefined || call.kind !== 'ready'
        ? call
        : call.asking(true, describeUnexpected(entries));
    });
  }

  approved(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[] {
    this.#evaluated = evaluated;
    return evaluated;
  }

  async run({ index, ready }: PreviewedCall, execute: () => unknown): Promise<unknown> {
    try {
      const value = await execute();
      if (!ready.onlyReads && !runsProcesses(ready)) await this.#fileToolEnded();
      this.given.set(index, { value });
      return value;
    } catch (thrown) {
      if (thrown instanceof NotInPreview) {
        const { output, metadata } = dryRunResult(ready);
        return { text: output, metadata };
      }
      this.given.set(index, { thrown });
      throw thrown;
    }
  }

  answered(): void {}
}

/** Whether the effect concerns only files and commands. */
function isContained({ kind }: Effect): boolean {
  return kind === 'read' || kind === 'write' || kind === 'delete' || kind === 'run';
}

/** Commits the changes of a trial. */
export interface TrialChanges {
  readonly directory: string;
  /** Paths of changes are relative to this root. */
  readonly root: string;
  /** @returns the changes that could not be written; or why nothing was committed. */
  commit(begin: () => Promise<void>): Promise<Unmade | NothingMade>;
}

/**
 * Replays a trial: each call gets the value of its tool from the trial, after the changes of all calls are
 * committed. The calls wait for each other, so that all are claimed before any change: after a crash, no call
 * looks as if it never started. Calls that were not tried run afterwards, in order.
 */
export class PreviewReplay implements PreviewRole {
  readonly #trial: PreviewTrial;
  readonly #changes: TrialChanges;
  readonly #waiting = new Map<number, PreviewedCall>();
  #expected: ReadonlySet<number> = new Set();
  #last: Promise<unknown>;
  #makeReal: () => void = () => {};
  #giveUp: (why: string) => void = () => {};
  readonly #made: Promise<void>;

  constructor(trial: PreviewTrial, changes: TrialChanges) {
    this.#trial = trial;
    this.#changes = changes;
    this.#made = new Promise<void>((resolve, reject) => {
      this.#makeReal = () => void this.#commit().then(resolve, reject);
      this.#giveUp = (why) => reject(nothingMade(why));
    });
    this.#made.catch(() => {});
    this.#last = this.#made;
  }

  #unmade: Unmade = { refused: [], conflicts: [] };

  /** Whether the changes are committed. */
  isMade = false;

  runs(): boolean {
    return true;
  }

  sawUnexpected(): void {}

  planned(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[] {
    return this.#trial.asked(evaluated);
  }

  approved(evaluated: readonly EvaluatedCall[]): readonly EvaluatedCall[] {
    const tried = [...this.#trial.given.keys()].filter((index) => !this.#isKnown(index, evaluated[index]));
    if (tried.length === 0) {
      this.#last = Promise.resolve();
      return evaluated;
    }
    if (!tried.every((index) => this.#isAsTried(index, evaluated[index]))) {
      this.#giveUp(REFUSED);
      const isUnasked = tried.some((index) => isOpen(evaluated[index]));
      return evaluated.map((call) => notMade(call, isUnasked));
    }
    this.#expected = new Set(tried);
    return evaluated.map((call, index) => (this.#wasStopped(index, call) ? notMade(call) : call));
  }

  /**
   * Whether a call only reads and already has an answer. That answer stays, whatever happens to the other
   * calls.
   */
  #isKnown(index: number, call: EvaluatedCall | undefined): boolean {
    const tried = this.#trial.evaluated[index];
    const isReplayed = call?.kind === 'resolved' && call.result.metadata.replayed === true;
    return isReplayed && tried?.kind === 'ready' && tried.onlyReads;
  }

  #isAsTried(index: number, call: EvaluatedCall | undefined): boolean {
    const tried = this.#trial.evaluated[index];
    return (
      call?.kind === 'ready' && tried?.kind === 'ready' && isDeepStrictEqual(call.call.args, tried.call.args)
    );
  }

  /** Whether the trial stopped before the call's turn. */
  #wasStopped(index: number, call: EvaluatedCall): boolean {
    return call.kind === 'ready' && !this.#trial.given.has(index) && this.#trial.runs(call);
  }

  async run(call: PreviewedCall, execute: () => unknown): Promise<unknown> {
    const given = this.#trial.given.get(call.index);
    if (given === undefined) {
      const before = this.#last;
      const running = before.then(execute);
      this.#last = running.catch(() => {});
      return running;
    }
    const stop = (): void => this.#giveUp('it was stopped before');
    call.signal.addEventListener('abort', stop, { once: true });
    this.#waiting.set(call.index, call);
    if (this.#waiting.size === this.#expected.size) this.#makeReal();
    await this.#made;
    call.signal.removeEventListener('abort', stop);
    if ('thrown' in given) throw given.thrown;
    return tellUnmade(given.value, call.ready, this.#unmade, this.#changes.root);
  }

  answered(index: number): void {
    if (this.#expected.has(index) && !this.#waiting.has(index)) this.#giveUp(REFUSED);
  }

  async #commit(): Promise<void> {
    const calls = [...this.#waiting.values()];
    const { directory } = this.#changes;
    const noteAll = async (state: 'begun' | 'committed'): Promise<void> => {
      const data = { transaction: directory, state, network: false };
      await Promise.all(calls.map(({ ready, note }) => (ready.onlyReads ? undefined : note(data))));
    };
    const unmade = await this.#changes.commit(() => noteAll('begun'));
    if ('why' in unmade) throw nothingMade(unmade.why, unmade);
    this.#unmade = unmade;
    this.isMade = true;
    // The changes are committed, even if this note cannot be written.
    await noteAll('committed').catch(() => {});
  }
}

const REFUSED = 'a part of it was refused';

/** A repeated delivery gets the same answer. */
const ANSWERED = 'These calls have their answer now: preview new ones, or these with options.again.';

function nothingMade(why: string, unmade?: NothingMade): NothingDone {
  const message = `Nothing of the preview was committed: ${why}. Preview it again.`;
  const code = unmade?.isConflict === true ? 'conflict' : 'cancelled';
  return new NothingDone(code, message, { hint: ANSWERED }, changesMetadata(unmade?.changes, undefined));
}

/** Whether the question about the call was left open. */
function isOpen(call: EvaluatedCall | undefined): boolean {
  return call?.kind === 'resolved' && call.result.error?.code === 'approval_unavailable';
}

/** @param isUnasked another call got no decision, so this call has none either. */
function notMade(call: EvaluatedCall, isUnasked = false): EvaluatedCall {
  if (call.kind === 'resolved') return call;
  if (!isUnasked) return refuseReady(call, 'cancelled', nothingMade(REFUSED).message, ANSWERED);
  const why = 'the person could not be asked about all of it';
  return refuseReady(call, 'approval_unavailable', nothingMade(why).message);
}
