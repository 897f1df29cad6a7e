import type { Approver, Reviewer } from '../../contract/approval.js';
import type { BatchRun, Executor } from '../../contract/executor.js';
import type { BatchRecord, CallRecord } from '../../contract/journal.js';
import { isToolError } from '../../errors/tool-error.js';
import { builtinTools } from '../../executor/builtin-tools.js';
import { sanitize } from '../../output/sanitize.js';
import { ownProcessId } from '../../platform/process/proc-table.js';
import { ownWords } from '../../terminal/own-words.js';
import { chooseAsker, holding } from '../ask-person.js';
import { createPersonApprover } from '../choose-approver.js';
import { agentsOf, needsAgents, rememberedModel } from '../choose-model.js';
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

interface OpenQuestion {
  readonly id: string;
  readonly shortId: string;
  /** Its outcome so far. */
  said: '' | 'decided' | 'later' | 'elsewhere';
  run: BatchRun | undefined;
  isOver: boolean;
  /** The journal has reported who decided. An answer given here is kept until then. */
  isTold: boolean;
}

interface Desk {
  readonly options: JournalChoice;
  readonly context: CliContext;
  readonly resolved: ResolvedRun;
  readonly view: WatchView;
  /** Called when the person ends the watch. */
  readonly leave: () => void;
}

/**
 * Asks about the batches that wait for approval, one after the other, with the question of `run`. No call
 * runs without a question here, even if the current policy would allow it: the person is present to decide,
 * and has named no batch.
 */
export class WaitingQuestions {
  readonly #desk: Desk;
  readonly #queue: WaitingForPerson[] = [];
  #asked: OpenQuestion | undefined;
  /** Questions that are open, whose calls run, or whose decision the journal has not reported yet. */
  readonly #open = new Map<string, OpenQuestion>();
  #isOver = false;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Approved calls run in this process. */
  get isRunning(): boolean {
    return [...this.#open.values()].some(({ said, isOver }) => said === 'decided' && !isOver);
  }

  add(waiting: WaitingForPerson): void {
    if (this.#asked?.id === waiting.record.id) return;
    this.#queue.push(waiting);
    if (this.#asked === undefined) void this.#askAll();
  }

  /** @param pid the process that approved it; left out: it was discarded */
  decided(id: string, pid?: number): void {
    const place = this.#queue.findIndex(({ record }) => record.id === id);
    if (place !== -1) this.#queue.splice(place, 1);
    const question = this.#open.get(id);
    // If two processes answer at once, one decides, and the other receives its outcome.
    if (question === undefined || question.said === 'later') return;
    question.isTold = true;
    if (question.isOver) this.#open.delete(id);
    if (pid === ownProcessId) return;
    if (question.said === '') question.run?.cancel();
    question.said = 'elsewhere';
    this.#desk.view.note(`batch ${question.shortId} was decided elsewhere in the meantime`);
  }

  /** Stops asking. Resolves when the calls approved here have ended; `cancel` ends them. */
  async end(cancel: boolean): Promise<void> {
    this.#isOver = true;
    this.#queue.length = 0;
    const open = [...this.#open.values()];
    for (const question of open) {
      if (!cancel && question.said === 'decided') continue;
      if (question.said === '') question.said = 'later';
      question.run?.cancel();
    }
    await Promise.all(open.map(({ run }) => run?.results));
  }

  async #askAll(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined && !this.#isOver; next = this.#queue.shift()) {
      await this.#ask(next);
      this.#asked = undefined;
    }
  }

  /** Resolves when the question is over; approved calls may still run. */
  #ask(waiting: WaitingForPerson): Promise<void> {
    const { shortId, record } = waiting;
    const question: OpenQuestion = {
      id: record.id,
      shortId,
      said: '',
      run: undefined,
      isOver: false,
      isTold: false,
    };
    this.#asked = question;
    this.#open.set(record.id, question);
    return new Promise((resolve) => {
      this.#decide(waiting, question, resolve)
        .catch((error: unknown) => {
          const why = error instanceof Error ? error.message : String(error);
          if (!isToolError(error, 'already_decided')) this.#desk.view.note(`batch ${shortId}: ${why}`);
        })
        .finally(() => {
          question.isOver = true;
          if (question.said !== 'decided' || question.isTold) this.#open.delete(record.id);
          resolve();
        });
    });
  }

  async #decide(waiting: WaitingForPerson, question: OpenQuestion, onAnswer: () => void): Promise<void> {
    const { options, context, resolved, view, leave } = this.#desk;
    const { record, calls, shortId } = waiting;
    requireRoots(waiting, absolute(resolved.executor.root));
    const person = createPersonApprover(options, context, async (how) => {
      question.said = 'later';
      if (how === 'interrupt') leave();
      throw new Error('the person decides later.');
    });
    if (person === undefined) throw new Error('the terminal was closed.');
    const approver: Approver = async (requests, given) => {
      const root = absolute(resolved.executor.root).join(' ');
      const { stderr } = context.stdio;
      const head = `batch ${shortId} waits for approval; it would run in ${sanitize(root, 'inline')}`;
      stderr.write(`\n${ownWords(head, stderr.columns)}\n`);
      const decision = await person(requests, given);
      question.said = 'decided';
      onAnswer();
      return decision;
    };
    const asker = chooseAsker(context.stdio, context.env);
    const model = rememberedModel(record.origin);
    await using executor = await openExecutor({
      ...resolved.executor,
      ...(model.model === undefined || !needsAgents(calls)
        ? {}
        : { agents: agentsOf('decide about a sub-agent', {}, model) }),
      reviewers: [askAnyway],
      approver: holding(view, approver),
      ...(asker === undefined ? {} : { asker: holding(view, asker) }),
    });
    const { ticket, requests } =
      (await executor.waiting()).find((batch) => batch.batchId === record.id) ?? {};
    if (ticket !== undefined && requests !== undefined) {
      const { signal } = new AbortController();
      await executor.decide(ticket, await approver(requests, { signal }));
      view.note(`batch ${shortId}: the program that asked continues`);
      return;
    }
    requireTools(calls, executor);
    question.run = await executor.approve(record.id, { parallel: resolved.parallel });
    if (question.said !== '') question.run.cancel();
    await question.run.results;
    if (question.said === 'later' && !this.#isOver)
      view.note(`batch ${shortId} keeps waiting: toolexec approve ${shortId}`);
  }
}

/**
 * @throws Error for a batch that `run` deferred with other directories: here its calls would touch other
 * files.
 */
function requireRoots({ record, shortId }: WaitingForPerson, here: readonly string[]): void {
  const { roots } = readOrigin(record.origin);
  if (roots.length === 0 || roots.join('\0') === here.join('\0')) return;
  const named = roots.map((root) => JSON.stringify(root)).join(' ');
  throw new Error(`it was deferred for other directories: toolexec approve ${shortId} --root ${named}`);
}

/** The call was deferred, even if the current policy would allow it. */
const askAnyway: Reviewer = ({ disposition }) =>
  disposition === 'requires_confirmation'
    ? { kind: 'pass' }
    : { kind: 'ask', reason: 'its batch was deferred for your approval' };

/** @throws Error for tools of the program that deferred the batch: here their calls would be refused. */
function requireTools(calls: readonly CallRecord[], executor: Executor): void {
  const known = new Set([...builtinTools(), ...executor.definitions()].map(({ name }) => name));
  const unknown = calls.find(({ toolName, result }) => result === undefined && !known.has(toolName));
  if (unknown === undefined) return;
  throw new Error(
    `only the program that has the tool ${JSON.stringify(unknown.toolName)} can decide about it`,
  );
}
