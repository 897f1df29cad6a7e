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

/** What a tool gave when it was tried. */
type Given = { readonly value: unknown } | { readonly thrown: unknown };

/** What cannot be tried. The call answers as in a dry run. */
export class NotInPreview extends Error {}

/** Tries calls, and keeps what their tools give. */
export class PreviewTrial implements PreviewRole {
  /** By the place of the call. */
  readonly given = new Map<number, Given>();
  /** By the place of the call: what its commands have changed beyond what it declared and was allowed. */
  readonly unexpected = new Map<number, readonly UnexpectedEntry[]>();
  #evaluated: readonly EvaluatedCall[] = [];
  readonly #fileToolEnded: () => Promise<void>;

  readonly #isConfined: (tool: Tool) => boolean;

  /** @param isConfined the tool is a program that runs in the OS sandbox */
  constructor(fileToolEnded: () => Promise<void>, isConfined: (tool: Tool) => boolean) {
    this.#fileToolEnded = fileToolEnded;
    this.#isConfined = isConfined;
  }

  /** As they were planned. */
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

  /** The calls as they are asked about: also those that have changed more than they were allowed. */
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

/** All of it stays in files and commands. */
function isContained({ kind }: Effect): boolean {
  return kind === 'read' || kind === 'write' || kind === 'delete' || kind === 'run';
}

/** How the changes of a trial become real. */
export interface TrialChanges {
  readonly directory: string;
  /** That the paths of changes are relative to. */
  readonly root: string;
  /** @returns of what was committed what could not be written; or why nothing was committed. */
  commit(begin: () => Promise<void>): Promise<Unmade | NothingMade>;
}

/**
 * Takes a trial over: each call gets what its tool gave then, once the changes of all are real. They wait for each
 * other, so that all of them are claimed before anything changes: after a crash none is taken for never started.
 * What was not tried is run afterwards, in order.
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

  /** Whether the changes are real. */
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

  /** It only reads, and was answered before: that answer stands, whatever becomes of the others. */
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

  /** It did not come to its turn in the trial. */
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
    // It is made: that this is not on record changes nothing about it.
    await noteAll('committed').catch(() => {});
  }
}

const REFUSED = 'a part of it was refused';

/** The same delivery gets the same answer. */
const ANSWERED = 'These calls have their answer now: preview new ones, or these with options.again.';

function nothingMade(why: string, unmade?: NothingMade): NothingDone {
  const message = `Nothing of the preview was committed: ${why}. Preview it again.`;
  const code = unmade?.isConflict === true ? 'conflict' : 'cancelled';
  return new NothingDone(code, message, { hint: ANSWERED }, changesMetadata(unmade?.changes, undefined));
}

/** There was no decision about it. */
function isOpen(call: EvaluatedCall | undefined): boolean {
  return call?.kind === 'resolved' && call.result.error?.code === 'approval_unavailable';
}

/** @param isUnasked another call got no decision: then this one has none either. */
function notMade(call: EvaluatedCall, isUnasked = false): EvaluatedCall {
  if (call.kind === 'resolved') return call;
  if (!isUnasked) return refuseReady(call, 'cancelled', nothingMade(REFUSED).message, ANSWERED);
  const why = 'the person could not be asked about all of it';
  return refuseReady(call, 'approval_unavailable', nothingMade(why).message);
}
