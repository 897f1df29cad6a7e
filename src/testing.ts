export { describeJournal, type JournalUnderTest, type SuiteRunner } from './testing/describe-journal.js';
