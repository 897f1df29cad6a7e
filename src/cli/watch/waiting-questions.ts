import type { Approver, Reviewer } from '../../contract/approval.js';
import type { BatchRun, Executor } from '../../contract/executor.js';
import type { BatchRecord, CallRecord } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { builtinTools } from '../../executor/builtin-tools.js';
import { chooseAsker, holding } from '../ask-person.js';
import { createPersonApprover } from '../choose-approver.js';
import type { CliContext } from '../cli-context.js';
import { openExecutor } from '../open-executor.js';
import type { JournalChoice } from '../recorded-journal.js';
import type { ResolvedRun } from '../resolve-settings.js';
import { absolute, readOrigin } from '../waiting-batch.js';
import type { WatchView } from './watch-view.js';

interface WaitingForPerson {
  readonly record: BatchRecord;
  readonly calls: readonly CallRecord[];
  readonly shortId: string;
}

interface Desk {
  readonly options: JournalChoice;
  readonly context: CliContext;
  readonly resolved: ResolvedRun;
  readonly view: WatchView;
  /** The person wants to end the watch. */
  readonly leave: () => void;
}

/**
 * Asks about the batches that wait for approval, one after the other, with the question of `run`. Nothing runs unasked here, not
 * even what the policy of now would allow: the person is at the screen to decide, and has named no batch.
 */
export class WaitingQuestions {
  readonly #desk: Desk;
  readonly #queue: WaitingForPerson[] = [];
  /** The batch that is asked about. */
  #asked: { readonly id: string; elsewhere(): void } | undefined;
  readonly #running = new Set<{
    readonly id: string;
    readonly run: BatchRun;
    readonly over: Promise<void>;
  }>();
  #isOver = false;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Batches of which approved calls run in this process. */
  get running(): number {
    return this.#running.size;
  }

  add(waiting: WaitingForPerson): void {
    if (this.#asked?.id === waiting.record.id) return;
    this.#queue.push(waiting);
    if (this.#asked === undefined) void this.#askAll();
  }

  /** Another process has decided about a batch, or this one has. */
  decided(id: string): void {
    const place = this.#queue.findIndex(({ record }) => record.id === id);
    if (place !== -1) this.#queue.splice(place, 1);
    if (this.#asked?.id === id) this.#asked.elsewhere();
  }

  /** Asks no more. Resolves when what was approved here has ended; `cancel` ends it. */
  async end(cancel: boolean): Promise<void> {
    this.#isOver = true;
    this.#queue.length = 0;
    this.#asked?.elsewhere();
    if (cancel) for (const { run } of this.#running) run.cancel();
    await Promise.all([...this.#running].map(({ over }) => over));
  }

  async #askAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined && !this.#isOver; next = this.#queue.shift()) {
      try {
        await this.#ask(next);
      } catch (error) {
        this.#desk.view.note(
          `batch ${next.shortId}: ${error instanceof Error ? error.message : String(error)}`,
        );
      } finally {
        this.#asked = undefined;
      }
    }
  }

  /** Resolves when the question is over; what was approved may run on. */
  #ask(waiting: WaitingForPerson): Promise<void> {
    const problem = this.#problem(waiting);
    if (problem !== undefined) throw new Error(problem);
    return new Promise((resolve, reject) => {
      const { id } = waiting.record;
      this.#asked = { id, elsewhere: () => {} };
      this.#decide(waiting, resolve).then(resolve, reject);
    });
  }

  async #decide({ record, calls, shortId }: WaitingForPerson, onAnswer: () => void): Promise<void> {
    const { options, context, resolved, view, leave } = this.#desk;
    let said = '';
    let run: BatchRun | undefined;
    this.#asked = {
      id: record.id,
      elsewhere: () => {
        if (said !== '') return;
        said = 'elsewhere';
        run?.cancel();
      },
    };
    const person = createPersonApprover(options, context, async (how) => {
      said = 'later';
      if (how === 'interrupt') leave();
      throw new Error('the person decides later.');
    });
    if (person === undefined) throw new Error('the terminal has gone away.');
    const approver: Approver = async (requests, given) => {
      const root = absolute(resolved.executor.root).join(' ');
      context.stdio.stderr.write(`\nbatch ${shortId} waits for approval; it would run in ${root}\n`);
      const decision = await person(requests, given);
      said = 'decided';
      return decision;
    };
    const asker = chooseAsker(context.stdio, context.env);
    await using executor = await openExecutor({
      ...resolved.executor,
      reviewers: [askAnyway],
      approver: holding(view, async (requests, given) => {
        const decision = await approver(requests, given);
        onAnswer();
        return decision;
      }),
      ...(asker === undefined ? {} : { asker: holding(view, asker) }),
    });
    requireTools(calls, executor);
    try {
      run = await executor.approve(record.id, { parallel: resolved.parallel });
      if (said === 'elsewhere') run.cancel();
      await this.#follow(record.id, run);
    } catch (error) {
      if (!isToolError(error, 'already_decided')) throw error;
      said = 'elsewhere';
    }
    if (said === 'elsewhere' && !this.#isOver) view.note(`batch ${shortId} was decided elsewhere meanwhile`);
    if (said === 'later') view.note(`batch ${shortId} goes on waiting: toolexec approve ${shortId}`);
  }

  async #follow(id: string, run: BatchRun): Promise<void> {
    const over = run.results.then(() => {});
    const entry = { id, run, over };
    this.#running.add(entry);
    await over;
    this.#running.delete(entry);
  }

  /** Why it cannot be decided here. */
  #problem({ record, shortId }: WaitingForPerson): string | undefined {
    const { roots } = readOrigin(record.origin);
    const here = absolute(this.#desk.resolved.executor.root);
    if (roots.length > 0 && roots.join('\0') !== here.join('\0')) {
      const named = roots.map((root) => JSON.stringify(root)).join(' ');
      return `it was deferred for other directories: toolexec approve ${shortId} --root ${named}`;
    }
    return undefined;
  }
}

/** What the policy of now would allow was deferred all the same. */
const askAnyway: Reviewer = ({ disposition }) =>
  disposition === 'requires_confirmation'
    ? { kind: 'pass' }
    : { kind: 'ask', reason: 'its batch was deferred for your approval' };

/** @throws Error for tools that only the program has which deferred the batch: here their calls would be refused. */
function requireTools(calls: readonly CallRecord[], executor: Executor): void {
  const known = new Set([...builtinTools(), ...executor.definitions()].map(({ name }) => name));
  const unknown = calls.find(({ toolName, result }) => result === undefined && !known.has(toolName));
  if (unknown === undefined) return;
  throw new Error(
    `only the program that has the tool ${JSON.stringify(unknown.toolName)} can decide about it`,
  );
}
