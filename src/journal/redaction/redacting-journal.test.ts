import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'vitest';
import { describeJournal } from '../../testing/describe-journal.js';
import { createMemoryJournal } from '../memory/memory-journal.js';
import { openJournal } from '../open-journal.js';
import { createDigest } from './journal-secret.js';
import { createRedactingJournal } from './redacting-journal.js';
import { parseRedaction } from './redaction-rules.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'journal-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

// If nothing is left out, it behaves like the journal below it in every respect.
const NOTHING = ['no_such_tool/*'];

describeJournal(
  'openJournal() with redactArguments',
  () => {
    const path = join(directory, 'journal.db');
    const open = () => openJournal(path, { redactArguments: NOTHING });
    return { journal: open(), open };
  },
  { describe, it },
);

describeJournal(
  'createMemoryJournal() with redactArguments',
  () => {
    const rules = parseRedaction(NOTHING);
    if (rules === undefined) throw new Error('there are rules');
    return { journal: createRedactingJournal(createMemoryJournal(), rules, createDigest(undefined)) };
  },
  { describe, it },
);
