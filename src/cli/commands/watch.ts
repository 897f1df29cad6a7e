import { resolve } from 'node:path';
import { glanceAtArchive, type JournalArchive } from '../../journal/open-archive.js';
import { systemClock } from '../../platform/clock/clock.js';
import { watchFiles } from '../../platform/fs/watch-file.js';
import type { CliContext, DefineCommand, ExitCode } from '../cli-context.js';
import { UsageError } from '../cli-context.js';
import { isAutomated } from '../display/display.js';
import { createPalette, shortIds } from '../display/terminal-text.js';
import { isDatabase } from '../journal-databases.js';
import { openArchiveAt } from '../journal-store.js';
import { addJournalOptions, conversationName } from '../options.js';
import { isRecorded, type JournalChoice } from '../recorded-journal.js';
import { journalPlace, type ResolvedRun, resolveRun } from '../resolve-settings.js';
import { JournalChanges } from '../watch/journal-changes.js';
import { WaitingQuestions } from '../watch/waiting-questions.js';
import { createJsonView, WatchLines, type WatchView } from '../watch/watch-view.js';

/** The options of `watch`, in commander's form. */
interface WatchOptions extends JournalChoice {
  readonly conversation?: string;
  readonly ask: boolean;
  readonly json?: boolean;
}

export const define: DefineCommand = (command, context, finish) => {
  command.description(
    'Shows the batches of a journal as they happen, from any process. At a terminal it asks about those that ' +
      'wait for approval, like run, and runs the calls that you approve. Ctrl-C leaves.',
  );
  addJournalOptions(command)
    .option('--conversation <id>', 'only this conversation', conversationName)
    .option('--no-ask', 'only show')
    .option('--json', 'one change per line, for programs; asks no questions')
    .addHelpText(
      'before',
      'Examples:\n  toolexec watch\n  toolexec watch --journal calls.db --conversation thread-7\n  toolexec watch --json\n',
    )
    .addHelpText(
      'after',
      '\nExit code: 0; 2 wrong usage, input or configuration; 130 approved calls were cancelled.\n',
    )
    .action(async (options: WatchOptions) => {
      finish(await watchJournal(options, context));
    });
};

/** `toolexec watch`: the events in a journal, and the decisions it waits for. */
export async function watchJournal(options: WatchOptions, context: CliContext): Promise<ExitCode> {
  const { stdio, env } = context;
  const { resolved, problem } = resolveWatched(options, context);
  const { path } = resolved.executor.journal;
  const view: WatchView =
    options.json === true
      ? createJsonView(stdio.stdout, stdio.stderr)
      : new WatchLines(stdio.stdout, createPalette(stdio.stdout.isTerminal, env));
  for (const note of resolved.notes) view.note(note);
  view.note(
    isRecorded(path) ? `watching ${path}; Ctrl-C leaves` : `there is no journal yet: waiting for ${path}`,
  );

  let leave = (): void => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const isThere = stdio.stderr.isTerminal && !isAutomated(env);
  const isAsking = options.ask && options.json !== true && isThere;
  if (isAsking && problem !== undefined) view.note(`asks nothing: ${problem}`);
  const questions =
    isAsking && problem === undefined
      ? new WaitingQuestions({ options, context, resolved, view, leave })
      : undefined;
  const follower = new Follower(path, options.conversation, view, questions);
  const changes = isDatabase(path)
    ? await lookAgainAndAgain(follower, options)
    : watchFiles([path, `${path}-wal`], () => follower.look());
  const stopListening = stdio.onEndSignal(leave);
  await Promise.race([left, stdio.stdout.readerGone]);
  stopListening();
  const isCut = await end(questions, view, stdio);
  changes.close();
  // Shows the effect of a decision.
  if (questions !== undefined) await follower.lookOnce(options);
  return isCut ? 130 : 0;
}

/** How many of the newest batches one poll of a database reads. */
const MOST_BATCHES = 100;
/** The pause between two polls of a database, in milliseconds. */
const PAUSE_MS = 500;

/** @throws UsageError if the first poll fails */
async function lookAgainAndAgain(
  follower: Follower,
  scope: Pick<WatchOptions, 'conversation'>,
): Promise<{ close(): void }> {
  await follower.lookOnce(scope);
  let forget = (): void => {};
  let isOver = false;
  const next = (): void => {
    forget = systemClock.after(PAUSE_MS, () => {
      void follower.lookOnce(scope).finally(() => {
        if (!isOver) next();
      });
    });
  };
  next();
  return {
    close() {
      isOver = true;
      forget();
    },
  };
}

/** A journal inside a root can be watched, but no call can run with it. */
function resolveWatched(
  { journal: named, ...options }: WatchOptions,
  context: CliContext,
): { readonly resolved: ResolvedRun; readonly problem?: string } {
  const run = resolveRun(options, context);
  if (named === undefined) return { resolved: run };
  if (named === '') throw new UsageError('Cannot watch the journal "": name a file.');
  const { executor } = run;
  const journal = { ...executor.journal, path: resolve(named) };
  const resolved = { ...run, executor: { ...executor, journal } };
  try {
    journalPlace(named, executor.root);
    return { resolved };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { resolved, problem: error.message };
  }
}

/** Waits for running calls. True if the person does not want to wait. */
async function end(
  questions: WaitingQuestions | undefined,
  view: WatchView,
  stdio: CliContext['stdio'],
): Promise<boolean> {
  if (questions === undefined) return false;
  let isCut = false;
  if (questions.isRunning) view.note('calls that you approved still run; press Ctrl-C again to cancel them');
  const stop = stdio.onEndSignal(() => {
    isCut = true;
    void questions.end(true);
  });
  await questions.end(false);
  stop();
  return isCut;
}

class Follower {
  readonly #path: string;
  readonly #conversation: string | undefined;
  readonly #view: WatchView;
  readonly #questions: WaitingQuestions | undefined;
  #changes: JournalChanges;
  #problem: string | undefined;
  #hasLooked = false;

  constructor(
    path: string,
    conversation: string | undefined,
    view: WatchView,
    questions: WaitingQuestions | undefined,
  ) {
    this.#path = path;
    this.#conversation = conversation;
    this.#view = view;
    this.#questions = questions;
    this.#changes = new JournalChanges(conversation);
  }

  /** Shows new events. @throws UsageError if the first poll finds that the file is not a journal */
  look(): void {
    if (!isRecorded(this.#path)) {
      // A new file in its place is another journal, and all of its content is new.
      this.#changes = new JournalChanges(this.#conversation, true);
      this.#hasLooked = true;
      return;
    }
    try {
      this.#show(glanceAtArchive(this.#path));
    } catch (error) {
      this.#failed(error);
    }
    this.#hasLooked = true;
  }

  /** The same for a journal in a file or a database. */
  async lookOnce({ conversation }: Pick<WatchOptions, 'conversation'>): Promise<void> {
    if (!isDatabase(this.#path)) return this.look();
    const scope = { limit: MOST_BATCHES, ...(conversation === undefined ? {} : { conversation }) };
    try {
      this.#show(await openArchiveAt(this.#path, scope));
    } catch (error) {
      this.#failed(error);
    }
    this.#hasLooked = true;
  }

  #failed(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (!this.#hasLooked) throw new UsageError(problem, { cause: error });
    // Another process may have exclusive access for a moment: the next poll tries again.
    if (this.#problem !== problem) this.#view.note(problem);
    this.#problem = problem;
  }

  #show(archive: JournalArchive): void {
    try {
      this.#showChanges(archive);
      this.#problem = undefined;
    } finally {
      archive.close();
    }
  }

  #showChanges(archive: JournalArchive): void {
    const short = shortIds((prefix) => archive.batches({ prefix }).map(({ id }) => id));
    for (const change of this.#changes.read(archive)) {
      const shortId = short(change.batch);
      this.#view.show(change, shortId);
      if (change.type === 'decided') this.#questions?.decided(change.batch, change.pid);
      if (change.type !== 'waiting' || change.why !== 'approval') continue;
      this.#questions?.add({ record: change.record, calls: archive.calls(change.batch), shortId });
    }
  }
}
