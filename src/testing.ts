export type {
  CrashProblem,
  CrashProblemKind,
  CrashTrial,
  CrashVerdict,
} from './crash-kit/crash-trial.js';
export { runCrashTrial } from './crash-kit/run-crash-trial.js';
export { describeJournal, type JournalUnderTest, type SuiteRunner } from './testing/describe-journal.js';
