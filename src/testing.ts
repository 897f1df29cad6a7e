export type {
  CrashProblem,
  CrashProblemKind,
  CrashTrial,
  CrashVerdict,
} from './testing/crash-trial.js';
export {
  createScriptedModel,
  type ScriptedModel,
  type ScriptedResponse,
} from './testing/create-scripted-model.js';
export {
  createTape,
  type Tape,
  type TapeExecutorOptions,
  type TapeMiss,
  type TapeOptions,
} from './testing/create-tape.js';
export { describeJournal, type JournalUnderTest, type SuiteRunner } from './testing/describe-journal.js';
export type { JournalUpkeep } from './testing/journal-upkeep-cases.js';
export { runCrashTrial } from './testing/run-crash-trial.js';
export type { TapeEntry, TapeRecord } from './testing/tape-entries.js';
