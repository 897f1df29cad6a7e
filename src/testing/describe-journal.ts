import { isFilledText, isFunction, requireArgument, requireMethod } from '../base/normalize-options.js';
import type { Awaitable } from '../contract/call.js';
import type { Journal } from '../contract/journal.js';
import { ToolError } from '../errors/tool-error.js';
import { BATCH_CASES, UNFINISHED_CASES } from './journal-batch-cases.js';
import { SHARED_CHANGE_CASES } from './journal-change-cases.js';
import { CLAIMANT_CASES, SHARED_CLAIMANT_CASES } from './journal-claimant-cases.js';
import { DELIVERY_CASES } from './journal-delivery-cases.js';
import { FACT_CASES, FACT_UPKEEP_CASES, HISTORY_CASES, SHARED_FACT_CASES } from './journal-fact-cases.js';
import { LIFE_CASES } from './journal-life-cases.js';
import { LIVE_CASES, SHARED_LIVE_CASES } from './journal-live-cases.js';
import { ORDER_CASES } from './journal-order-cases.js';
import { SESSION_CASES } from './journal-session-cases.js';
import { type JournalUpkeep, SHARED_CASES, UPKEEP_CASES } from './journal-upkeep-cases.js';

/** A new, empty journal and its test operations. */
export interface JournalUnderTest {
  readonly journal: Journal;
  /** Opens another journal over the same records, like a second process. If absent: records are not shared. */
  readonly open?: () => Awaitable<Journal>;
  /** Removes old records and verifies all. If absent: not supported. */
  readonly upkeep?: JournalUpkeep;
  /** Called after the journals are closed. */
  readonly dispose?: () => Awaitable<void>;
}

/** The two test-runner functions that the suite uses. */
export interface SuiteRunner {
  describe(title: string, body: () => void): void;
  it(title: string, body: () => Promise<void>): void;
}

/**
 * The conformance suite of `Journal`: rules for every implementation. A journal with `durable` must support
 * `open`.
 *
 * @param make called once per case.
 * @param runner `describe` and `it`; default: the globals of Vitest, Jest, Mocha or Bun.
 * @throws ToolError `config_invalid` for a wrong argument, and without a runner.
 */
export function describeJournal(
  name: string,
  make: () => Awaitable<JournalUnderTest>,
  runner: SuiteRunner = globalRunner(),
): void {
  requireArgument('describeJournal()', name, isFilledText, 'a name');
  requireArgument('describeJournal()', make, isFunction, 'a function that makes a journal');
  for (const method of ['describe', 'it'])
    requireMethod('describeJournal()', runner, method, 'a test runner');
  runner.describe(`${name} as a journal`, () => {
    for (const { title, run } of CASES) {
      runner.it(title, () => withJournal(make, ({ journal }) => run(journal)));
    }
    for (const { title, run } of [...UPKEEP_CASES, ...FACT_UPKEEP_CASES]) {
      runner.it(title, () =>
        withJournal(make, ({ journal, upkeep }) =>
          upkeep === undefined ? Promise.resolve() : run(journal, upkeep),
        ),
      );
    }
    for (const { title, run } of [
      ...SHARED_CASES,
      ...SHARED_FACT_CASES,
      ...ORDER_CASES,
      ...SHARED_LIVE_CASES,
      ...SHARED_CLAIMANT_CASES,
      ...SHARED_CHANGE_CASES,
    ]) {
      runner.it(title, () =>
        withJournal(make, async ({ journal, open }) => {
          if (open === undefined) {
            if (journal.durable)
              throw new Error('A durable journal needs `open`, so that it can be opened again.');
            return;
          }
          const second = await open();
          try {
            await run(journal, second);
          } finally {
            await second.close();
          }
        }),
      );
    }
  });
}

const CASES: readonly JournalCase[] = [
  ...LIFE_CASES,
  ...UNFINISHED_CASES,
  ...DELIVERY_CASES,
  ...BATCH_CASES,
  ...HISTORY_CASES,
  ...FACT_CASES,
  ...SESSION_CASES,
  ...LIVE_CASES,
  ...CLAIMANT_CASES,
];

/** A rule for every journal. */
export interface JournalCase {
  readonly title: string;
  readonly run: (journal: Journal) => Promise<void>;
}

/** A rule for two journals over the same records. */
export interface SharedJournalCase {
  readonly title: string;
  readonly run: (first: Journal, second: Journal) => Promise<void>;
}

async function withJournal(
  make: () => Awaitable<JournalUnderTest>,
  body: (under: JournalUnderTest) => Promise<void>,
): Promise<void> {
  const under = await make();
  try {
    await body(under);
  } finally {
    await under.journal.close();
    await under.dispose?.();
  }
}

function globalRunner(): SuiteRunner {
  const { describe, it }: Partial<SuiteRunner> = globalThis as Partial<SuiteRunner>;
  if (describe === undefined || it === undefined) {
    throw new ToolError(
      'config_invalid',
      'Cannot describe a journal: there is no global describe and it. Give them as the third argument.',
    );
  }
  return { describe, it };
}
